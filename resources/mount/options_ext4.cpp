// SPDX-License-Identifier: GPL-3.0-or-later
// ext4, and ext2 and ext3 as the ext4 driver mounts them. Sources: kernel fs/ext4/super.c (ext4_param_specs,
// ext4_parse_param, ext4_set_def_opts, ext4_check_opt_consistency, __ext4_remount, _ext4_show_options), 6.12; checked
// on 6.18 by tests/resources/mount_options_kernel_test.cpp.
//
// mountinfo prints what differs from the default of this superblock; /proc/fs/ext4/DEV/options is the whole truth.
#include "resources/mount/option_table.h"

namespace storpol::option_table {
namespace {

constexpr std::int64_t u32_max = 4294967295;
// INT_MAX / HZ with the largest HZ that is configured anywhere (1000), in seconds. A kernel with a lower HZ takes more.
constexpr std::int64_t commit_max = 2147483;

// Any number but 0 is on.
constexpr OptionSpec number_flag(std::string_view word) {
    OptionSpec spec = number(word, 0, u32_max);
    spec.form = ValueForm::truth;
    return spec;
}

constexpr OptionSpec itable() {
    OptionSpec spec = number("init_itable", 0, u32_max);
    spec.bare = "10";
    return spec;
}

constexpr OptionSpec readahead() {
    OptionSpec spec = number("inode_readahead_blks", 0, 1 << 30);
    spec.power = Power::required;
    return spec;
}

constexpr OptionSpec options[] = {
    on("discard"),
    off("nodiscard", "discard"),
    with_zero(number("commit", 0, commit_max), "5"),
    conflicting(choice("data", "ordered|writeback|journal"), "journal:delalloc=on ordered:journal_async_commit=on"),
    on("barrier"),
    off("nobarrier", "barrier"),
    number_flag("barrier"),
    choice("errors", "continue|remount-ro|panic"),
    implying(conflicting(on("journal_async_commit"), "data=ordered"), "journal_checksum=on"),
    on("journal_checksum"),
    off("nojournal_checksum", "journal_checksum"),
    conflicting(on("delalloc"), "data=journal"),
    off("nodelalloc", "delalloc"),
    on("auto_da_alloc"),
    off("noauto_da_alloc", "auto_da_alloc"),
    number_flag("auto_da_alloc"),
    on("dioread_nolock"),
    off("nodioread_nolock", "dioread_nolock"),
    off("dioread_lock", "dioread_nolock"),
    on("block_validity"),
    off("noblock_validity", "block_validity"),
    on("warn_on_error"),
    off("nowarn_on_error", "warn_on_error"),
    choice("data_err", "abort|ignore"),
    noting(number("stripe", 0, u32_max), "1, and more than a block group has, count as 0 at mount"),
    number("min_batch_time", 0, u32_max),
    number("max_batch_time", 0, u32_max),
    readahead(),
    number("journal_ioprio", 0, 7),
    number("max_dir_size_kb", 0, u32_max),
    itable(),
    flag("noinit_itable", "init_itable", "off"),
    since(number("mb_optimize_scan", 0, 1), {5, 16}),
    since(on("no_prefetch_block_bitmaps"), {5, 13}),
    ignored("prefetch_block_bitmaps"),
    on("nombcache"),
    flag("no_mbcache", "nombcache", "on"),
    on("debug"),
    flag("minixdf", "minixdf", "on"),
    off("bsddf", "minixdf"),
    on("grpid"),
    flag("bsdgroups", "grpid", "on"),
    off("nogrpid", "grpid"),
    off("sysvgroups", "grpid"),
    number("resuid", 0, u32_max),
    number("resgid", 0, u32_max),
    on("user_xattr"),
    removed(off("nouser_xattr", "user_xattr"), {5, 19}),
    on("acl"),
    removed(off("noacl", "acl"), {5, 19}),
    on("nouid32"),
    noting(on("norecovery"), "the journal is not loaded: data= and the journal's options mean nothing"),
    flag("noload", "norecovery", "on"),
    on("inlinecrypt"),
    flag("dax", "dax", "always"),
    choice("dax", "always|inode|never"),
    flag("usrquota", "usrquota", "on"),
    flag("quota", "usrquota", "on"),
    on("grpquota"),
    on("prjquota"),
    implying(flag("noquota", "usrquota", "off"), "grpquota=off prjquota=off"),
    text("usrjquota"),
    text("grpjquota"),
    text("jqfmt"),
    selector("sb"),
    selector("journal_dev"),
    selector("journal_path"),
    selector("abort"),
    selector("test_dummy_encryption"),
    number("debug_want_extra_isize", 4, 65535),
    ignored("oldalloc"),
    ignored("orlov"),
    ignored("bh"),
    ignored("nobh"),
    ignored("i_version"),
    ignored("mblk_io_submit"),
    ignored("nomblk_io_submit"),
    ignored("check"),
    ignored("nocheck"),
    ignored("reservation"),
    ignored("noreservation"),
    ignored("journal"),
};

constexpr PropertySpec changed(PropertySpec spec) {
    spec.shown = Shown::when_changed;
    return spec;
}

constexpr PropertySpec of_super(std::string_view name, std::string_view usual, AtRemount remount = AtRemount::yes) {
    return by(fixed(name, usual, remount), DefaultFrom::superblock, Shown::when_changed);
}

constexpr PropertySpec properties[] = {
    noting(of_super("discard", "off"), "tune2fs -o discard makes it the default, and mountinfo then hides it"),
    fixed("commit", "5", AtRemount::yes, "s"),
    of_super("data", "ordered", AtRemount::refused),
    of_super("barrier", "on"),
    of_super("errors", "continue"),
    noting(changed(plain("journal_async_commit", AtRemount::only_on)), "hidden while journal_checksum is off"),
    noting(of_super("journal_checksum", "", AtRemount::ignored), "on by itself where the superblock has metadata_csum"),
    noting(of_super("delalloc", "on", AtRemount::refused), "6.18 refuses to change it; older kernels did not"),
    changed(fixed("auto_da_alloc", "on", AtRemount::yes)),
    noting(by(fixed("dioread_nolock", "on", AtRemount::yes), DefaultFrom::kernel, Shown::when_changed), "on since 5.6"),
    by(fixed("block_validity", "on", AtRemount::yes), DefaultFrom::kernel, Shown::when_changed),
    changed(plain("warn_on_error", AtRemount::yes)),
    fixed("data_err", "ignore", AtRemount::yes),
    hiding(by(fixed("stripe", "", AtRemount::yes), DefaultFrom::superblock, Shown::when_on), "0"),
    fixed("min_batch_time", "0", AtRemount::yes, "us"),
    fixed("max_batch_time", "15000", AtRemount::yes, "us"),
    // A remount that is refused for another word changes the next ones all the same (__ext4_remount restores others
    // only).
    fixed("inode_readahead_blks", "32", AtRemount::yes),
    noting(by(fixed("journal_ioprio", "3", AtRemount::yes), DefaultFrom::constant, Shown::never), "shown nowhere"),
    fixed("max_dir_size_kb", "0", AtRemount::yes, "KiB"),
    fixed("init_itable", "10", AtRemount::yes),
    by(fixed("mb_optimize_scan", "", AtRemount::yes), DefaultFrom::kernel, Shown::when_changed),
    changed(plain("no_prefetch_block_bitmaps", AtRemount::only_on)),
    changed(plain("nombcache", AtRemount::refused)),
    of_super("debug", "off", AtRemount::only_on),
    changed(plain("minixdf", AtRemount::yes)),
    of_super("grpid", "off"),
    by(fixed("resuid", "0", AtRemount::yes), DefaultFrom::superblock, Shown::when_on),
    by(fixed("resgid", "0", AtRemount::yes), DefaultFrom::superblock, Shown::when_on),
    changed(fixed("user_xattr", "on", AtRemount::yes)),
    changed(fixed("acl", "on", AtRemount::yes)),
    of_super("nouid32", "off", AtRemount::only_on),
    noting(changed(plain("norecovery", AtRemount::only_on)), "FITRIM then fails with EROFS"),
    plain("inlinecrypt", AtRemount::only_on),
    fixed("dax", "inode", AtRemount::refused),
    of_super("usrquota", "off"),
    of_super("grpquota", "off"),
    of_super("prjquota", "off"),
    fixed("usrjquota", "none", AtRemount::refused),
    fixed("grpjquota", "none", AtRemount::refused),
    fixed("jqfmt", "none", AtRemount::refused),
    by(fixed("debug_want_extra_isize", "", AtRemount::yes), DefaultFrom::superblock, Shown::never),
};

}  // namespace

FilesystemTable ext4() {
    return {options, properties};
}

}  // namespace storpol::option_table
