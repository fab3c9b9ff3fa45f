// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/engine/policy/made_up.h"

namespace storpol::made_up {
namespace {

using Json = nlohmann::json;

Json schema() {
    return Json::parse(render_schema(keys()));
}

TEST(RenderSchema, AFileMustSayItsVersionAndNothingUnknown) {
    const Json root = schema();
    EXPECT_EQ(root["$schema"], "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(root["type"], "object");
    EXPECT_EQ(root["required"], Json::array({"version"}));
    EXPECT_EQ(root["additionalProperties"], false);
    EXPECT_EQ(root["properties"]["version"]["maximum"], 1);
    EXPECT_EQ(root["properties"]["accept"]["items"]["required"], Json::array({"address", "until", "reason"}));
}

TEST(RenderSchema, TypesRangesAndWordsStandInIt) {
    const Json properties = schema()["properties"];
    const Json fstrim = properties["fstrim"]["properties"];
    EXPECT_EQ(fstrim["nice"]["minimum"], -20);
    EXPECT_EQ(fstrim["nice"]["maximum"], 19);
    EXPECT_EQ(fstrim["nice"]["description"], "Says nice. Range: -20 to 19.");
    EXPECT_EQ(fstrim["enabled"]["type"], "boolean");
    EXPECT_EQ(fstrim["since"]["format"], "date");
    EXPECT_EQ(properties["discard"]["properties"]["filesystem"]["enum"],
              Json::array({"periodic", "continuous", "never"}));
    EXPECT_EQ(properties["discard"]["properties"]["lvm"]["type"], "boolean");  // of the other resource
    EXPECT_EQ(properties["block"]["type"], "array");
    EXPECT_EQ(properties["zram"]["additionalProperties"]["type"], "object");
}

TEST(RenderSchema, BoundsAndDottedNamesAreAllowed) {
    const Json root = schema();
    const Json swappiness = root["properties"]["vm"]["properties"]["swappiness"];
    ASSERT_EQ(swappiness["anyOf"].size(), 2u);
    EXPECT_EQ(swappiness["anyOf"][0]["maximum"], 200);
    EXPECT_EQ(swappiness["anyOf"][1]["properties"]["at-least"]["maximum"], 200);
    const std::string reference = root["properties"]["sysctl"]["additionalProperties"]["$ref"];
    ASSERT_TRUE(reference.starts_with("#/$defs/"));
    EXPECT_TRUE(root["$defs"].contains(reference.substr(8)));
}

TEST(RenderReference, EveryKeyHasItsRow) {
    const std::string page = render_reference(keys());
    for (const std::string row : {
             "| `version` | integer | 1 | required |  | The version of the policy language; every file says it. |\n",
             "| `include` | list of words |  | none |  |",
             "\n## `[discard]`\n\nSays discard.\n",
             "| `filesystem` | word | `periodic`, `continuous`, `never` | left alone |  | Says filesystem. |\n",
             "| `lvm` | boolean |  | left alone |  | Says lvm. |\n",
             "| `read-ahead` | size | 0B to 1GiB | left alone | yes | Says read-ahead. |\n",
             "| `factor` | integer | 0 to 3000, in 1/10000 | left alone |",
             "| `evidence` | table |  | left alone |  | Says evidence. See `[fstrim.evidence]`. |\n",
             "\n## `[[block]] match`\n",
             "\n## `[zram.NAME]`\n",
             "| any other name | integer or text |  | left alone | yes | Says *. |\n",
             "\n## `[[accept]]`\n",
             "| `until` | date |  | required |",
         }) {
        EXPECT_NE(page.find(row), std::string::npos) << row;
    }
}

TEST(BuiltinPolicies, NamesAndTextsBelongTogether) {
    for (const std::string& name : builtin_names()) {
        ASSERT_TRUE(builtin_policy(name).has_value()) << name;
        EXPECT_NE(builtin_policy(name)->find("version = 1"), std::string_view::npos) << name;
    }
    EXPECT_FALSE(builtin_policy("no such policy").has_value());
}

}  // namespace
}  // namespace storpol::made_up
