// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/policy/made_up.h"

namespace storpol::made_up {
namespace {

const PolicyNode* find(const Policy& policy, std::string_view table, std::string_view name) {
    const PolicyNode* node = policy.find(table);
    return node && node->table() ? node->table()->find(name) : nullptr;
}

TEST(LoadPolicy, ValuesCarryTextNumberAndPlace) {
    const Loaded loaded = load_text(
        "[fstrim]\nenabled = true\nschedule = 'daily'\nboot-delay = \"5ms\"\nnice = 0x1_0\nmin-extent = "
        "\"1MiB\"\nsince = 2027-03-01\n"
        "[zram]\nsize = \"50%\"\nzram1.size = 4096\n[sysctl]\na = \"150\"\nb = \"1 2\"\nc = 7\n");
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(outline(loaded.policy.root()),
              "{fstrim={boot-delay=5ms#5000;enabled=true!true;min-extent=1MiB#1048576;nice=16#16;schedule=daily;since="
              "2027-03-01;};"
              "sysctl={a=150#150;b=1 2;c=7#7;};zram={size=50%#50;zram1={size=4096#4096;};};}");
    EXPECT_EQ(find(loaded.policy, "fstrim", "schedule")->place, (Place{"p.toml", 4, 12}));
    EXPECT_EQ(loaded.policy.find("fstrim")->place, (Place{"p.toml", 2, 1}));
    EXPECT_EQ(loaded.policy.line_at({"p.toml", 4, 12}), "schedule = 'daily'");
    EXPECT_EQ(loaded.policy.line_at({"p.toml", 99, 1}), "");
    EXPECT_EQ(loaded.policy.line_at({"q.toml", 1, 1}), "");
    EXPECT_EQ(loaded.policy.find("vm"), nullptr);
}

TEST(LoadPolicy, EntriesKeepTheOrderTheyAreWrittenIn) {
    const Loaded loaded = load_text("[vm]\nswappiness = 1\nfactor = 2\n[fstrim]\n[discard]\n");
    std::vector<std::string> names;
    for (const PolicyEntry& entry : loaded.policy.root().entries) names.push_back(entry.key);
    EXPECT_EQ(names, (std::vector<std::string>{"vm", "fstrim", "discard"}));
    EXPECT_EQ(loaded.policy.find("vm")->table()->entries[0].key, "swappiness");
}

TEST(LoadPolicy, ConditionsAreNumbersWordsOrBounds) {
    const Loaded loaded = load_text(
        "[fstrim]\nenabled = false\nschedule = 'daily'\n[vm]\nswappiness = { at-least = 5 }\nfactor = 3\n"
        "[sysctl]\na.b = { at-most = 9 }\n");
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(find(loaded.policy, "vm", "swappiness")->condition(), Condition(AtLeast{5}));
    EXPECT_EQ(find(loaded.policy, "sysctl", "a.b")->condition(), Condition(AtMost{9}));
    EXPECT_EQ(find(loaded.policy, "vm", "factor")->condition(), Condition(Is{std::int64_t{3}}));
    EXPECT_EQ(find(loaded.policy, "fstrim", "schedule")->condition(), Condition(Is{std::string("daily")}));
    EXPECT_EQ(find(loaded.policy, "fstrim", "enabled")->condition(), Condition(Is{std::string("false")}));
    EXPECT_EQ(find(loaded.policy, "fstrim", "enabled")->boolean(), false);
    EXPECT_EQ(find(loaded.policy, "vm", "factor")->boolean(), std::nullopt);
}

TEST(LoadPolicy, TheIncludingFileBeatsWhatItIncludes) {
    const Loaded loaded =
        load({{"p.toml", "version = 1\ninclude = [\"a.toml\", \"b.toml\"]\n[vm]\nfactor = 3\n"},
              {"a.toml", "version = 1\n[vm]\nswappiness = 1\nfactor = 1\n[discard]\nmodels = [\"x\", \"y\"]\n"},
              {"b.toml", "version = 1\n[vm]\nswappiness = 2\n[discard]\nmodels = [\"z\"]\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(outline(loaded.policy.root()), "{discard={models=[z,];};vm={factor=3#3;swappiness=2#2;};}");
    EXPECT_EQ(find(loaded.policy, "vm", "swappiness")->place, (Place{"b.toml", 3, 14}));
    std::vector<std::string> names;
    for (const Policy::File& file : loaded.policy.files()) names.push_back(file.name);
    EXPECT_EQ(names, (std::vector<std::string>{"a.toml", "b.toml", "p.toml"}));
}

TEST(LoadPolicy, RulesFollowOneAnotherAndTablesInThemDoNotMerge) {
    const Loaded loaded = load(
        {{"p.toml", "version = 1\ninclude = [\"a.toml\"]\n[[block]]\nmatch = { model = \"p\" }\n"},
         {"a.toml", "version = 1\n[[block]]\nmatch = { model = \"1\" }\n[[block]]\n[block.match]\nmodel = \"2\"\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(outline(loaded.policy.root()), "{block=[{match={model=1;};},{match={model=2;};},{match={model=p;};},];}");
    EXPECT_EQ(loaded.policy.find("block")->list()->at(2).place, (Place{"p.toml", 3, 1}));
}

TEST(LoadPolicy, ABoundIsReplacedWhole) {
    const Loaded loaded =
        load({{"p.toml", "version = 1\ninclude = [\"a.toml\"]\n[vm]\nswappiness = { at-most = 9 }\n[sysctl]\na = 5\n"},
              {"a.toml", "version = 1\n[vm]\nswappiness = { at-least = 3 }\n[sysctl]\na = { at-least = 3 }\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(find(loaded.policy, "vm", "swappiness")->condition(), Condition(AtMost{9}));
    EXPECT_EQ(find(loaded.policy, "sysctl", "a")->condition(), Condition(Is{std::int64_t{5}}));
}

TEST(LoadPolicy, DottedKeysAreOneName) {
    const Loaded loaded =
        load_text("[sysctl]\nnet.core.somaxconn = 1\n\"net.core.other\" = 2\n[sysctl.kernel]\npanic = 3\n");
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(outline(loaded.policy.root()), "{sysctl={kernel.panic=3#3;net.core.other=2#2;net.core.somaxconn=1#1;};}");
}

TEST(LoadPolicy, OneDottedNameTwiceInAFileIsAContradiction) {
    EXPECT_EQ(errors_of("[sysctl]\nnet.core.somaxconn = 1\n\"net.core.somaxconn\" = 1\n"),
              "p.toml:4:1: error: net.core.somaxconn is wanted twice, here and on line 3\n"
              "    4 | \"net.core.somaxconn\" = 1\n"
              "      | ^~~~~~~~~~~~~~~~~~~~\n"
              "  fix: keep one of the two\n");
    const Loaded loaded = load({{"p.toml", "version = 1\ninclude = [\"a.toml\"]\n[sysctl]\n\"a.b\" = 2\n"},
                                {"a.toml", "version = 1\n[sysctl]\na.b = 1\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(find(loaded.policy, "sysctl", "a.b")->number, 2);
}

TEST(LoadPolicy, AFileIncludedTwiceCountsAtItsFirstPlace) {
    const Loaded loaded = load({{"p.toml", "version = 1\ninclude = [\"a.toml\", \"b.toml\", \"link@a.toml\"]\n"},
                                {"a.toml", "version = 1\n[vm]\nswappiness = 1\n[[block]]\n"},
                                {"link@a.toml", "version = 1\n[vm]\nswappiness = 1\n[[block]]\n"},
                                {"b.toml", "version = 1\n[vm]\nswappiness = 2\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(find(loaded.policy, "vm", "swappiness")->number, 2);
    EXPECT_EQ(loaded.policy.find("block")->list()->size(), 1u);
    EXPECT_EQ(loaded.policy.files().size(), 3u);
}

TEST(LoadPolicy, ACircleOfIncludesNamesTheChain) {
    const Loaded loaded = load({{"p.toml", "version = 1\ninclude = [\"a.toml\"]\n"},
                                {"a.toml", "version = 1\ninclude = [\"b.toml\"]\n"},
                                {"b.toml", "version = 1\ninclude = [\"a.toml\"]\n"}});
    EXPECT_EQ(rendered(loaded),
              "b.toml:2:12: error: includes form a circle: a.toml includes b.toml includes a.toml\n"
              "    2 | include = [\"a.toml\"]\n"
              "      |            ^~~~~~~~\n"
              "  fix: take one of these includes out\n");
    EXPECT_EQ(load({{"p.toml", "version = 1\ninclude = [\"p.toml\"]\n"}}).errors.size(), 1u);
}

TEST(LoadPolicy, SeveralFilesMergeLikeIncludes) {
    const Loaded loaded =
        load({{"a.toml", "version = 1\n[vm]\nswappiness = 1\n"}, {"b.toml", "version = 1\n[vm]\nswappiness = 2\n"}},
             {"a.toml", "b.toml", "a.toml"});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(find(loaded.policy, "vm", "swappiness")->number, 2);
    EXPECT_EQ(loaded.policy.files().size(), 2u);
}

TEST(LoadPolicy, AFileThatCannotBeOpenedIsAnErrorWhereItIsNamed) {
    EXPECT_EQ(rendered(load({}, {"gone.toml"})), "gone.toml: error: cannot open: No such file or directory\n");
    EXPECT_EQ(errors_of("include = [\"gone.toml\"]\n"),
              "p.toml:2:12: error: \"gone.toml\": cannot open: No such file or directory\n"
              "    2 | include = [\"gone.toml\"]\n"
              "      |            ^~~~~~~~~~~\n");
}

TEST(LoadPolicy, AnIncludeEndsInToml) {
    EXPECT_EQ(errors_of("include = [\"site.conf\", \"builtin:x.toml\"]\n"),
              "p.toml:2:12: error: an include names a file that ends in .toml, or a ready policy\n"
              "    2 | include = [\"site.conf\", \"builtin:x.toml\"]\n"
              "      |            ^~~~~~~~~~~\n"
              "  fix: write for example \"site.toml\" or \"builtin:default\"\n"
              "p.toml:2:25: error: a ready policy is named without .toml\n"
              "    2 | include = [\"site.conf\", \"builtin:x.toml\"]\n"
              "      |                         ^~~~~~~~~~~~~~~~\n"
              "  fix: write \"builtin:x\"\n");
}

TEST(LoadPolicy, TooManyIncludesEndInOneError) {
    std::map<std::string, std::string> wide{{"p.toml", "version = 1\ninclude = [\n"}};
    std::map<std::string, std::string> deep;
    for (int number = 0; number < 200; ++number) {
        const std::string name = "f" + std::to_string(number) + ".toml";
        wide["p.toml"] += "\"" + name + "\",\n";
        wide[name] = "version = 1\n";
        deep[name] = "version = 1\ninclude = [\"f" + std::to_string(number + 1) + ".toml\"]\n";
    }
    wide["p.toml"] += "]\n";
    const Loaded loaded = load(wide);
    ASSERT_EQ(loaded.errors.size(), 1u);
    EXPECT_EQ(loaded.errors[0].says, "too many includes");
    EXPECT_EQ(load(deep, {"f0.toml"}).errors.size(), 1u);
}

TEST(LoadPolicy, UnmanagedDropsOnlyWhatEarlierFilesWant) {
    const Loaded loaded = load({{"p.toml", "version = 1\ninclude = [\"a.toml\", \"b.toml\"]\n"},
                                {"a.toml", "version = 1\n"},
                                {"b.toml", "version = 1\nunmanaged = ['sysctl[\"vm.*\"]']\n"}});
    ASSERT_EQ(rendered(loaded), "");
    const Place early{"a.toml", 1, 1};
    const Place same{"b.toml", 1, 1};
    const Place late{"p.toml", 1, 1};
    const std::string address = "sysctl[\"vm.swappiness\"]";
    EXPECT_TRUE(loaded.policy.is_unmanaged(address, {early}));
    EXPECT_FALSE(loaded.policy.is_unmanaged(address, {same}));
    EXPECT_FALSE(loaded.policy.is_unmanaged(address, {late}));
    EXPECT_FALSE(loaded.policy.is_unmanaged(address, {early, late}));
    EXPECT_FALSE(loaded.policy.is_unmanaged("sysctl[\"kernel.panic\"]", {early}));
}

TEST(LoadPolicy, AcceptsKeepAddressPlanesDateAndReason) {
    const Loaded loaded = load_text(
        "[[accept]]\naddress = 'mount[\"/srv\"].*'\nuntil = 2027-03-01\nreason = \"old array\"\n"
        "planes = [\"live\", \"boot\"]\n[[accept]]\naddress = \"x\"\nuntil = 2028-02-29\nreason = \"y\"\n");
    ASSERT_EQ(rendered(loaded), "");
    ASSERT_EQ(loaded.policy.accepts().size(), 2u);
    const Accept& accept = loaded.policy.accepts()[0];
    EXPECT_EQ(accept.address, "mount[\"/srv\"].*");
    EXPECT_EQ(accept.until, "2027-03-01");
    EXPECT_EQ(accept.reason, "old array");
    EXPECT_EQ(accept.planes, (std::vector<Plane>{Plane::live, Plane::boot}));
    EXPECT_EQ(accept.place, (Place{"p.toml", 2, 1}));
    EXPECT_TRUE(loaded.policy.accepts()[1].planes.empty());
    EXPECT_EQ(loaded.policy.find("accept"), nullptr);
    EXPECT_EQ(load_text("[[accept]]\naddress = \"x\"\nuntil = 2027-02-29\nreason = \"y\"\n").errors.size(), 1u);
}

TEST(LoadPolicy, RulesOfReadyPoliciesAreKnownAsSuch) {
    const Loaded loaded = load(
        {{"p.toml", "version = 1\ninclude = [\"builtin:x\"]\n[[block]]\n"}, {"builtin:x", "version = 1\n[[block]]\n"}});
    ASSERT_EQ(rendered(loaded), "");
    const auto& rules = *loaded.policy.find("block")->list();
    EXPECT_TRUE(loaded.policy.is_builtin(rules[0].place));
    EXPECT_FALSE(loaded.policy.is_builtin(rules[1].place));
}

TEST(LoadPolicy, HeldFilesLoadToTheSamePolicy) {
    const Loaded loaded = load({{"p.toml", "version = 1\ninclude = [\"a.toml\"]\n[vm]\nfactor = 3\n"},
                                {"a.toml", "version = 1\n[vm]\nswappiness = 1\nfactor = 1\n"}});
    const Loaded again = load_policy_files(loaded.policy.files(), keys());
    EXPECT_EQ(rendered(again), "");
    EXPECT_EQ(outline(again.policy.root()), outline(loaded.policy.root()));
    EXPECT_EQ(again.policy.digest(), loaded.policy.digest());
}

TEST(LoadPolicy, TheDigestTellsNamesAndBytesApart) {
    const auto digest = [](const std::string& name, const std::string& bytes) {
        return load_policy_files({{name, bytes}, {"z", ""}}, keys()).policy.digest();
    };
    EXPECT_EQ(digest("a", "version = 1"), digest("a", "version = 1"));
    EXPECT_NE(digest("a", "version = 1"), digest("a", "version = 1\n"));
    EXPECT_NE(digest("a", "1:z"), digest("a1:z", ""));
    EXPECT_EQ(digest("a", "x").size(), 64u);
}

TEST(LoadPolicyDeathTest, AKeyDeclaredTwiceIsABug) {
    const std::vector<PolicyKeys> twice{{{vm_table()}}, {{vm_table()}}};
    EXPECT_DEATH(load_policy_files({}, twice), "declared twice: swappiness");
}

}  // namespace
}  // namespace storpol::made_up
