// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/crypt_options.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

constexpr const char* uuid = "6171f721-1157-533d-a749-b0a49955605c";

PlacedArguments words(const std::string& text) {
    return place_arguments(text, {"/boot/grub/grub.cfg", 2, 0}, 0);
}

TEST(CryptOptions, EachReaderHasItsOwnWords) {
    using enum CryptReader;
    EXPECT_EQ(flag_of_option(systemd, "discard"), "allow-discards");
    EXPECT_EQ(flag_of_option(systemd, "allow-discards"), "allow-discards");
    EXPECT_EQ(flag_of_option(debian_scripts, "discard"), "allow-discards");
    EXPECT_EQ(flag_of_option(debian_scripts, "allow-discards"), std::nullopt);
    EXPECT_EQ(flag_of_option(dracut_scripts, "discard"), std::nullopt);
    EXPECT_EQ(flag_of_option(dracut_scripts, "allow-discards"), "allow-discards");
    EXPECT_EQ(option_of_flag(systemd, "allow-discards"), "discard");
    EXPECT_EQ(option_of_flag(dracut_scripts, "no-read-workqueue"), std::nullopt);
    EXPECT_EQ(option_of_flag(arch_encrypt, "allow-discards"), "allow-discards");
}

TEST(CryptOptions, AWordThatOnlyAnotherReaderKnowsIsTold) {
    EXPECT_EQ(flag_meant(CryptReader::debian_scripts, "allow-discards"), "allow-discards");
    EXPECT_EQ(flag_meant(CryptReader::systemd, "discards"), "allow-discards");
    EXPECT_EQ(flag_meant(CryptReader::systemd, "discard"), std::nullopt);
    EXPECT_EQ(flag_meant(CryptReader::systemd, "nofail"), std::nullopt);
}

TEST(CryptOptions, ArgumentsKnowWhereTheyStand) {
    const auto placed = words("root=/dev/vg/root  cryptdevice=/dev/sda2:crypt quiet");
    ASSERT_EQ(placed.size(), 3U);
    EXPECT_EQ(placed[1].word, "cryptdevice=/dev/sda2:crypt");
    EXPECT_EQ(placed[1].offset, 19U);
    EXPECT_EQ(to_text(placed[1].place), "/boot/grub/grub.cfg:2");
}

TEST(CryptOptions, OptionsWithoutUuidAreTheDefaultOfAll) {
    const auto placed = words("rd.luks.options=discard quiet rd.luks.options=luks");
    const auto luks = read_luks_arguments(placed, true);
    ASSERT_NE(luks.default_options, nullptr);
    EXPECT_EQ(luks.default_options->word, "rd.luks.options=luks") << "the last one is taken";
    EXPECT_EQ(luks.listed_by, nullptr);
    EXPECT_TRUE(luks.disks.empty());
}

TEST(CryptOptions, OptionsOfAUuidAreOfThatDisk) {
    const auto placed = words(std::string("rd.luks.options=") + uuid + "=discard,timeout=10s");
    const auto luks = read_luks_arguments(placed, true);
    const auto* disk = luks.find(uuid);
    ASSERT_NE(disk, nullptr);
    EXPECT_FALSE(disk->is_created);
    ASSERT_NE(disk->options, nullptr);
    EXPECT_EQ(words_of_luks_options(*disk->options), (std::vector<std::string>{"discard", "timeout=10s"}));
    EXPECT_EQ(luks.listed_by, nullptr) << "options alone make no list";
}

TEST(CryptOptions, WordsWithRdAreOfTheInitramfsAlone) {
    const auto placed = words(std::string("rd.luks.name=") + uuid + "=root");
    EXPECT_TRUE(read_luks_arguments(placed, false).disks.empty());
    const auto luks = read_luks_arguments(placed, true);
    ASSERT_EQ(luks.disks.size(), 1U);
    EXPECT_EQ(luks.disks[0].name, "root");
    EXPECT_TRUE(luks.disks[0].is_created);
    EXPECT_EQ(luks.listed_by, &placed[0]);
}

TEST(CryptOptions, AUuidMayHaveThePrefixOfItsName) {
    const auto placed = words("luks.uuid=luks-6171F721-1157-533D-A749-B0A49955605C luks=no luks.crypttab=0");
    const auto luks = read_luks_arguments(placed, false);
    ASSERT_NE(luks.find(uuid), nullptr);
    EXPECT_FALSE(luks.is_enabled);
    EXPECT_FALSE(luks.reads_crypttab);
    EXPECT_NE(luks.find("6171f7211157533da749b0a49955605c"), nullptr) << "device-mapper's have no dashes";
    EXPECT_EQ(luks.find(""), nullptr);
}

TEST(CryptOptions, TheLastCryptdeviceCounts) {
    const auto placed = words("cryptdevice=/dev/sda2 cryptdevice=UUID=3467:cryptlvm:allow-discards,no-read-workqueue");
    const auto device = read_cryptdevice(placed);
    ASSERT_TRUE(device);
    EXPECT_EQ(device->source, "UUID=3467");
    EXPECT_EQ(device->name, "cryptlvm");
    EXPECT_EQ(device->options, (std::vector<std::string>{"allow-discards", "no-read-workqueue"}));
    EXPECT_FALSE(read_cryptdevice(words("quiet cryptdevice")));
}

TEST(CryptOptions, AnyCommandLineIsSurvived) {
    EXPECT_TRUE(rc::check("any text", [](const std::string& text) {
        const auto placed =
            place_arguments("rd.luks.options=" + text + " luks.name=" + text + " cryptdevice=" + text, {}, 0);
        static_cast<void>(read_luks_arguments(placed, true));
        static_cast<void>(read_cryptdevice(placed));
        for (const auto& argument : placed) static_cast<void>(words_of_luks_options(argument));
    }));
}

}  // namespace
}  // namespace storpol
