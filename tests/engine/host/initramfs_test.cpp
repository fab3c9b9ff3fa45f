// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/initramfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "engine/base/handle.h"
#include "engine/host/host.h"
#include "engine/host/program.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

constexpr const char* wanted = "cryptroot/crypttab";

std::string pad(std::string text) {
    text.resize((text.size() + 3) / 4 * 4, '\0');
    return text;
}

// One file of a newc archive. `size` of the header alone, where it is to lie.
std::string entry(const std::string& name,
                  const std::string& data,
                  unsigned mode = 0100644,
                  unsigned links = 1,
                  unsigned inode = 7,
                  long size = -1) {
    std::array<char, 128> header{};
    std::snprintf(header.data(), header.size(), "070701%08X%08X%08X%08X%08X%08X%08lX%08X%08X%08X%08X%08X%08X", inode,
                  mode, 0U, 0U, links, 0U, size < 0 ? static_cast<long>(data.size()) : size, 0U, 0U, 0U, 0U,
                  static_cast<unsigned>(name.size() + 1), 0U);
    return pad(header.data() + name + '\0') + pad(data);
}

const std::string trailer = entry("TRAILER!!!", "", 0);

std::string archive(const std::string& text) {
    return entry("etc", "", 040755, 2) + entry(wanted, text) + entry("etc/other", std::string(70000, 'x')) + trailer;
}

std::string find(const std::string& image, const std::string& name = wanted) {
    const auto found = image_member_of(image, name);
    return found ? *found : errno_name(found.error().code);
}

TEST(Initramfs, FindsAFileUnderEachSpelling) {
    EXPECT_EQ(find(archive("text\n")), "text\n");
    EXPECT_EQ(find(archive("text\n"), "/cryptroot/crypttab"), "text\n");
    EXPECT_EQ(find(entry("./cryptroot/crypttab", "dot") + trailer), "dot");
    EXPECT_EQ(find(archive("text\n"), "etc/fstab"), "ENOENT");
    EXPECT_EQ(find(entry(wanted, "") + trailer), "");
}

TEST(Initramfs, TheLastArchiveThatHasTheFileWins) {
    const auto zeros = std::string(512, '\0');
    EXPECT_EQ(find(archive("one") + zeros + archive("two")), "two");
    EXPECT_EQ(find(archive("one") + entry("a", "b") + trailer), "one");
    EXPECT_EQ(find(archive("one") + entry(wanted, "", 040755) + trailer), "ENOENT");
}

TEST(Initramfs, ALinkedFileHasTheDataOfItsLastName) {
    EXPECT_EQ(find(entry(wanted, "", 0100644, 2, 5) + entry("b", "late", 0100644, 2, 5) + trailer), "late");
    EXPECT_EQ(find(entry(wanted, "", 0100644, 2, 5) + trailer + entry("b", "late", 0100644, 2, 5) + trailer), "");
}

// All at once is what each would be by itself.
TEST(Initramfs, OnePassHasAllFiles) {
    const auto image = archive("one") + entry("secret.key", "k") + entry("gone", "here") + trailer + archive("two") +
                       entry("gone", "", 040755) + entry("a", "", 0100644, 2, 5) + entry("b", "late", 0100644, 2, 5) +
                       trailer;
    const TempTree tree;
    tree.write("/image", image);
    const Fd fd(open((tree.path() + "/image").c_str(), O_RDONLY | O_CLOEXEC));
    const auto files = image_files_of(fd.get(), [](std::string_view name) { return !name.ends_with(".key"); });
    ASSERT_TRUE(files.has_value());
    EXPECT_EQ(files->size(), 5U);
    EXPECT_EQ(files->at(wanted), "two");
    EXPECT_EQ(files->at("a"), "late");
    EXPECT_EQ(files->at("b"), "late");
    EXPECT_EQ(files->at("secret.key"), std::nullopt) << "there, and not kept";
    EXPECT_EQ(files->at("etc/other"), std::nullopt) << "too large to keep";
    EXPECT_FALSE(files->contains("gone")) << "a folder now";
}

TEST(Initramfs, DamageIsNoEmptyAnswer) {
    const auto whole = archive("text");
    EXPECT_EQ(find(whole.substr(0, 300)), "EINVAL");
    EXPECT_EQ(find("070701zz" + whole.substr(8)), "EINVAL");
    EXPECT_EQ(find("no image at all"), "EINVAL");
    EXPECT_EQ(find(""), "ENOENT");
    EXPECT_EQ(find("BZh91AY"), "EOPNOTSUPP");
    EXPECT_EQ(find("MZ kernel image"), "EOPNOTSUPP");
}

TEST(Initramfs, HostileSizesAreBounded) {
    EXPECT_EQ(find(entry(wanted, "x", 0100644, 1, 7, 0x7fffffff)), "EFBIG");
    EXPECT_EQ(find(entry("other", "x", 0100644, 1, 7, 0xffffffff)), "EINVAL");
    EXPECT_EQ(find(entry(wanted, std::string((1 << 20) + 1, 'x')) + trailer), "EFBIG");
    EXPECT_EQ(find(entry(wanted, std::string(1 << 20, 'x')) + trailer).size(), 1U << 20);
    EXPECT_EQ(find(entry(std::string(5000, 'n'), "x") + archive("text")), "text");
}

TEST(Initramfs, AnEndlessOrSlowImageEnds) {
    const auto endless = [](char* into, std::size_t size) {
        std::fill_n(into, size, '\0');
        return static_cast<ssize_t>(size);
    };
    ImageLimits limits;
    limits.unpacked = 64 << 20;
    EXPECT_EQ(read_image_member(endless, wanted, limits).error().code, EFBIG);
    limits.unpacked = UINT64_MAX;
    limits.time = std::chrono::milliseconds(20);
    EXPECT_EQ(read_image_member(endless, wanted, limits).error().code, ETIMEDOUT);
    const auto broken = [](char*, std::size_t) { return static_cast<ssize_t>(-EIO); };
    EXPECT_EQ(read_image_member(broken, wanted).error().code, EIO);
}

TEST(Initramfs, PiecesOfAnySizeReadTheSame) {
    EXPECT_TRUE(rc::check("one image in pieces", [] {
        const auto image =
            entry("a", "1") + archive("text") + std::string(*rc::gen::inRange<std::size_t>(0, 9) * 4, '\0');
        std::string_view rest(image);
        const auto in_pieces = [&](char* into, std::size_t size) {
            const auto taken = std::min({size, rest.size(), static_cast<std::size_t>(*rc::gen::inRange(1, 3000))});
            std::copy_n(rest.data(), taken, into);
            rest.remove_prefix(taken);
            return static_cast<ssize_t>(taken);
        };
        RC_ASSERT(read_image_member(in_pieces, wanted).value_or("") == "text");
    }));
}

struct Packer {
    const char* name;
    std::vector<std::string> command;  // the file's path is added; it writes to standard output
};

class Compressed : public testing::TestWithParam<Packer> {
  protected:
    void SetUp() override {
        if (access(GetParam().command.front().c_str(), X_OK) != 0)
            GTEST_SKIP() << GetParam().name << " is not installed";
    }

    std::string pack(const std::string& bytes) {
        tree_.write("/in", bytes);
        Program program{GetParam().command, std::chrono::seconds(60), 64 << 20};
        program.arguments.push_back(tree_.at("/in"));
        const auto outcome = run_program(program);
        EXPECT_TRUE(outcome && outcome->exit_code == 0) << (outcome ? last_lines(*outcome) : to_text(outcome.error()));
        return outcome ? outcome->output : std::string();
    }

    TempTree tree_;
};

TEST_P(Compressed, IsReadBehindAnEarlyArchive) {
    const auto early = entry("kernel/x86/microcode/GenuineIntel.bin", std::string(3000, 'm')) + trailer;
    const auto image = early + std::string((512 - early.size() % 512) % 512, '\0') + pack(archive("packed"));
    EXPECT_EQ(find(image), "packed");
    EXPECT_EQ(find(image, "kernel/x86/microcode/GenuineIntel.bin").size(), 3000U);
    EXPECT_EQ(find(image, "etc/fstab"), "ENOENT");
}

// As a boot from such an image did (an appended archive replaced cryptroot/crypttab).
TEST_P(Compressed, AnArchiveBehindItOverrides) {
    auto image = pack(archive("packed"));
    image.resize((image.size() + 3) / 4 * 4, '\0');
    EXPECT_EQ(find(image + archive("appended")), "appended");
    EXPECT_EQ(find(image + pack(archive("again"))), "again");
    EXPECT_EQ(find(pack(archive("one") + archive("two"))), "two");
}

TEST_P(Compressed, OneThatIsCutShortIsDamaged) {
    std::string noise(200000, '\0');
    unsigned state = 1;
    for (auto& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    const auto whole = pack(archive("packed") + entry("noise", noise) + trailer);
    EXPECT_EQ(find(whole), "packed");
    for (const auto part : {2U, 3U, 5U}) EXPECT_EQ(find(whole.substr(0, whole.size() / part)), "EINVAL") << part;
    auto damaged = whole;
    for (std::size_t i = 0; i < 64; ++i) damaged[damaged.size() / 2 + i] = '\x55';
    const auto answer = find(damaged);
    EXPECT_TRUE(answer == "EINVAL" || answer == "packed") << answer;
    EXPECT_EQ(find(pack("something else")), "EINVAL");
}

INSTANTIATE_TEST_SUITE_P(Initramfs,
                         Compressed,
                         testing::Values(Packer{"gzip", {"/usr/bin/gzip", "-c"}},
                                         Packer{"zstd", {"/usr/bin/zstd", "-q", "-19", "-c"}},
                                         Packer{"xz", {"/usr/bin/xz", "--check=crc32", "-c"}},
                                         Packer{"lzma", {"/usr/bin/xz", "--format=lzma", "-c"}},
                                         Packer{"lz4", {"/usr/bin/lz4", "-l", "-c", "-q"}}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(Initramfs, IsAskedOfTheMachineAndOfATree) {
    TempTree tree;
    tree.write("/boot/initrd.img-6.1", archive("text"));
    tree.link("/initrd.img", "boot/initrd.img-6.1");
    auto live = make_live_host();
    EXPECT_EQ(*live->image_member(tree.at("/initrd.img"), wanted), "text");
    auto root = make_root_host(tree.path());
    ASSERT_TRUE(root.has_value());
    EXPECT_EQ(*(*root)->image_member("/initrd.img", wanted), "text");
    EXPECT_EQ((*root)->image_member("/initrd.img", "etc/none").error().code, ENOENT);
    EXPECT_EQ((*root)->image_member("/none", wanted).error().code, ENOENT);
    EXPECT_EQ((*root)->image_member("/boot", wanted).error().code, EISDIR);
    EXPECT_EQ((*root)->image_member("/initrd.img", "cryptroot/keyfiles/root.key").error().code, EPERM);
    ASSERT_EQ(mkfifo(tree.at("/boot/fifo").c_str(), 0600), 0);
    EXPECT_EQ(live->image_member(tree.at("/boot/fifo"), wanted).error().code, EINVAL);
}

}  // namespace
}  // namespace storpol
