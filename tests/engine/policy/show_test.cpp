// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/policy/key_set.h"
#include "tests/engine/policy/made_up.h"

namespace storpol::made_up {
namespace {

std::string outline_of_accepts(const Policy& policy) {
    std::string out;
    for (const Accept& accept : policy.accepts()) {
        out += accept.address + "|" + accept.until + "|" + accept.reason;
        for (const Plane plane : accept.planes) out += "|" + std::string(to_text(plane));
        out += "\n";
    }
    for (const Unmanaged& entry : policy.unmanaged()) out += entry.address + "\n";
    return out;
}

TEST(RenderMerged, EveryValueNamesItsLine) {
    const Loaded loaded = load(
        {{"p.toml",
          "version = 1\ninclude = [\"a.toml\"]\nunmanaged = ['sysctl[\"x\"]']\n[vm]\nswappiness = 0x10\n[[block]]\n"
          "match = { model = 'a\\b\"c' }\noptions = [\"noatime\"]\nread-ahead = { at-least = \"1KiB\" }\n"
          "[[accept]]\naddress = 'a[\"b\"]'\nuntil = 2027-03-01\nreason = \"it's so\"\n"},
         {"a.toml", "version = 1\n[vm]\nfactor = 1\n[fstrim]\n[sysctl]\nnet.core.x = 5\n"}});
    ASSERT_EQ(rendered(loaded), "");
    EXPECT_EQ(render_merged(loaded.policy),
              "version = 1\n"
              "# Each drops what the files merged before its own want there; in one file all are wanted again.\n"
              "unmanaged = [\n"
              "    'sysctl[\"x\"]',  # p.toml:3:14\n"
              "]\n"
              "\n[vm]  # p.toml:4:1\n"
              "factor = 1  # a.toml:3:10\n"
              "swappiness = 16  # p.toml:5:14\n"
              "\n[fstrim]  # a.toml:4:1\n"
              "\n[sysctl]  # a.toml:5:1\n"
              "\"net.core.x\" = 5  # a.toml:6:14\n"
              "\n[[block]]  # p.toml:6:1\n"
              "options = [\"noatime\"]  # p.toml:8:11\n"
              "read-ahead = { at-least = \"1KiB\" }  # p.toml:9:14\n"
              "\n[block.match]  # p.toml:7:9\n"
              "model = 'a\\b\"c'  # p.toml:7:19\n"
              "\n[[accept]]  # p.toml:10:1\n"
              "address = 'a[\"b\"]'\nuntil = 2027-03-01\nreason = \"it's so\"\n");
}

TEST(RenderMerged, EmptyTablesAndListsStay) {
    const Loaded loaded = load_text("block = []\n[fstrim]\n[fstrim.evidence]\n[discard]\nmodels = []\n");
    ASSERT_EQ(rendered(loaded), "");
    const Loaded again = load({{"p.toml", render_merged(loaded.policy)}});
    EXPECT_EQ(rendered(again), "");
    EXPECT_EQ(outline(again.policy.root()), outline(loaded.policy.root()));
}

std::string word_of(std::vector<std::string> choices) {
    return render_toml_string(*rc::gen::elementOf(choices));
}

std::string odd_word() {
    const std::string text =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \"'\\#=[]{}%$`*?.\xc3\xa9")));
    return printable(text) == text ? render_toml_string(text) : "\"plain\"";
}

// A right policy, each line there or not.
std::string some_policy() {
    std::string out = "version = 1\n";
    const auto maybe = [&](const std::string& line) {
        if (*rc::gen::arbitrary<bool>()) out += line + "\n";
    };
    maybe("unmanaged = [" + odd_word().insert(1, "x") + "]");
    out += "[discard]\n";
    maybe("filesystem = " + word_of({"periodic", "continuous", "never"}));
    maybe("models = [" + odd_word() + ", " + odd_word() + "]");
    maybe("lvm = " + std::string(*rc::gen::arbitrary<bool>() ? "true" : "false"));
    out += "[fstrim]\n";
    maybe("schedule = " + odd_word());
    maybe("nice = " + std::to_string(*rc::gen::inRange(-20, 20)));
    maybe("since = 2027-03-01");
    maybe("min-extent = " + word_of({"4096", "1MiB", "0B"}));
    maybe("evidence.max-age = " + word_of({"3d", "5ms"}));
    maybe("[zram]\nsize = " + word_of({"50%", "1GiB"}) + "\n[zram.zram1]\nsize = 4096");
    maybe("[sysctl]\nnet.core.a = " + odd_word() + "\n" + odd_word() + " = \"5\"\n\"x y\" = { at-most = 7 }");
    for (int rule = *rc::gen::inRange(0, 4); rule > 0; --rule) {
        out += "[[block]]\n";
        maybe("read-ahead = { at-least = \"1KiB\" }");
        maybe("max-used = \"15%\"");
        maybe("match = { rotational = false, model = " + odd_word() + " }");
    }
    maybe("[[accept]]\naddress = 'a[\"b\"]'\nuntil = 2027-03-01\nreason = \"r\"\nplanes = [\"boot\"]");
    return out;
}

TEST(RenderMerged, LoadsToTheSamePolicy) {
    EXPECT_TRUE(rc::check("load of show is the policy", [] {
        const Loaded loaded = load({{"a.toml", some_policy()}, {"b.toml", some_policy()}}, {"a.toml", "b.toml"});
        const std::string shown = render_merged(loaded.policy);
        const Loaded again = load({{"p.toml", shown}});
        RC_ASSERT(rendered(again) == "");
        RC_ASSERT(outline(again.policy.root()) == outline(loaded.policy.root()));
        RC_ASSERT(outline_of_accepts(again.policy) == outline_of_accepts(loaded.policy));
    }));
}

}  // namespace
}  // namespace storpol::made_up
