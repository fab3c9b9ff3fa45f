// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/grub_cfg.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

// As Debian's grub-mkconfig writes it, shortened.
constexpr const char* debian = R"(if [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
else
   set default="0"
fi
menuentry 'Debian GNU/Linux' --class debian --class os $menuentry_id_option 'gnulinux-simple-1b2c' {
	load_video
	if [ x$grub_platform = xxen ]; then insmod xzio; fi
	search --no-floppy --fs-uuid --set=root 1b2c
	linux	/vmlinuz-6.1.0-18-amd64 root=/dev/mapper/vg-root ro  quiet
	initrd	/initrd.img-6.1.0-18-amd64
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-1b2c' {
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-18-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-18-amd64-advanced-1b2c' {
		linux	/vmlinuz-6.1.0-18-amd64 root=/dev/mapper/vg-root ro  quiet
		initrd	/early.img /initrd.img-6.1.0-18-amd64
	}
	menuentry 'recovery' --id old {
		linux	/vmlinuz-6.1.0-17-amd64 root=/dev/mapper/vg-root ro single
		initrd	/initrd.img-6.1.0-17-amd64
	}
}
menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {
	fwsetup
}
)";

TEST(GrubConfig, EntriesAndSubmenusAreFound) {
    const auto config = parse_grub_cfg(debian);
    ASSERT_EQ(config.menu.size(), 3U);
    EXPECT_EQ(config.default_entry, "0");
    EXPECT_FALSE(config.uses_saved_entry);
    const auto* entry = find_grub_entry(config, "0");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->title, "Debian GNU/Linux");
    EXPECT_EQ(entry->id, "gnulinux-simple-1b2c");
    EXPECT_EQ(entry->linux_line, 14);
    EXPECT_EQ(entry->kernel, "/vmlinuz-6.1.0-18-amd64");
    EXPECT_EQ(entry->arguments, "root=/dev/mapper/vg-root ro quiet");
    EXPECT_EQ(entry->initrds, std::vector<std::string>{"/initrd.img-6.1.0-18-amd64"});
    ASSERT_EQ(config.menu[1].children.size(), 2U);
    EXPECT_EQ(config.menu[1].children[0].entry.initrds.size(), 2U);
}

TEST(GrubConfig, AnEntryIsNamedByNumberTitleIdOrPath) {
    const auto config = parse_grub_cfg(debian);
    const auto title = [&](const char* which) {
        const auto* entry = find_grub_entry(config, which);
        return entry == nullptr ? std::string("(none)") : entry->title;
    };
    EXPECT_EQ(title("1>1"), "recovery");
    EXPECT_EQ(title("gnulinux-advanced-1b2c>old"), "recovery");
    EXPECT_EQ(title("Advanced options for Debian GNU/Linux>recovery"), "recovery");
    EXPECT_EQ(title("1"), "Debian GNU/Linux, with Linux 6.1.0-18-amd64") << "the first of the submenu";
    EXPECT_EQ(title("2"), "UEFI Firmware Settings");
    EXPECT_EQ(title("7"), "(none)");
    EXPECT_EQ(title("old"), "(none)") << "not on the first level";
    EXPECT_EQ(title("0>0"), "(none)");
    EXPECT_EQ(find_grub_entry(config, "2")->linux_line, 0);
}

TEST(GrubConfig, SavedDefaultsAndBlsAreSeen) {
    const auto config = parse_grub_cfg("set default=\"${saved_entry}\"\nblscfg\n");
    EXPECT_TRUE(config.uses_saved_entry);
    EXPECT_TRUE(config.reads_bls);
    EXPECT_TRUE(config.menu.empty());
}

TEST(GrubConfig, TheEnvironmentBlockEndsInPadding) {
    const auto values = parse_grub_environment(
        "# GRUB Environment Block\nsaved_entry=5fd2-6.1.0\nkernelopts=root=/dev/x ro \nboot_success=0\n########");
    EXPECT_EQ(values.at("saved_entry"), "5fd2-6.1.0");
    EXPECT_EQ(values.at("kernelopts"), "root=/dev/x ro ");
    EXPECT_EQ(values.size(), 3U);
}

TEST(GrubConfig, DeepNestingIsSurvived) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "submenu 'x' {\n";
    EXPECT_LE(parse_grub_cfg(text).menu.size(), 1U);
}

TEST(GrubConfig, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("any text", [](const std::string& text) {
        const auto config = parse_grub_cfg(text + "\nmenuentry '" + text + "' {\nlinux " + text + "\n}\n");
        static_cast<void>(find_grub_entry(config, text));
        static_cast<void>(parse_grub_environment(text));
    }));
}

}  // namespace
}  // namespace storpol
