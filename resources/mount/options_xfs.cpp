// SPDX-License-Identifier: GPL-3.0-or-later
// xfs. Sources: kernel fs/xfs/xfs_super.c (xfs_fs_parameters, xfs_fs_parse_param, xfs_fs_validate_params,
// xfs_fs_reconfigure, xfs_fs_show_options), 6.12; Documentation/admin-guide/xfs.rst for what was removed. Checked
// on 6.18 by tests/resources/mount_options_kernel_test.cpp.
//
// A remount acts on ro, rw, inode32 and inode64 alone. Everything else that parses is accepted and ignored, and a
// remount that does not repeat inode32 makes the mount inode64.
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr OptionSpec size(std::string_view word, std::int64_t min, std::int64_t max) {
    OptionSpec spec = number(word, min, max);
    spec.form = ValueForm::size;
    return spec;
}

constexpr OptionSpec allocsize() {
    OptionSpec spec = size("allocsize", 4096, 1 << 30);
    spec.power = Power::lowest_bit;  // xfs_fs_parse_param: ffs(size) - 1
    return spec;
}

constexpr OptionSpec logbsize() {
    OptionSpec spec = size("logbsize", 16384, 262144);
    spec.zero = "32768";
    spec.choices = "16384|32768|65536|131072|262144";
    return spec;
}

constexpr KernelVersion gone_with_barriers{4, 19};  // Documentation/admin-guide/xfs.rst, "Removed Mount Options"
constexpr KernelVersion gone_in_4_0{4, 0};

constexpr OptionSpec options[] = {
    on("discard"),
    off("nodiscard", "discard"),
    with_zero(number("logbufs", 2, 8), "8"),
    logbsize(),
    allocsize(),
    flag("inode64", "inode-size", "64"),
    flag("inode32", "inode-size", "32"),
    on("largeio"),
    off("nolargeio", "largeio"),
    on("wsync"),
    on("swalloc"),
    conflicting(on("noalign"), "sunit swidth"),
    number("sunit", 0, 2147483647),
    number("swidth", 0, 2147483647),
    on("filestreams"),
    on("grpid"),
    flag("bsdgroups", "grpid", "on"),
    off("nogrpid", "grpid"),
    off("sysvgroups", "grpid"),
    on("nouuid"),
    noting(on("norecovery"), "for read-only mounts only"),
    // Warned about since 5.10, for V4 filesystems only, and without effect on 6.18: no policy should want them.
    ignored("ikeep"),
    ignored("noikeep"),
    ignored("attr2"),
    ignored("noattr2"),
    flag("usrquota", "usrquota", "on"),
    flag("uquota", "usrquota", "on"),
    flag("quota", "usrquota", "on"),
    flag("uqnoenforce", "usrquota", "noenforce"),
    flag("qnoenforce", "usrquota", "noenforce"),
    flag("grpquota", "grpquota", "on"),
    flag("gquota", "grpquota", "on"),
    flag("gqnoenforce", "grpquota", "noenforce"),
    flag("prjquota", "prjquota", "on"),
    flag("pquota", "prjquota", "on"),
    flag("pqnoenforce", "prjquota", "noenforce"),
    implying(flag("noquota", "usrquota", "off"), "grpquota=off prjquota=off"),
    flag("dax", "dax", "always"),
    choice("dax", "always|inode|never"),
    since(on("lifetime"), {6, 15}),
    noting(since(off("nolifetime", "lifetime"), {6, 15}), "refused where the filesystem is not zoned"),
    selector("logdev"),
    selector("rtdev"),
    removed(on("barrier"), gone_with_barriers),
    removed(off("nobarrier", "barrier"), gone_with_barriers),
    removed(on("delaylog"), gone_in_4_0),
    removed(off("nodelaylog", "delaylog"), gone_in_4_0),
    removed(on("ihashsize"), gone_in_4_0),
    removed(on("irixsgid"), gone_in_4_0),
    removed(on("osyncisdsync"), gone_in_4_0),
    removed(on("osyncisosync"), gone_in_4_0),
};

constexpr PropertySpec always(
    std::string_view name, std::string_view value, DefaultFrom from, AtRemount remount, std::string_view unit = {}) {
    return by(fixed(name, value, remount, unit), from, Shown::always);
}

constexpr PropertySpec properties[] = {
    noting(plain("discard", AtRemount::ignored), "dropped silently where the device has no discard"),
    always("logbufs", "8", DefaultFrom::constant, AtRemount::ignored),
    noting(always("logbsize", "32768", DefaultFrom::superblock, AtRemount::ignored, "bytes"),
           "32 KiB, or the log's stripe unit where that is larger"),
    fixed("allocsize", "auto", AtRemount::ignored, "bytes"),
    noting(always("inode-size", "64", DefaultFrom::constant, AtRemount::yes), "inode64 since 3.7"),
    plain("largeio", AtRemount::ignored),
    noting(plain("wsync", AtRemount::ignored), "a mount with sync has it on"),
    plain("swalloc", AtRemount::ignored),
    plain("noalign", AtRemount::ignored),
    hiding(by(fixed("sunit", "", AtRemount::ignored), DefaultFrom::superblock, Shown::when_on), "0"),
    hiding(by(fixed("swidth", "", AtRemount::ignored), DefaultFrom::superblock, Shown::when_on), "0"),
    plain("filestreams", AtRemount::ignored),
    plain("grpid", AtRemount::ignored),
    plain("nouuid", AtRemount::ignored),
    plain("norecovery", AtRemount::refused),
    plain("usrquota", AtRemount::refused),
    plain("grpquota", AtRemount::refused),
    plain("prjquota", AtRemount::refused),
    noting(fixed("dax", "inode", AtRemount::ignored), "becomes never where the device cannot"),
    fixed("lifetime", "on", AtRemount::ignored),
};

}  // namespace

FilesystemTable xfs() {
    return {options, properties};
}

}  // namespace storpol::option_table
