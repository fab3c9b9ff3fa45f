// SPDX-License-Identifier: GPL-3.0-or-later
// f2fs. Source: kernel fs/f2fs/super.c (f2fs_tokens, parse_options, default_options, f2fs_remount,
// f2fs_show_options), 6.12; seen word by word on 6.1 and 6.12 (tests/lab/vm/scenarios/filesystems.py).
//
// A remount starts from the defaults again for most options (default_options(sbi, true)), so one that names a single
// change would undo others: every option that is live has to be repeated. mountinfo shows nearly all of them. Flags
// that have no "no" word (fastboot, data_flush, ...) are the ones that a remount leaves alone, so nothing turns them
// off.
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr std::int64_t int_max = 2147483647;

constexpr OptionSpec options[] = {
    on("discard"),
    noting(off("nodiscard", "discard"), "refused on a zoned device"),
    choice("discard_unit", "block|segment|section"),
    choice("background_gc", "on|off|sync"),
    on("gc_merge"),
    off("nogc_merge", "gc_merge"),
    on("flush_merge"),
    off("noflush_merge", "flush_merge"),
    since(on("barrier"), {6, 12}),  // 6.1 refuses it; of the kernels between none was seen
    off("nobarrier", "barrier"),
    on("fastboot"),
    on("extent_cache"),
    off("noextent_cache", "extent_cache"),
    since(on("age_extent_cache"), {6, 2}),
    on("data_flush"),
    on("inline_data"),
    off("noinline_data", "inline_data"),
    on("inline_dentry"),
    off("noinline_dentry", "inline_dentry"),
    on("inline_xattr"),
    off("noinline_xattr", "inline_xattr"),
    number("inline_xattr_size", 0, int_max),
    on("user_xattr"),
    off("nouser_xattr", "user_xattr"),
    on("acl"),
    off("noacl", "acl"),
    on("disable_ext_identify"),
    choice("active_logs", "2|4|6"),
    number("reserve_root", 0, int_max),
    number("resuid", 0, int_max),
    number("resgid", 0, int_max),
    choice("mode", "adaptive|lfs|fragment:segment|fragment:block"),
    choice("alloc_mode", "default|reuse"),
    choice("fsync_mode", "posix|strict|nobarrier"),
    on("checkpoint_merge"),
    off("nocheckpoint_merge", "checkpoint_merge"),
    choice("checkpoint", "enable|disable=disable:0|disable:0"),  // disable:N, a cap, is left alone
    on("atgc"),
    choice("memory", "normal|low"),
    since(choice("errors", "remount-ro|continue|panic"), {6, 4}),
    text("compress_algorithm"),
    number("compress_log_size", 0, int_max),
    selector("compress_extension"),  // a list: each word adds one
    selector("nocompress_extension"),
    on("compress_chksum"),
    choice("compress_mode", "fs|user"),
    on("compress_cache"),
    on("inlinecrypt"),
    flag("usrquota", "usrquota", "on"),
    flag("quota", "usrquota", "on"),
    on("grpquota"),
    on("prjquota"),
    implying(flag("noquota", "usrquota", "off"), "grpquota=off prjquota=off"),
    text("usrjquota"),
    text("grpjquota"),
    text("prjjquota"),
    text("jqfmt"),
    selector("disable_roll_forward"),
    selector("norecovery"),
    selector("fault_injection"),
    selector("fault_type"),
    selector("test_dummy_encryption"),
    selector("heap"),  // without effect since 6.9, and no longer shown
    selector("no_heap"),
    on("lazytime"),
    ignored("nolazytime"),  // default_options() sets lazytime again, and mount programs keep the word to themselves
};

constexpr PropertySpec always(std::string_view name, std::string_view value, AtRemount remount) {
    return by(fixed(name, value, remount), DefaultFrom::constant, Shown::always);
}

constexpr PropertySpec properties[] = {
    noting(by(plain("discard", AtRemount::yes), DefaultFrom::device, Shown::always),
           "on by itself where the device has it"),
    by(fixed("discard_unit", "block", AtRemount::refused), DefaultFrom::device, Shown::when_changed),
    always("background_gc", "on", AtRemount::yes),
    always("gc_merge", "off", AtRemount::yes),
    // No kernel prints a word for its being off.
    hiding(by(fixed("flush_merge", "on", AtRemount::yes), DefaultFrom::constant, Shown::when_on), "off"),
    always("barrier", "on", AtRemount::yes),
    plain("fastboot", AtRemount::only_on),
    always("extent_cache", "on", AtRemount::refused),
    plain("age_extent_cache", AtRemount::refused),
    plain("data_flush", AtRemount::only_on),
    always("inline_data", "on", AtRemount::yes),
    always("inline_dentry", "on", AtRemount::yes),
    always("inline_xattr", "on", AtRemount::yes),
    by(fixed("inline_xattr_size", "", AtRemount::yes), DefaultFrom::kernel, Shown::when_changed),
    always("user_xattr", "on", AtRemount::yes),
    always("acl", "on", AtRemount::yes),
    plain("disable_ext_identify", AtRemount::only_on),
    always("active_logs", "6", AtRemount::yes),
    noting(fixed("reserve_root", "0", AtRemount::only_on), "the first value stays; lowered to what the device has"),
    noting(fixed("resuid", "0", AtRemount::yes), "with reserve_root only"),
    noting(fixed("resgid", "0", AtRemount::yes), "with reserve_root only"),
    noting(by(fixed("mode", "adaptive", AtRemount::yes), DefaultFrom::device, Shown::always),
           "6.12 refuses to go to lfs by remount"),
    noting(by(fixed("alloc_mode", "", AtRemount::yes), DefaultFrom::superblock, Shown::always),
           "reuse on small volumes; a remount that does not name it makes it default"),
    always("fsync_mode", "posix", AtRemount::yes),
    always("checkpoint_merge", "on", AtRemount::yes),
    fixed("checkpoint", "enable", AtRemount::yes),
    plain("atgc", AtRemount::refused),
    always("memory", "normal", AtRemount::yes),
    always("errors", "continue", AtRemount::yes),
    by(fixed("compress_algorithm", "", AtRemount::yes), DefaultFrom::superblock, Shown::when_changed),
    by(fixed("compress_log_size", "", AtRemount::yes), DefaultFrom::superblock, Shown::when_changed),
    plain("compress_chksum", AtRemount::only_on),
    by(fixed("compress_mode", "", AtRemount::yes), DefaultFrom::superblock, Shown::when_changed),
    plain("compress_cache", AtRemount::refused),
    plain("inlinecrypt", AtRemount::only_on),
    by(plain("usrquota", AtRemount::yes), DefaultFrom::superblock, Shown::when_on),
    by(plain("grpquota", AtRemount::only_on), DefaultFrom::superblock, Shown::when_on),
    by(plain("prjquota", AtRemount::only_on), DefaultFrom::superblock, Shown::when_on),
    fixed("usrjquota", "none", AtRemount::refused),
    fixed("grpjquota", "none", AtRemount::refused),
    fixed("prjjquota", "none", AtRemount::refused),
    fixed("jqfmt", "none", AtRemount::refused),
    // The generic flag, with a default of its own: default_options() sets it.
    fixed("lazytime", "on", AtRemount::ignored),
};

}  // namespace

FilesystemTable f2fs() {
    return {options, properties};
}

}  // namespace storpol::option_table
