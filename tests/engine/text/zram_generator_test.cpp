// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_generator.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/zram_oracle.h"

namespace storpol {
namespace {

constexpr const char* main_file = "/etc/systemd/zram-generator.conf";

ZramGeneratorInput input_of(std::string text, std::string version = "1.2.1-2", std::string command_line = {}) {
    ZramGeneratorInput input;
    input.files = {{main_file, std::move(text)}};
    input.memory_kib = 8192000;  // 8000 MiB
    input.kernel_command_line = std::move(command_line);
    input.version = std::move(version);
    return input;
}

ZramGeneratorConfig read(std::string text, std::string version = "1.2.1-2") {
    return read_zram_generator(input_of(std::move(text), std::move(version)));
}

constexpr std::int64_t mib = std::int64_t{1} << 20U;

TEST(ZramGenerator, EmptySectionHasDefaults) {
    const auto config = read("# as Debian 13 ships it\n[zram0]\n");
    const auto& made = config.devices.at("zram0");
    EXPECT_EQ(config.why_not_made("zram0"), "");
    EXPECT_EQ(made.size.bytes, 4000 * mib);
    EXPECT_EQ(made.resident_limit.bytes, 0);
    EXPECT_EQ(made.priority, 100);
    EXPECT_EQ(made.options, "discard");
    EXPECT_EQ(made.algorithm, "");
    EXPECT_TRUE(made.is_swap());
    EXPECT_EQ(made.section->where(), "/etc/systemd/zram-generator.conf:2");
    EXPECT_NE(config.why_not_made("zram1"), "");
}

TEST(ZramGenerator, LastLineWinsOverAllFilesAndNamesWhatItHides) {
    auto input = input_of("[zram0]\nzram-size = ram\nswap-priority = 5\nswap-priority = 6\n");
    input.files.push_back({"/usr/lib/systemd/zram-generator.conf.d/10-a.conf", "[zram0]\nzram-size = ram / 4\n"});
    input.files.push_back({"/etc/systemd/zram-generator.conf.d/50-b.conf", "[zram0]\n\nzram-size = 1024\n"});
    const auto config = read_zram_generator(input);
    const auto& size = *config.devices.at("zram0").find("zram-size");
    EXPECT_EQ(config.devices.at("zram0").size.bytes, 1024 * mib);
    EXPECT_EQ(size.place.where(), "/etc/systemd/zram-generator.conf.d/50-b.conf:3");
    ASSERT_EQ(size.shadows.size(), 2U);
    EXPECT_EQ(size.shadows[0].where(), "/usr/lib/systemd/zram-generator.conf.d/10-a.conf:2");
    EXPECT_EQ(size.shadows[1].where(), "/etc/systemd/zram-generator.conf:2");
    EXPECT_EQ(config.devices.at("zram0").priority, 6);
}

TEST(ZramGenerator, AnyBadValueStopsAllOfIt) {
    for (const char* bad :
         {"zram-size = foo(", "zram-size = 10 # comment", "zram-size =", "zram-size = -1", "zram-size = 0/0",
          "zram-size = e", "swap-priority = 40000", "swap-priority = x", "host-memory-limit = -1", "mount-point = tmp",
          "mount-point = /a/../b", "writeback-device = sda", "zram-fraction = -1", "zram-fraction = x",
          "max-zram-size = 1.5", " # an indented comment", "junk", "= 5", "options = \"open"}) {
        const auto config = read(std::string("[zram1]\n[zram0]\n") + bad + "\n");
        ASSERT_TRUE(config.stop) << bad;
        EXPECT_EQ(config.stop->place.line, 3) << bad;
        EXPECT_NE(config.why_not_made("zram1").find("gives up at /etc/systemd/zram-generator.conf:3"),
                  std::string::npos);
    }
    EXPECT_TRUE(read("[zram0]\nzram-size = foo(\nzram-size = 10\n").stop) << "a later line does not help";
    EXPECT_FALSE(read("[zram0]\nzram-size = -1\nzram-size = 10\n").stop) << "here it does";
    EXPECT_FALSE(read("[zram0]\nhost-memory-limit = 10\nzram-size = -1\n").stop) << "never computed";
    EXPECT_TRUE(read("[zram0]\n# caf\xe9\n").stop) << "not UTF-8";
    EXPECT_TRUE(read("[zram0]\nmount-point=/a\n[zram1]\nmount-point=/a/.\n").stop) << "one unit for two";
}

TEST(ZramGenerator, ReaderIsNotSystemds) {
    EXPECT_EQ(read("[zram0]\nzram-size: \"10\" \n").devices.at("zram0").size.bytes, 10 * mib);
    EXPECT_EQ(read("\xef\xbb\xbf[zram0]\r\nzram-size = '10'\r\n").devices.at("zram0").size.bytes, 10 * mib);
    EXPECT_EQ(read("[zram0]\nzram-size = 10\\\n+5\n").devices.at("zram0").size.bytes, 15 * mib);
    EXPECT_EQ(read("[zram0]\nfoo\nzram-size = bar(\n").devices.at("zram0").size.bytes, 4000 * mib)
        << "a line without = takes the next along";
    EXPECT_EQ(read("[zram0]\nZram-Size = bar(\n").warnings.size(), 1U);
    EXPECT_EQ(read("[ zram0 ][zram1] x=\n").devices.size(), 2U);
    EXPECT_EQ(read("[Zram0]\n[zramX]\n[zram]\n").devices.size(), 0U);
    EXPECT_EQ(read("[zram0]\noptions =\n").devices.at("zram0").options, "");
}

TEST(ZramGenerator, ObsoleteKeysTakeThePlaceOfTheSize) {
    const auto config = read("[zram0]\nzram-fraction = 0.10\nmax-zram-size = 2048\nzram-size = ram\n");
    const auto& made = config.devices.at("zram0");
    EXPECT_EQ(made.size.bytes, 800 * mib);
    EXPECT_EQ(made.size_key()->place.line, 2);
    EXPECT_EQ(read("[zram0]\nmax-zram-size = 100\n").devices.at("zram0").size.bytes, 100 * mib);
    EXPECT_EQ(read("[zram0]\nmax-zram-size = none\n").devices.at("zram0").size.bytes, 4000 * mib);
    EXPECT_EQ(read("[zram0]\nzram-fraction = inf\nmax-zram-size = 5\n").devices.at("zram0").size.bytes, 5 * mib);
}

TEST(ZramGenerator, DevicesThatAreNotMade) {
    EXPECT_NE(read("[zram0]\nmemory-limit = 7999\n").why_not_made("zram0").find("memory-limit = 7999 at"),
              std::string::npos);
    EXPECT_EQ(read("[zram0]\nhost-memory-limit = 8000\n").why_not_made("zram0"), "");
    EXPECT_NE(read("[zram0]\nzram-size = 0\n").why_not_made("zram0"), "");
    EXPECT_NE(read("[zram0]\nfs-type = ext4\n").why_not_made("zram0"), "");
    EXPECT_EQ(read("[zram0]\nfs-type = ext4\nmount-point = /a//./b/\n").devices.at("zram0").mount_point, "/a/b");
    EXPECT_EQ(read("[zram0]\nmount-point = /a\n").devices.at("zram0").fs_type, "ext2");
}

TEST(ZramGenerator, KernelCommandLineSwitches) {
    EXPECT_NE(read_zram_generator(input_of("[zram0]\n", "1.2.1", "quiet systemd.zram=0")).why_not_made("zram0"), "");
    EXPECT_EQ(read_zram_generator(input_of("", "1.2.1", "systemd.zram=0 systemd.zram")).why_not_made("zram0"), "");
    EXPECT_EQ(read_zram_generator(input_of("", "1.2.1", "systemd.zram=maybe")).kernel_switch, std::nullopt);
}

TEST(ZramGenerator, LevelsNeedTheVersionThatHasThem) {
    const std::string text = "[zram0]\ncompression-algorithm = zstd(level=1,dict=/x) lz4 (type=idle)\n";
    EXPECT_EQ(read(text, "1.2.1-2").devices.at("zram0").algorithm, "zstd");
    EXPECT_EQ(read(text, "1.2.1-2").devices.at("zram0").level, 1);
    const auto old = read(text, "1.1.2-2+b2");
    EXPECT_EQ(old.devices.at("zram0").algorithm, "zstd(level=1,dict=/x) lz4 (type=idle)") << "no kernel knows that";
    EXPECT_EQ(old.devices.at("zram0").level, std::nullopt);
    EXPECT_NE(read(text, "").devices.at("zram0").algorithm_unknown, "");
    EXPECT_EQ(read("[zram0]\ncompression-algorithm = zstd\n", "").devices.at("zram0").algorithm, "zstd");
    EXPECT_EQ(zram_generator_has_levels("1.2.0"), true);
    EXPECT_EQ(zram_generator_has_levels("2:1.10.0-1"), true);
    EXPECT_EQ(zram_generator_has_levels("1.1.2-2+b2"), false);
    EXPECT_EQ(zram_generator_has_levels("unknown"), std::nullopt);
}

TEST(ZramGenerator, ResidentLimitNeedsItToo) {
    const std::string text = "[zram0]\nzram-resident-limit = ram / 8\n";
    EXPECT_EQ(read(text).devices.at("zram0").resident_limit.bytes, 1000 * mib);
    EXPECT_EQ(read(text, "1.1.2").devices.at("zram0").resident_limit.bytes, 0);
    EXPECT_EQ(read(text, "1.1.2").warnings.size(), 1U);
    EXPECT_EQ(read(text, "").devices.at("zram0").resident_limit.bytes, std::nullopt);
}

TEST(ZramGenerator, WhatAProgramPrintsIsNotKnown) {
    const std::string text = "set!hotplug = xenstore-read x\n[zram0]\nzram-size = hotplug / 2\n[zram1]\n";
    const auto config = read(text);
    EXPECT_FALSE(config.stop);
    EXPECT_EQ(config.devices.at("zram0").size.bytes, std::nullopt);
    EXPECT_NE(config.devices.at("zram0").size.unknown.find(":1 prints"), std::string::npos);
    EXPECT_EQ(config.devices.at("zram1").size.bytes, 4000 * mib);
    EXPECT_TRUE(read(text, "1.1.2").stop) << "no variable there";
    EXPECT_TRUE(read("[zram0]\nzram-size = hotplug\n").stop);
}

TEST(ZramGenerator, EightGIsSaidToBeTooMuch) {
    const auto config = read("[zram0]\nzram-size = 8G\n");
    EXPECT_FALSE(config.stop);
    ASSERT_EQ(config.warnings.size(), 1U);
    EXPECT_NE(config.warnings[0].why.find("8000000000 MiB"), std::string::npos);
    EXPECT_EQ(read("[zram0]\nzram-size = 8192\n").warnings.size(), 0U);
}

TEST(ZramGenerator, RenderedSizesReadBack) {
    EXPECT_EQ(render_zram_percent(50), "ram * 0.5");
    EXPECT_EQ(render_zram_percent(5), "ram * 0.05");
    EXPECT_EQ(render_zram_percent(100), "ram");
    EXPECT_EQ(render_zram_percent(150), "ram * 1.5");
    EXPECT_EQ(render_zram_percent(200), "ram * 2");
    EXPECT_TRUE(rc::check("percent and bytes", [] {
        const auto percent = *rc::gen::inRange(1, 1000);
        const auto by_percent = read("[zram0]\nzram-size = " + render_zram_percent(percent) + "\n");
        RC_ASSERT(std::abs(*by_percent.devices.at("zram0").size.bytes - 8000 * mib / 100 * percent) <= 1);
        const auto bytes = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 45U);
        const auto by_bytes = read("[zram0]\nzram-size = " + render_zram_mib(bytes) + "\n");
        RC_ASSERT(by_bytes.devices.at("zram0").size.bytes == bytes);
    }));
}

// One line of a configuration, mostly good.
std::string line_of() {
    return *rc::gen::element<std::string>(
        "[zram0]", "[zram0]", "[zram1]", "[ zram0 ]", "[zram01]", "[zram+2]", "[other]", "zram-size = 0",
        "zram-size = ram / 2", "zram-size=10", "zram-size = min(ram, 4096)", "host-memory-limit = 100",
        "memory-limit = none", "host-memory-limit = 8000", "swap-priority = 7", "swap-priority = -1",
        "swap-priority = +12", "swap-priority = \"3\"", "options =", "options = discard=once", "options = 'a,b' ",
        "fs-type = ext4", "fs-type = swap", "mount-point = /a", "mount-point = /a/./b/", "zram-fraction = 0.5",
        "zram-fraction = 0", "max-zram-size = none", "max-zram-size = 0", "max-zram-size = 5", "# comment",
        "; comment = 5", "", " ", "options = x\\", "unknown = 5", "swap-priority: 5", "\tswap-priority = 9",
        "writeback-device = /dev/sda", "zram-resident-limit = 5", "options = # no comment", "options = a\\x0041b");
}

std::string text_of_lines() {
    std::string text;
    const auto count = *rc::gen::inRange(0, 12);
    for (int at = 0; at < count; ++at) {
        const bool bad = *rc::gen::inRange(0, 40) == 0;
        text += bad ? *rc::gen::element<std::string>("junk", "swap-priority = 40000", "zram-size = foo(", " # comment",
                                                     "zram-size = -1", "mount-point = a", "options = \"x", "= 5",
                                                     "zram-fraction = -1", "options = \\x00", "[zram0")
                    : line_of();
        text += *rc::gen::element<std::string>("\n", "\n", "\n", "\r\n");
    }
    return text;
}

std::string value_in(const std::string& unit, const std::string& key) {
    const auto at = unit.find("\n" + key + "=");
    if (at == std::string::npos) return {};
    const auto begin = at + key.size() + 2;
    return unit.substr(begin, unit.find('\n', begin) - begin);
}

TEST(ZramGenerator, AgreesWithTheRealOne) {
    if (ZramOracle::program().empty()) GTEST_SKIP() << ZramOracle::why_skipped;
    ZramOracle oracle;
    const auto version = oracle.version();
    EXPECT_TRUE(rc::check("units, priorities and options", [&oracle, &version] {
        const std::string drop_in = "/etc/systemd/zram-generator.conf.d/50-x.conf";
        const auto first = text_of_lines();
        const auto second = text_of_lines();
        const auto command_line = *rc::gen::element<std::string>("quiet", "", "systemd.zram", "systemd.zram=off");
        const auto real = oracle.ask({{main_file, first}, {drop_in, second}}, 8192000, command_line);
        auto input = input_of(first, version, command_line);
        input.files.push_back({drop_in, second});
        const auto ours = read_zram_generator(input);
        if (ours.kernel_switch != false) RC_ASSERT((real.exit_code != 0) == ours.stop.has_value());
        if (ours.stop) return;  // whatever was written until then
        std::map<std::string, std::string> expected;
        for (const auto& [name, made] : ours.devices) {
            if (!ours.why_not_made(name).empty()) continue;
            const bool is_swap = made.is_swap();
            if (is_swap) {
                RC_ASSERT(real.units.count("dev-" + name + ".swap") == 1U);
                const auto& unit = real.units.at("dev-" + name + ".swap");
                RC_ASSERT(value_in(unit, "Priority") == std::to_string(made.priority));
                RC_ASSERT(value_in(unit, "Options") == made.options);
                expected["dev-" + name + ".swap"] = name;
            } else {
                bool found = false;
                for (const auto& [file, unit] : real.units) {
                    found = found || value_in(unit, "Where") == made.mount_point;
                    if (value_in(unit, "Where") == made.mount_point) expected[file] = name;
                }
                RC_ASSERT(found);
            }
        }
        RC_ASSERT(expected.size() == real.units.size());
    }));
}

TEST(ZramGenerator, RealFilesMeanWhatTheRealOneMakesOfThem) {
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED is not set";
    const bool has_oracle = !ZramOracle::program().empty();
    ZramOracle oracle;
    const auto version = has_oracle ? oracle.version() : "1.2.1";
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(shared) / "corpus/zram")) {
        std::ostringstream bytes;
        bytes << std::ifstream(entry.path()).rdbuf();
        const auto text = bytes.str();
        if (text.find("[zram") == std::string::npos || text.find("set!") != std::string::npos) continue;
        ++seen;
        for (const unsigned long memory : {1000000UL, 8192000UL, 66000000UL}) {
            auto input = input_of(text, version);
            input.memory_kib = memory;
            const auto config = read_zram_generator(input);
            EXPECT_FALSE(config.stop) << entry.path() << ": " << config.stop->why;
            if (!has_oracle) continue;
            const auto real = oracle.ask({{main_file, text}}, memory);
            EXPECT_EQ(real.exit_code != 0, config.stop.has_value()) << entry.path();
            std::size_t made = 0;
            for (const auto& [name, device] : config.devices) made += config.why_not_made(name).empty() ? 1 : 0;
            EXPECT_EQ(real.units.size(), made) << entry.path() << " with " << memory;
        }
    }
    EXPECT_GE(seen, 10);
}

TEST(ZramGenerator, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& first, const std::string& second) {
        auto input = input_of("[zram0]\n" + first);
        input.files.push_back({"/x", second});
        (void)read_zram_generator(input).why_not_made("zram0");
    }));
}

}  // namespace
}  // namespace storpol
