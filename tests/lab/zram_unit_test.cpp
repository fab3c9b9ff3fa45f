// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the unit that storpol writes where nothing else sets up zram, run as the service manager would, on a
// device of its own. Swap is the whole machine's, so only with STORPOL_LAB=1.
#include <sys/swap.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "engine/base/text.h"
#include "engine/host/swaps.h"
#include "engine/text/unit_file.h"
#include "tests/lab/lab.h"
#include "tests/support/zram_turn.h"

namespace storpol::lab {
namespace {

class ZramUnitLab : public Lab {
  protected:
    void SetUp() override {
        if (!may_change_the_machine()) GTEST_SKIP() << "swap is the whole machine's: STORPOL_LAB=1";
        Lab::SetUp();
        if (IsSkipped()) return;
        for (const char* program : {"/sbin/zramctl", "/sbin/mkswap", "/sbin/swapon", "/sbin/swapoff"}) {
            if (access(program, X_OK) != 0) GTEST_SKIP() << program << " is not installed";
        }
        turn_.emplace();
        const auto number = read_text("/sys/class/zram-control/hot_add");  // reading it makes a device
        if (number.empty()) GTEST_SKIP() << "no zram here";
        number_ = std::string(trim(number));
    }

    void TearDown() override {
        if (number_.empty()) return;
        swapoff(device().c_str());
        for (int tries = 0; tries < 30; ++tries) {
            if (write_text("/sys/class/zram-control/hot_remove", number_)) return;
            usleep(100000);
        }
        ADD_FAILURE() << device() << " could not be removed";
    }

    std::string device() const { return "/dev/zram" + number_; }

    // The unit's lines after an apply of this policy to an image.
    UnitFile unit_for(const std::string& policy) {
        const std::string root = "/etc/image";
        run({"/usr/bin/mkdir", "-p", root + "/etc/systemd/system"});
        EXPECT_TRUE(write_text("/etc/zram.toml", "version = 1\n[zram]\n" + policy));
        const Ran apply = storpol({"apply", "--yes", "--root", root, "/etc/zram.toml"});
        EXPECT_EQ(apply.code, 0) << apply.all();
        EXPECT_FALSE(names_in(root + "/etc/systemd/system/swap.target.wants").empty());
        return parse_unit_file(read_text(root + "/etc/systemd/system/storpol-zram0.service"));
    }

    // Each command with the variables of the environment as systemd puts them in; modprobe has done its work.
    void run_all(const UnitFile& unit, const std::string& key) const {
        std::map<std::string, std::string> environment;
        for (const auto& line : unit.assignments) {
            if (line.key != "Environment") continue;
            const auto equals = line.value.find('=');
            environment[line.value.substr(0, equals)] = line.value.substr(equals + 1);
        }
        for (const auto* line : list_assignments(unit.assignments, "Service", key)) {
            std::vector<std::string> words;
            for (const auto word : split_words(line->value)) {
                std::string text(word);
                if (text.starts_with("${")) {
                    text = environment[text.substr(2, text.size() - 3)];
                } else if (text.starts_with('$')) {
                    text = environment[text.substr(1)];
                }
                if (text == "/dev/zram0") text = device();
                if (!text.empty()) words.push_back(text);
            }
            if (words.front() == "-/sbin/modprobe") continue;
            const Ran ran = run(words);
            EXPECT_EQ(ran.code, 0) << line->value << ": " << ran.all();
        }
    }

    std::optional<SwapArea> area() const {
        const auto areas = parse_swaps(read_text("/proc/swaps"));
        const auto* found = find_swap(areas, device());
        return found == nullptr ? std::nullopt : std::optional<SwapArea>(*found);
    }

    std::optional<ZramTurn> turn_;
    std::string number_;
};

TEST_F(ZramUnitLab, StartsStopsAndStartsWithOtherValues) {
    const auto first = unit_for("size = \"64MiB\"\nalgorithm = \"lzo\"\npriority = 7\ndiscard = \"on\"\n");
    run_all(first, "ExecStart");
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 7);
    EXPECT_EQ(area()->size_kib, 65532);
    EXPECT_NE(read_text("/sys/block/zram" + number_ + "/comp_algorithm").find("[lzo]"), std::string::npos);
    run_all(first, "ExecStop");
    EXPECT_FALSE(area());
    ASSERT_EQ(access(device().c_str(), F_OK), 0) << "it can be started again";
    const auto second = unit_for("size = \"32MiB\"\nalgorithm = \"lzo-rle\"\npriority = 8\ndiscard = \"off\"\n");
    run_all(second, "ExecStart");
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 8);
    EXPECT_EQ(area()->size_kib, 32764);
    EXPECT_NE(read_text("/sys/block/zram" + number_ + "/comp_algorithm").find("[lzo-rle]"), std::string::npos);
    run_all(second, "ExecStop");
}

}  // namespace
}  // namespace storpol::lab
