// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "resources/block/udev_outcome.h"

namespace storpol {
namespace {

UdevDevice sda() {
    UdevDevice device;
    device.kernel = "sda";
    device.devpath = "/devices/pci0000:00/ata3/block/sda";
    device.properties_complete = true;
    device.properties = {{"ID_BUS", "ata"}};
    device.attribute = [](std::string_view name) -> std::optional<std::string> {
        if (name == "queue/rotational") return "0";
        if (name == "queue/scheduler") return "[mq-deadline] none";
        return std::nullopt;
    };
    device.parent_attribute = [](std::string_view name) -> std::optional<std::string> {
        if (name == "model") return "Samsung SSD 860 ";
        return std::nullopt;
    };
    return device;
}

UdevOutcome judge(const std::vector<std::pair<std::string, std::string>>& files, const UdevDevice& device = sda()) {
    std::vector<UdevFile> parsed;
    for (const auto& [path, text] : files) parsed.push_back({path, parse_udev_rules(text)});
    return judge_udev_rules(parsed, device, "queue/scheduler", [](std::string_view value) { return value != "noop"; });
}

TEST(UdevOutcome, TheLastRuleThatMatchesWins) {
    const auto outcome = judge({{"/a.rules", "KERNEL==\"sd*\", ATTR{queue/scheduler}=\"none\"\n"},
                                {"/b.rules",
                                 "# b\nACTION==\"add|change\", KERNEL==\"sd[a-z]\", ATTR{queue/rotational}==\"0\", "
                                 "ATTR{queue/scheduler}=\"bfq\"\n"
                                 "KERNEL==\"nvme*\", ATTR{queue/scheduler}=\"kyber\"\n"}});
    EXPECT_EQ(outcome.kind, UdevOutcome::Kind::set);
    EXPECT_EQ(outcome.value, "bfq");
    EXPECT_EQ(outcome.source, "/b.rules:2");
    EXPECT_EQ(outcome.shadows, std::vector<std::string>{"/a.rules:1"});
}

TEST(UdevOutcome, NothingThatMatchesIsUnset) {
    EXPECT_EQ(judge({{"/a.rules",
                      "KERNEL==\"vd*\", ATTR{queue/scheduler}=\"none\"\nATTR{queue/scheduler}==\"x\", ENV{a}=\"b\"\n"}})
                  .kind,
              UdevOutcome::Kind::unset);
}

TEST(UdevOutcome, ARuleForRemovalSetsNothing) {
    EXPECT_EQ(judge({{"/a.rules", "ACTION==\"remove\", ATTR{queue/scheduler}=\"none\"\n"}}).kind,
              UdevOutcome::Kind::unset);
}

TEST(UdevOutcome, GotoSkipsToItsLabelInTheSameFile) {
    EXPECT_EQ(judge({{"/a.rules",
                      "KERNEL!=\"nvme*\", "
                      "GOTO=\"end\"\nATTR{queue/scheduler}=\"none\"\nLABEL=\"end\"\nATTR{queue/scheduler}=\"bfq\"\n"}})
                  .source,
              "/a.rules:4");
    EXPECT_EQ(judge({{"/a.rules", "GOTO=\"nowhere\"\nATTR{queue/scheduler}=\"none\"\n"},
                     {"/b.rules", "ATTR{queue/scheduler}=\"bfq\"\n"}})
                  .source,
              "/b.rules:1");
}

TEST(UdevOutcome, WhatCannotBeJudgedIsUnknownWithItsPlace) {
    for (const std::string rule :
         {"PROGRAM==\"/bin/x\", ATTR{queue/scheduler}=\"bfq\"",
          "IMPORT{program}==\"/bin/x\", ATTR{queue/scheduler}=\"bfq\"", "ATTR{queue/scheduler}=\"$env{elevator}\"",
          "RUN+=\"/bin/sh -c 'echo bfq > /sys/block/%k/queue/scheduler'\"",
          "ATTRS{idVendor}==\"1234\", ATTR{queue/scheduler}=\"bfq\"", "TAGS==\"x\", ATTR{queue/scheduler}=\"bfq\""}) {
        const auto outcome = judge({{"/a.rules", "ATTR{queue/scheduler}=\"none\"\n" + rule + "\n"}});
        EXPECT_EQ(outcome.kind, UdevOutcome::Kind::unknown) << rule;
        EXPECT_EQ(outcome.source, "/a.rules:2") << rule;
    }
}

TEST(UdevOutcome, ALaterPlainRuleMakesADoubtfulOneIrrelevant) {
    EXPECT_EQ(
        judge({{"/a.rules", "PROGRAM==\"/bin/x\", ATTR{queue/scheduler}=\"bfq\"\nATTR{queue/scheduler}=\"none\"\n"}})
            .value,
        "none");
}

TEST(UdevOutcome, PropertiesComeFromTheDatabaseAndFromEarlierRules) {
    EXPECT_EQ(
        judge({{"/a.rules", "ENV{ID_BUS}==\"ata\", ENV{ssd}=\"1\"\nENV{ssd}==\"1\", ATTR{queue/scheduler}=\"bfq\"\n"}})
            .value,
        "bfq");
    EXPECT_EQ(judge({{"/a.rules", "ENV{NOT_THERE}==\"?*\", ATTR{queue/scheduler}=\"bfq\"\n"}}).kind,
              UdevOutcome::Kind::unset);
    auto device = sda();
    device.properties_complete = false;
    EXPECT_EQ(judge({{"/a.rules", "ENV{NOT_THERE}==\"?*\", ATTR{queue/scheduler}=\"bfq\"\n"}}, device).kind,
              UdevOutcome::Kind::unknown);
}

TEST(UdevOutcome, ModelsAreComparedWithoutTheirPadding) {
    EXPECT_EQ(judge({{"/a.rules", "ATTRS{model}==\"Samsung SSD*860\", ATTR{queue/scheduler}=\"bfq\"\n"}}).value, "bfq");
}

TEST(UdevOutcome, AValueTheKernelRefusesSetsNothing) {
    const auto outcome = judge({{"/a.rules", "ATTR{queue/scheduler}=\"none\"\nATTR{queue/scheduler}=\"noop\"\n"}});
    EXPECT_EQ(outcome.value, "none");
    EXPECT_EQ(outcome.without_effect, std::vector<std::string>{"/a.rules:2"});
}

TEST(UdevOutcome, AnyRulesAreSurvived) {
    EXPECT_TRUE(rc::check("no crash", [] {
        const auto text =
            *rc::gen::container<std::string>(rc::gen::elementOf(std::string("KERNELATTR{}=!+\"sd*|,\\ \nGOTO LABEL")));
        judge({{"/a.rules", text}});
    }));
}

}  // namespace
}  // namespace storpol
