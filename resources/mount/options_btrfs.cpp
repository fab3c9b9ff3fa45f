// SPDX-License-Identifier: GPL-3.0-or-later
// btrfs. Sources: kernel fs/btrfs/super.c (btrfs_fs_parameters, btrfs_parse_param, set_device_specific_options,
// btrfs_check_options, btrfs_reconfigure, btrfs_show_options), 6.12; checked on 6.18 by
// tests/resources/mount_options_kernel_test.cpp.
//
// Words act in the order they stand in: the last of nodatacow and compress wins. Options are of the filesystem, not of
// a subvolume, and keep their values over a remount that does not name them, noacl excepted. `nodiscard` is remembered
// and never shown.
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr std::int64_t u32_max = 4294967295;

// Values are "off", or TYPE[:LEVEL], with "force-" before it for compress-force: one setting, as a plain compress= ends
// forcing. Compression needs copy on write and checksums, so switching it on brings both back.
constexpr OptionSpec compress(std::string_view word, std::string_view bare) {
    OptionSpec spec;
    spec.word = word;
    spec.property = "compress";
    spec.form = ValueForm::special;
    spec.bare = bare;
    spec.implies = "datacow=on datasum=on";
    return spec;
}

constexpr OptionSpec discard_mode() {
    return choice("discard", "async|sync");
}

constexpr OptionSpec max_inline() {
    OptionSpec spec = number("max_inline", 0, 4096);
    spec.form = ValueForm::size;
    spec.clamps = true;  // to the sector size, which is 4 KiB unless mkfs was told otherwise
    return spec;
}

constexpr OptionSpec space_cache(std::string_view bare) {
    OptionSpec spec = choice("space_cache", "v1|v2");
    spec.bare = bare;
    return spec;
}

constexpr OptionSpec options[] = {
    flag("discard", "discard", "sync"),
    since(discard_mode(), {5, 6}),
    off("nodiscard", "discard"),
    compress("compress", "zlib:3"),
    compress("compress-force", "force-zlib:3"),
    with_zero(number("commit", 0, u32_max), "30"),
    on("autodefrag"),
    off("noautodefrag", "autodefrag"),
    on("datacow"),
    implying(off("nodatacow", "datacow"), "datasum=off compress=off"),
    implying(on("datasum"), "datacow=on"),
    off("nodatasum", "datasum"),
    on("ssd"),
    implying(off("nossd", "ssd"), "ssd_spread=off"),
    implying(on("ssd_spread"), "ssd=on"),
    off("nossd_spread", "ssd_spread"),
    space_cache("v1"),
    off("nospace_cache", "space_cache"),
    noting(ignored("clear_cache"), "acts once, at mount"),
    on("barrier"),
    off("nobarrier", "barrier"),
    on("treelog"),
    off("notreelog", "treelog"),
    on("flushoncommit"),
    off("noflushoncommit", "flushoncommit"),
    on("acl"),
    off("noacl", "acl"),
    on("enospc_debug"),
    off("noenospc_debug", "enospc_debug"),
    number("thread_pool", 1, u32_max),
    max_inline(),
    number("metadata_ratio", 0, u32_max),
    choice("fatal_errors", "bug|panic"),
    on("degraded"),
    on("skip_balance"),
    on("user_subvol_rm_allowed"),
    on("rescan_uuid_tree"),
    selector("subvol"),
    selector("subvolid"),
    selector("subvolrootid"),
    selector("device"),
    selector("rescue"),
    selector("norecovery"),
    selector("nologreplay"),
    selector("usebackuproot"),
    selector("fragment"),
    selector("ref_verify"),
    removed(on("recovery"), {6, 8}),
    removed(on("inode_cache"), {6, 8}),
    removed(off("noinode_cache", "inode_cache"), {6, 8}),
    removed(on("check_int"), {6, 8}),
    removed(on("check_int_data"), {6, 8}),
};

constexpr PropertySpec on_unless_shown(std::string_view name) {
    return fixed(name, "on", AtRemount::yes);
}

constexpr PropertySpec properties[] = {
    noting(by(plain("discard", AtRemount::yes), DefaultFrom::device, Shown::when_on),
           "async by itself since 6.2 where a device has discard and no discard word is given"),
    plain("compress", AtRemount::yes),
    fixed("commit", "30", AtRemount::yes, "s"),
    plain("autodefrag", AtRemount::yes),
    on_unless_shown("datacow"),
    on_unless_shown("datasum"),
    noting(by(plain("ssd", AtRemount::yes), DefaultFrom::device, Shown::when_on),
           "on by itself where no member is rotational"),
    plain("ssd_spread", AtRemount::yes),
    noting(by(fixed("space_cache", "v2", AtRemount::refused), DefaultFrom::superblock, Shown::always),
           "what the filesystem has on disk; mkfs.btrfs makes v2 since 5.15"),
    on_unless_shown("barrier"),
    on_unless_shown("treelog"),
    plain("flushoncommit", AtRemount::yes),
    noting(on_unless_shown("acl"), "a remount that does not repeat noacl switches it on"),
    plain("enospc_debug", AtRemount::yes),
    noting(by(fixed("thread_pool", "", AtRemount::yes), DefaultFrom::kernel, Shown::when_changed),
           "CPUs + 2, at most 8"),
    fixed("max_inline", "2048", AtRemount::yes, "bytes"),
    fixed("metadata_ratio", "0", AtRemount::yes),
    fixed("fatal_errors", "bug", AtRemount::yes),
    plain("degraded", AtRemount::only_on),
    plain("skip_balance", AtRemount::only_on),
    plain("user_subvol_rm_allowed", AtRemount::only_on),
    plain("rescan_uuid_tree", AtRemount::only_on),
};

}  // namespace

FilesystemTable btrfs() {
    return {options, properties};
}

}  // namespace storpol::option_table
