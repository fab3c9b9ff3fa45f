// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/crypt_mapping.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cerrno>

#include "engine/host/host.h"
#include "engine/topology/topology.h"
#include "tests/support/boot_machine.h"

namespace storpol {
namespace {

constexpr const char* uuid = "6171f721-1157-533d-a749-b0a49955605c";

struct Looked {
    explicit Looked(Host& host) : topology(host), mappings(crypt_mappings(topology, host)) {}

    const CryptMapping& at(const std::string& name) const {
        const auto* found = mappings.find(name);
        EXPECT_NE(found, nullptr) << name;
        static const CryptMapping none;
        return found == nullptr ? none : *found;
    }

    // "on /etc/crypttab:1", "off ...", "unknown: why"
    std::string persisted(const std::string& name, const std::string& flag = "allow-discards") const {
        return in_words(flag_of(at(name).persisted, mappings.header_of(at(name)), flag));
    }

    std::string boot(const std::string& name, const std::string& flag = "allow-discards") const {
        if (!at(name).in_initramfs) return "absent";
        return in_words(flag_of(at(name).boot, mappings.header_of(at(name)), flag));
    }

    static std::string in_words(const FlagAnswer& answer) {
        if (!answer.is_on) return "unknown: " + answer.why;
        return (*answer.is_on ? "on " : "off ") + answer.source;
    }

    Topology topology;
    const CryptMappings& mappings;
};

void put_debian(MemoryHost& host, const std::string& tab, const std::string& in_image) {
    put_grub(host, "root=/dev/mapper/root ro", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img",
              {{"conf/initramfs.conf", ""}, {"scripts/local-top/cryptroot", "#!"}, {"cryptroot/crypttab", in_image}});
    host.put_file("/etc/crypttab", tab);
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda2");
}

// systemd in an initramfs of an unknown maker, with systemd-boot.
void put_systemd(MemoryHost& host, const std::string& tab, const std::string& in_image, const std::string& arguments) {
    host.put_file("/boot/loader/loader.conf", "default a.conf\n");
    host.put_file("/boot/loader/entries/a.conf", "linux /k\ninitrd /initrd\noptions " + arguments + "\n");
    put_image(host, "/boot/initrd", {{"usr/lib/systemd/system/cryptsetup.target", ""}, {"etc/crypttab", in_image}});
    host.put_file("/etc/crypttab", tab);
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda2");
}

std::string line(const std::string& options, const std::string& name = "root") {
    return name + " UUID=" + uuid + " none " + options + "\n";
}

TEST(CryptMapping, DebiansImageDecidesAtBoot) {
    MemoryHost host;
    put_debian(host, line("luks,discard"), line("luks"));
    put_luks(host, "/dev/sda2", std::string("version=1\nuuid=") + uuid + "\n");
    const Looked it(host);
    EXPECT_EQ(it.persisted("root"), "on /etc/crypttab:1");
    EXPECT_EQ(it.boot("root"), "off /boot/initrd.img");
    EXPECT_EQ(it.at("root").persisted.by, "Debian's cryptsetup scripts in the initramfs");
    EXPECT_EQ(it.at("root").device, "/dev/sda2");
}

TEST(CryptMapping, DebiansScriptsDoNotKnowTheOtherWord) {
    MemoryHost host;
    put_debian(host, line("luks,allow-discards"), line("luks,allow-discards"));
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.persisted("root"), "off /etc/crypttab:1");
    EXPECT_EQ(it.at("root").persisted.deciding()->misspelt, std::set<std::string>{"allow-discards"});
}

TEST(CryptMapping, TheHeaderIsOredWithEveryOption) {
    MemoryHost host;
    put_debian(host, line("luks"), line("luks"));
    put_luks(host, "/dev/sda2", "version=2\nflags=allow-discards,no-read-workqueue\n");
    const Looked it(host);
    EXPECT_EQ(it.persisted("root"), "on LUKS2 header of /dev/sda2");
    EXPECT_EQ(it.boot("root"), "on LUKS2 header of /dev/sda2");
    EXPECT_EQ(it.persisted("root", "no-write-workqueue"), "off /etc/crypttab:1");
    const auto sources = it.mappings.sources_of(it.at("root"), it.at("root").persisted);
    ASSERT_EQ(sources.size(), 2U);
    EXPECT_EQ(sources[1].where, "LUKS2 header of /dev/sda2");
    EXPECT_TRUE(sources[0].decides);
}

TEST(CryptMapping, AHeaderThatCannotBeReadLeavesOffUnknown) {
    MemoryHost host;
    put_debian(host, line("luks"), line("luks,discard"));
    host.refuse({QueryKind::luks, {"/dev/sda2"}}, EACCES);
    const Looked it(host);
    EXPECT_EQ(it.persisted("root").substr(0, 9), "unknown: ");
    EXPECT_EQ(it.boot("root"), "on /boot/initrd.img") << "what is on is on, whatever the header says";
}

TEST(CryptMapping, OptionsWithoutUuidDoNotReachADeviceWithALine) {
    MemoryHost host;
    put_systemd(host, line("x-initrd.attach"), line("x-initrd.attach"), "root=/dev/x rd.luks.options=discard");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.boot("root"), "off /boot/initrd");
    EXPECT_EQ(it.persisted("root"), "off /etc/crypttab:1");
    ASSERT_EQ(it.at("root").boot.sources.size(), 2U);
    EXPECT_FALSE(it.at("root").boot.sources[1].decides);
    EXPECT_NE(it.at("root").boot.sources[1].why_not.find("without a UUID"), std::string::npos);
}

TEST(CryptMapping, OptionsOfAUuidReplaceTheLines) {
    MemoryHost host;
    put_systemd(host, line("luks,discard,tpm2-device=auto"), line("luks,discard"),
                std::string("rd.luks.options=") + uuid + "=timeout=10s");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.boot("root"), "off /boot/loader/entries/a.conf:3");
    EXPECT_NE(it.at("root").boot.sources[1].why_not.find("replace"), std::string::npos);
}

TEST(CryptMapping, ADeviceThatOnlyTheCommandLineNamesGetsTheDefaultOptions) {
    MemoryHost host;
    put_systemd(host, "", "", std::string("rd.luks.name=") + uuid + "=root rd.luks.options=discard");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.boot("root"), "on /boot/loader/entries/a.conf:3");
    MemoryHost by_uuid;
    put_systemd(by_uuid, "", "", std::string("rd.luks.uuid=") + uuid);
    put_luks(by_uuid, "/dev/sda2", "version=1\n");
    EXPECT_EQ(Looked(by_uuid).boot(std::string("luks-") + uuid), "off /boot/loader/entries/a.conf:3");
}

TEST(CryptMapping, AWordOnTheCommandLineMakesOtherLinesVoid) {
    MemoryHost host;
    put_systemd(host, line("luks,discard", "data"), "", "luks.uuid=0ddb9d4c-1111-52bc-95aa-ac8861a5076a");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_FALSE(it.at("data").persisted.is_opened);
    EXPECT_NE(it.at("data").persisted.why_not_opened.find("luks.uuid="), std::string::npos);
    MemoryHost early;
    put_systemd(early, line("luks,discard", "data"), "", "rd.luks.uuid=0ddb9d4c-1111-52bc-95aa-ac8861a5076a");
    put_luks(early, "/dev/sda2", "version=1\n");
    EXPECT_EQ(Looked(early).persisted("data"), "on /etc/crypttab:1") << "rd. is of the initramfs alone";
}

TEST(CryptMapping, ArchsHookReadsTheCommandLineAlone) {
    MemoryHost host;
    put_grub(host, std::string("cryptdevice=UUID=") + uuid + ":lvm root=/dev/x", "/boot/initramfs.img");
    put_image(host, "/boot/initramfs.img", {{"hooks/encrypt", "#!"}, {"config", ""}});
    host.put_file("/etc/default/grub",
                  std::string("GRUB_CMDLINE_LINUX=\"cryptdevice=UUID=") + uuid + ":lvm:allow-discards\"\n");
    host.put_file("/etc/crypttab", line("luks,discard", "lvm"));
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda2");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.persisted("lvm"), "on /etc/default/grub:1");
    EXPECT_EQ(it.boot("lvm"), "off /boot/grub/grub.cfg:2");
}

TEST(CryptMapping, DracutWithoutSystemdHasItsOwnWord) {
    MemoryHost host;
    put_grub(host, std::string("rd.luks.uuid=luks-") + uuid + " rd.luks.allow-discards", "/boot/initramfs.img");
    put_image(host, "/boot/initramfs.img", {{"sbin/cryptroot-ask", "#!"}, {"usr/lib/dracut/build-parameter.txt", ""}});
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda2");
    put_luks(host, "/dev/sda2", "version=1\n");
    const Looked it(host);
    EXPECT_EQ(it.boot(std::string("luks-") + uuid), "on /boot/grub/grub.cfg:2");
}

TEST(CryptMapping, RandomKeysAreSeenAndTheirHeaderNeverAskedFor) {
    MemoryHost host;
    host.put_file("/etc/crypttab", "swap /dev/sda3 /dev/urandom swap,plain\n");
    const Looked it(host);
    EXPECT_NE(it.at("swap").random_key.find("/etc/crypttab:1"), std::string::npos);
    EXPECT_NE(it.mappings.header_of(it.at("swap")).none, "");
    EXPECT_EQ(it.mappings.header_of(it.at("swap")).unknown, "") << "a refusal would be said";
}

TEST(CryptMapping, AnOpenMappingThatNoFileNamesIsKnown) {
    MemoryHost host;
    put_disk(host, "sda", "8:0", "1000");
    put_mapping(host, "dm-0", "254:0", "mine", "CRYPT-LUKS2-61717211157533da749b0a49955605c0-mine", "sda", "0",
                "target=crypt\nflags=\n");
    put_luks(host, "/dev/sda", "version=2\nflags=\nuuid=61717211-1575-33da-749b-0a49955605c0\n");
    host.put_file("/proc/self/mountinfo", "25 1 0:5 / / rw - tmpfs none rw\n");
    const Looked it(host);
    ASSERT_NE(it.at("mine").live, nullptr);
    EXPECT_FALSE(it.at("mine").persisted.is_opened);
    EXPECT_EQ(it.persisted("mine"), "off LUKS2 header of /dev/sda");
    EXPECT_EQ(it.boot("mine"), "absent");
}

TEST(CryptMapping, TheHeaderOfAnotherVolumeIsNotTaken) {
    MemoryHost host;
    put_disk(host, "sda", "8:0", "1000");
    put_mapping(host, "dm-0", "254:0", "mine", "CRYPT-LUKS2-61717211157533da749b0a49955605c0-mine", "sda", "0",
                "target=crypt\nflags=\n");
    put_luks(host, "/dev/sda", "version=2\nflags=allow-discards\nuuid=00000000-1575-33da-749b-0a49955605c0\n");
    EXPECT_NE(Looked(host).persisted("mine").find("another volume"), std::string::npos);
    host.refuse({QueryKind::luks, {"/dev/sda"}}, EINVAL);
    EXPECT_NE(Looked(host).persisted("mine").find("detached"), std::string::npos);
}

TEST(CryptMapping, ADetachedHeaderIsWhereItsLineSays) {
    MemoryHost host;
    host.put_file("/etc/crypttab", "a /dev/sda2 none luks,header=/boot/a.luks\nb /dev/sda3 none header=/h:UUID=1b2c\n");
    put_luks(host, "/boot/a.luks", "version=2\nflags=allow-discards\n");
    const Looked it(host);
    EXPECT_EQ(it.persisted("a"), "on LUKS2 header of /boot/a.luks");
    EXPECT_TRUE(it.mappings.header_of(it.at("a")).is_detached);
    EXPECT_NE(it.persisted("b").find("not mounted"), std::string::npos);
}

TEST(CryptMapping, GarbageIsSurvived) {
    EXPECT_TRUE(
        rc::check("any files", [](const std::string& tab, const std::string& arguments, const std::string& facts) {
            MemoryHost host;
            put_systemd(host, tab, tab, arguments + " rd.luks.name=" + arguments);
            put_luks(host, "/dev/sda2", facts);
            const Looked it(host);
            for (const auto& mapping : it.mappings.all()) {
                static_cast<void>(flag_of(mapping.persisted, it.mappings.header_of(mapping), "allow-discards"));
            }
        }));
}

}  // namespace
}  // namespace storpol
