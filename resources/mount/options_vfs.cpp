// SPDX-License-Identifier: GPL-3.0-or-later
// Options that every filesystem knows: flags of one mount, generic flags of the superblock, and words that userspace
// keeps to itself. Sources: util-linux libmount/src/optmap.c; kernel fs/namespace.c (path_mount), fs/fs_context.c
// (common_set_sb_flag), fs/proc_namespace.c; systemd.mount(5).
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr OptionSpec options[] = {
    // libmount turns these words into flag bits, whatever their order: noatime beats relatime, strictatime beats both.
    flag("noatime", "atime", "noatime"),
    flag("relatime", "atime", "relatime"),
    flag("strictatime", "atime", "strictatime"),
    noting(flag("atime", "atime", "relatime"), "only takes noatime back; the kernel default, relatime, then holds"),
    noting(flag("norelatime", "atime", "relatime"), "takes relatime back, which is the kernel default all the same"),
    noting(flag("nostrictatime", "atime", "relatime"), "only takes strictatime back"),
    on("nodiratime"),
    off("diratime", "nodiratime"),
    on("nosuid"),
    off("suid", "nosuid"),
    on("nodev"),
    off("dev", "nodev"),
    on("noexec"),
    off("exec", "noexec"),
    since(on("nosymfollow"), {5, 10}),
    off("symfollow", "nosymfollow"),
    on("ro"),
    off("rw", "ro"),
    on("sync"),
    off("async", "sync"),
    on("dirsync"),
    on("lazytime"),
    off("nolazytime", "lazytime"),
    noting(ignored("mand"), "mandatory locking: nothing since 5.15"),
    ignored("nomand"),
    ignored("silent"),
    ignored("loud"),
    ignored("iversion"),
    ignored("noiversion"),
    ignored("defaults"),
    // mount(8) makes these imply flags, which a later exec, suid or dev takes back.
    implying(userspace("user"), "noexec=on nosuid=on nodev=on"),
    implying(userspace("users"), "noexec=on nosuid=on nodev=on"),
    implying(userspace("owner"), "nosuid=on nodev=on"),
    implying(userspace("group"), "nosuid=on nodev=on"),
    userspace("nouser"),
    userspace("nousers"),
    userspace("noowner"),
    userspace("nogroup"),
    userspace("auto"),
    userspace("noauto"),
    userspace("nofail"),
    userspace("fail"),
    userspace("_netdev"),
    userspace("no_netdev"),
    userspace("comment"),
    userspace("x-*"),
    userspace("X-*"),
    userspace("helper"),
    userspace("uhelper"),
    userspace("pri"),
    selector("bind"),
    selector("rbind"),
    selector("move"),
    selector("remount"),
    selector("loop"),
    selector("offset"),
    selector("sizelimit"),
    selector("encryption"),
    selector("verity.*"),
    selector("private"),
    selector("rprivate"),
    selector("shared"),
    selector("rshared"),
    selector("slave"),
    selector("rslave"),
    selector("unbindable"),
    selector("runbindable"),
    selector("context"),
    selector("fscontext"),
    selector("defcontext"),
    selector("rootcontext"),
    selector("seclabel"),
    selector("smackfsdef"),
    selector("smackfsroot"),
    selector("idmapped"),
};

constexpr PropertySpec per_mount(std::string_view name) {
    PropertySpec spec = plain(name, AtRemount::yes);
    spec.scope = Scope::per_mount;
    return spec;
}

constexpr PropertySpec atime() {
    PropertySpec spec = per_mount("atime");
    spec.default_value = "relatime";
    spec.hidden = "strictatime";  // mountinfo has a word for each mode but this one
    return spec;
}

constexpr PropertySpec properties[] = {
    atime(),
    per_mount("nodiratime"),
    per_mount("nosuid"),
    per_mount("nodev"),
    per_mount("noexec"),
    per_mount("nosymfollow"),
    noting(plain("ro", AtRemount::yes), "of the mount and of its superblock; either makes it read-only"),
    plain("sync", AtRemount::yes),
    noting(plain("dirsync", AtRemount::refused), "fsconfig(2) refuses it; a remount through mount(2) loses it"),
    plain("lazytime", AtRemount::yes),
};

}  // namespace

FilesystemTable vfs() {
    return {options, properties};
}

}  // namespace storpol::option_table
