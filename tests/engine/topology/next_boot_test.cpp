// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/next_boot.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "engine/text/field_edit.h"
#include "engine/topology/boot_image.h"
#include "engine/topology/topology.h"
#include "tests/support/boot_machine.h"

namespace storpol {
namespace {

std::string in_words(const CommandLine& line) {
    std::string text;
    for (const auto& argument : line.arguments) text += (text.empty() ? "" : " ") + argument.word;
    return text;
}

NextBoot look(Host& host) {
    const Topology topology(host);
    return next_boot(topology, host);
}

BootImage look_at_image(Host& host) {
    const Topology topology(host);
    return boot_image(topology, host);
}

TEST(NextBoot, GrubsDefaultEntryIsTaken) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1 ro quiet", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img", {});
    host.put_file("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"nvme=1\"\n");
    const auto boot = look(host);
    EXPECT_EQ(boot.loader, NextBoot::Loader::grub);
    EXPECT_EQ(boot.unknown, "");
    EXPECT_EQ(in_words(boot.command_line), "root=/dev/sda1 ro quiet");
    EXPECT_EQ(to_text(boot.command_line.place), "/boot/grub/grub.cfg:2");
    EXPECT_EQ(boot.images, std::vector<std::string>{"/boot/initrd.img"});
    EXPECT_EQ(in_words(boot.sources), "nvme=1 quiet");
    EXPECT_EQ(to_text(boot.sources.arguments[0].place), "/etc/default/grub:2");
    ASSERT_TRUE(boot.update);
    EXPECT_EQ(boot.update->target, "grub-mkconfig");
}

TEST(NextBoot, TheEntryThatWasSavedOrAskedForOnceIsTaken) {
    MemoryHost host;
    host.put_file("/boot/grub/grub.cfg",
                  "set default=\"${saved_entry}\"\nmenuentry 'A' --id a {\nlinux /k one\n}\nmenuentry 'B' --id b "
                  "{\nlinux /k two\n}\n");
    EXPECT_EQ(in_words(look(host).command_line), "one");
    host.put_file("/boot/grub/grubenv", "# GRUB Environment Block\nsaved_entry=b\n####");
    EXPECT_EQ(in_words(look(host).command_line), "two");
    host.put_file("/boot/grub/grubenv", "# GRUB Environment Block\nsaved_entry=b\nnext_entry=a\n####");
    EXPECT_EQ(in_words(look(host).command_line), "one");
}

TEST(NextBoot, DefaultsInShellThatNobodyCanReadAreUnknown) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    host.put_file("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"$(cat /x)\"\n");
    const auto boot = look(host);
    EXPECT_EQ(boot.unknown, "");
    EXPECT_NE(boot.sources.unknown.find("/etc/default/grub:1"), std::string::npos) << boot.sources.unknown;
    EXPECT_EQ(boot.images_unknown.find("initrd.img") != std::string::npos, true) << "it is not there";
}

TEST(NextBoot, LaterGrubFilesCount) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    host.put_file("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n");
    host.put_file("/etc/default/grub.d/50-cloud.cfg", "GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n");
    host.put_file("/etc/default/grub.d/90-off.cfg.bak", "GRUB_CMDLINE_LINUX_DEFAULT=\"no\"\n");
    EXPECT_EQ(in_words(look(host).sources), "console=ttyS0");
}

TEST(NextBoot, SystemdBootTakesWhatLoaderConfNames) {
    MemoryHost host;
    host.put_file("/boot/loader/loader.conf", "timeout 3\ndefault arch*\n");
    host.put_file("/boot/loader/entries/arch.conf",
                  "title Arch\nlinux /vmlinuz-linux\ninitrd /ucode.img\ninitrd /initramfs.img\noptions "
                  "root=/dev/a\noptions rw\n");
    host.put_file("/boot/loader/entries/zz.conf", "title Z\nlinux /z\noptions z\n");
    put_image(host, "/boot/ucode.img", {});
    put_image(host, "/boot/initramfs.img", {{"hooks/encrypt", "#!"}, {"config", "HOOKS=x"}});
    const auto boot = look(host);
    EXPECT_EQ(boot.loader, NextBoot::Loader::systemd_boot);
    EXPECT_EQ(boot.entry, "arch");
    EXPECT_EQ(in_words(boot.command_line), "root=/dev/a rw");
    EXPECT_EQ(to_text(boot.command_line.arguments[1].place), "/boot/loader/entries/arch.conf:6");
    EXPECT_EQ(boot.images.size(), 2U);
    EXPECT_FALSE(boot.update);
    EXPECT_EQ(in_words(boot.sources), "root=/dev/a rw") << "the entry is its own source";
    host.put_file("/etc/kernel/cmdline", "root=/dev/b\n");
    EXPECT_EQ(in_words(look(host).sources), "root=/dev/b");
    const auto image = look_at_image(host);
    EXPECT_EQ(image.path, "/boot/initramfs.img");
    EXPECT_EQ(image.opens, CryptReader::arch_encrypt);
    EXPECT_EQ(image.maker, BootImage::Maker::mkinitcpio);
    EXPECT_EQ(image.rebuild.options, std::vector<std::string>{"-P"});
}

TEST(NextBoot, WhatTheFirmwareKeepsBeatsLoaderConf) {
    MemoryHost host;
    host.put_file("/boot/loader/loader.conf", "default a.conf\n");
    host.put_file("/boot/loader/entries/a.conf", "linux /a\noptions a\n");
    host.put_file("/boot/loader/entries/b.conf", "linux /b\noptions b\n");
    EXPECT_EQ(look(host).entry, "a");
    const std::string wide("\x06\0\0\0b\0.\0c\0o\0n\0f\0\0\0", 18);
    host.put_file("/sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", wide);
    EXPECT_EQ(look(host).entry, "b");
}

TEST(NextBoot, UnifiedImagesAndForeignLoadersAreSaidAndLeftAlone) {
    MemoryHost host;
    host.put_file("/boot/EFI/Linux/arch.efi", "MZ");
    EXPECT_EQ(look(host).loader, NextBoot::Loader::unmanaged);
    EXPECT_NE(look(host).unknown, "");
    MemoryHost other;
    other.put_file("/boot/extlinux/extlinux.conf", "LABEL x\n");
    EXPECT_NE(look(other).unknown.find("extlinux"), std::string::npos);
    MemoryHost none;
    EXPECT_EQ(look(none).loader, NextBoot::Loader::none);
    EXPECT_NE(look(none).unknown, "");
    EXPECT_EQ(look(none).sources.unknown, "");
}

TEST(NextBoot, BothLoadersAtOnceIsUnknownUntilTheFirmwareTells) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    host.put_file("/boot/loader/loader.conf", "timeout 3\n");
    host.put_file("/boot/loader/entries/a.conf", "linux /a\noptions a\n");
    EXPECT_NE(look(host).unknown, "");
    std::string wide(4, '\0');
    for (const char c : std::string("systemd-boot 255")) wide += std::string(1, c) + '\0';
    host.put_file("/sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", wide);
    EXPECT_EQ(look(host).entry, "a");
}

TEST(NextBoot, FedorasEntriesMayNameGrubsVariables) {
    MemoryHost host;
    host.put_file("/boot/grub2/grub.cfg", "set default=\"${saved_entry}\"\nblscfg\n");
    host.put_file("/boot/grub2/grubenv",
                  "# GRUB Environment Block\nsaved_entry=m-5.14\nkernelopts=root=/dev/r ro \n##");
    host.put_file("/boot/loader/entries/m-5.14.conf",
                  "linux /v\ninitrd /i $tuned_initrd\noptions $kernelopts quiet $tuned_params\n");
    host.put_file("/boot/loader/entries/m-5.20.conf", "linux /v\noptions new\n");
    put_image(host, "/boot/i", {});
    const auto boot = look(host);
    EXPECT_EQ(boot.loader, NextBoot::Loader::grub_bls);
    EXPECT_EQ(in_words(boot.command_line), "root=/dev/r ro quiet");
    EXPECT_EQ(to_text(boot.command_line.arguments[0].place), "/boot/grub2/grubenv");
    EXPECT_EQ(boot.images, std::vector<std::string>{"/boot/i"});
}

TEST(NextBoot, AnUnreadableFileIsUnknown) {
    MemoryHost host;
    host.refuse({QueryKind::file, {"/boot/grub2/grub.cfg"}}, EACCES);
    EXPECT_NE(look(host).unknown.find("grub2"), std::string::npos);
}

TEST(BootImage, AnImageThatCannotBeReadIsUnknownWithWhatWouldBeMade) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img", {});
    host.refuse({QueryKind::image_member, {"/boot/initrd.img", "hooks/encrypt"}}, EACCES);
    host.put_file("/etc/mkinitcpio.conf", "#HOOKS=(encrypt)\nHOOKS=(base udev sd-encrypt) # mine\n");
    const auto image = look_at_image(host);
    EXPECT_NE(image.unknown, "");
    EXPECT_EQ(image.maker, BootImage::Maker::mkinitcpio);
    EXPECT_EQ(image.opens, CryptReader::systemd);
    EXPECT_EQ(image.crypttab_source(), "/etc/crypttab.initramfs");
}

TEST(BootImage, AnImageOpensNothingWhereNothingInItDoes) {
    MemoryHost host;
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img", {{"conf/initramfs.conf", "MODULES=most\n"}});
    const auto image = look_at_image(host);
    EXPECT_EQ(image.unknown, "");
    EXPECT_EQ(image.opens, std::nullopt);
    EXPECT_EQ(image.rebuild.program, "/usr/sbin/update-initramfs");
}

std::string edited(MemoryHost& host, const std::string& text, const std::string& word, const std::string& instead) {
    host.put_file("/etc/default/grub", text);
    put_grub(host, "root=/dev/sda1", "/boot/initrd.img");
    for (const auto& argument : look(host).sources.arguments) {
        if (argument.word != word) continue;
        const auto edits = edit_arguments({{argument, instead}}, host);
        if (!edits) return "(" + edits.error().what + ")";
        std::string after = text;
        for (const auto& edit : *edits) {
            const auto& words = std::get<FieldWords>(edit.edit);
            after = edit_words(after, words.line, words.field, words.take_out, words.put_in).value();
        }
        return after;
    }
    return "(no such word)";
}

TEST(ArgumentEdit, AWordIsChangedWhereItStands) {
    MemoryHost host;
    EXPECT_EQ(edited(host, "X=1\n\tGRUB_CMDLINE_LINUX=\"a=b c\"  # why\n", "a=b", "a=b:d"),
              "X=1\n\tGRUB_CMDLINE_LINUX=\"a=b:d c\"  # why\n");
    EXPECT_EQ(edited(host, "GRUB_CMDLINE_LINUX=\"x a=b,c\"\n", "a=b,c", "a=b,z,c"),
              "GRUB_CMDLINE_LINUX=\"x a=b,z,c\"\n");
    EXPECT_EQ(edited(host, "GRUB_CMDLINE_LINUX='x a=b,c y'\n", "a=b,c", "a=b"), "GRUB_CMDLINE_LINUX='x a=b y'\n");
}

TEST(ArgumentEdit, AWordThatIsMadeOfOthersIsNot) {
    MemoryHost host;
    EXPECT_NE(edited(host, "D=a=b\nGRUB_CMDLINE_LINUX=\"x$D\"\n", "xa=b", "y").find("without a person"),
              std::string::npos);
    EXPECT_NE(edited(host, "GRUB_CMDLINE_LINUX=\"a=\\\"b\\\"\"\n", "a=\"b\"", "y").find("without a person"),
              std::string::npos);
}

TEST(ArgumentEdit, AWordOfAVariableIsChangedAtItsOwnLine) {
    MemoryHost host;
    EXPECT_EQ(edited(host, "D=\"a=b\"\nGRUB_CMDLINE_LINUX=\"x $D\"\n", "a=b", "a=c"),
              "D=\"a=c\"\nGRUB_CMDLINE_LINUX=\"x $D\"\n");
}

}  // namespace
}  // namespace storpol
