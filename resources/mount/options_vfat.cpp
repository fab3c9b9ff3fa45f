// SPDX-License-Identifier: GPL-3.0-or-later
// vfat, and msdos for the words they share. Source: kernel fs/fat/inode.c (fat_param_spec, vfat_param_spec,
// fat_parse_param, fat_reconfigure, fat_show_options), 6.12; seen word by word on 6.1 and 6.12
// (tests/lab/vm/scenarios/filesystems.py).
//
// fat_reconfigure() looks at ro and rw alone; every other option of a remount is ignored. There is no word that turns
// discard, quiet, flush or the like off: leaving the word out and mounting anew is the way.
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr std::int64_t int_max = 2147483647;

constexpr OptionSpec mask(std::string_view word) {
    OptionSpec spec = number(word, 0, 07777);
    spec.form = ValueForm::octal;
    return spec;
}

constexpr OptionSpec yes_or_no(std::string_view word) {
    OptionSpec spec = choice(word, "0=off|1=on|no=off|yes=on|false=off|true=on");
    spec.bare = "on";
    return spec;
}

// umask= is fmask= and dmask= at once.
constexpr OptionSpec both_masks() {
    OptionSpec spec = mask("umask");
    spec.property = "fmask";
    spec.implies = "dmask=*";
    return spec;
}

constexpr OptionSpec nfs() {
    OptionSpec spec = choice("nfs", "stale_rw|nostale_ro");
    spec.bare = "stale_rw";
    return spec;
}

constexpr OptionSpec options[] = {
    on("discard"),
    number("uid", 0, int_max),
    number("gid", 0, int_max),
    both_masks(),
    mask("fmask"),
    mask("dmask"),
    mask("allow_utime"),
    number("codepage", 0, int_max),
    text("iocharset"),
    choice("shortname", "lower|win95|winnt|mixed"),
    yes_or_no("utf8"),
    yes_or_no("uni_xlate"),
    yes_or_no("nonumtail"),
    on("rodir"),
    choice("check", "relaxed=r|r|strict=s|s|normal=n|n"),
    on("usefree"),
    on("quiet"),
    on("showexec"),
    on("sys_immutable"),
    on("flush"),
    of_property(choice("tz", "UTC=0"), "time_offset"),  // mountinfo shows time_offset=0 as tz=UTC
    number("time_offset", -1440, 1440),
    choice("errors", "panic|continue|remount-ro"),
    nfs(),
    on("dos1xfloppy"),
    flag("nocase", "shortname", "win95"),
    ignored("debug"),
    ignored("conv"),
    ignored("fat"),
    ignored("blocksize"),
    ignored("cvf_format"),
    ignored("cvf_options"),
    ignored("posix"),
};

constexpr PropertySpec always(std::string_view name, std::string_view value, DefaultFrom from) {
    return by(fixed(name, value, AtRemount::ignored), from, Shown::always);
}

constexpr PropertySpec properties[] = {
    noting(plain("discard", AtRemount::ignored), "no word turns it off"),
    fixed("uid", "0", AtRemount::ignored),
    fixed("gid", "0", AtRemount::ignored),
    noting(always("fmask", "", DefaultFrom::kernel), "the umask of whoever mounts"),
    always("dmask", "", DefaultFrom::kernel),
    noting(by(fixed("allow_utime", "", AtRemount::ignored), DefaultFrom::kernel, Shown::when_changed), "from dmask"),
    always("codepage", "", DefaultFrom::kernel),
    always("iocharset", "", DefaultFrom::kernel),
    always("shortname", "mixed", DefaultFrom::constant),
    hiding(by(fixed("utf8", "", AtRemount::ignored), DefaultFrom::kernel, Shown::when_on), "off"),
    noting(plain("uni_xlate", AtRemount::ignored), "turns utf8 off, wherever it stands"),
    plain("nonumtail", AtRemount::ignored),
    plain("rodir", AtRemount::ignored),
    fixed("check", "n", AtRemount::ignored),
    plain("usefree", AtRemount::ignored),
    plain("quiet", AtRemount::ignored),
    plain("showexec", AtRemount::ignored),
    plain("sys_immutable", AtRemount::ignored),
    plain("flush", AtRemount::ignored),
    fixed("time_offset", "none", AtRemount::ignored),
    always("errors", "remount-ro", DefaultFrom::constant),
    noting(by(fixed("nfs", "off", AtRemount::ignored), DefaultFrom::constant, Shown::when_on),
           "nostale_ro makes the filesystem read-only"),
    plain("dos1xfloppy", AtRemount::ignored),
};

}  // namespace

FilesystemTable vfat() {
    return {options, properties};
}

}  // namespace storpol::option_table
