// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model_generators.h"

namespace storpol {
namespace {

TEST(Record, RoundTrips) {
    EXPECT_TRUE(rc::check("parse of render is identity", [] {
        const Record record = *test::any_record();
        RC_ASSERT(parse_record(render_record(record)) == record);
    }));
}

TEST(Record, IsReadableByPeople) {
    Record record;
    record.policy_digest = "abc";
    record.applied_at = "2026-11-30T10:00:00Z";
    record.applied.push_back({{"sysctl[\"vm.swappiness\"]", Plane::live}, "", Is{std::int64_t{150}, 0}, "150"});
    EXPECT_EQ(render_record(record), R"({
 "format": 1,
 "policy-digest": "abc",
 "applied-at": "2026-11-30T10:00:00Z",
 "applied": [
  {
   "address": "sysctl[\"vm.swappiness\"]",
   "plane": "live",
   "wanted": "150",
   "value": "150"
  }
 ],
 "waiting": [],
 "tried": []
}
)");
}

TEST(Record, AnEmptyOneIsWhole) {
    EXPECT_EQ(parse_record(render_record(Record{})), Record{});
}

TEST(Record, ANewerFormatIsUnsupported) {
    const auto record = parse_record(R"({"format": 2, "applied": [], "waiting": [], "tried": []})");
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::unsupported);
    EXPECT_FALSE(record.error().fix.empty());
}

TEST(Record, UnknownKeysAreLeftAlone) {
    EXPECT_TRUE(parse_record(R"({"format": 1, "applied": [], "waiting": [], "tried": [], "later": {}})"));
}

TEST(Record, AnAddressWithControlCharactersIsReadAsItIsPrinted) {
    const auto record = parse_record(
        R"({"format":1,"policy-digest":"","applied-at":"","applied":[{"address":"a.b\u0008","plane":"live","wanted":"1"}],)"
        R"("waiting":[],"tried":[]})");
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->applied.at(0).of.address, "a.b\\x08");
    EXPECT_EQ(parse_record(render_record(*record)), *record);
}

TEST(Record, HostileTextIsAnError) {
    for (
        const char* text : {
            "",
            "null",
            "[]",
            "{}",
            "\"x\"",
            R"({"format":"1"})",
            R"({"format":1})",
            R"({"format":1,"applied":{},"waiting":[],"tried":[]})",
            R"({"format":1,"applied":[1],"waiting":[],"tried":[]})",
            R"({"format":1,"applied":[{"address":"a","plane":"x","wanted":"1"}],"waiting":[],"tried":[]})",
            R"({"format":1,"applied":[{"address":"a","plane":"live"}],"waiting":[],"tried":[]})",
            R"({"format":1,"applied":[{"address":5,"plane":"live","wanted":"1"}],"waiting":[],"tried":[]})",
            R"({"format":1,"applied":[],"waiting":[{"address":"a","plane":"live","wanted":"1","waits":"now"}],"tried":[]})",
            R"({"format":1,"applied":[],"waiting":[{"address":"a","plane":"live","wanted":"1"}],"tried":[]})",
            R"({"format":1,"applied":[],"waiting":[],"tried":[{"address":"a","plane":"live","wanted":"1","at":3}]})",
            R"({"format":1,"policy-digest":3,"applied":[],"waiting":[],"tried":[]})",
        }) {
        const auto record = parse_record(text);
        ASSERT_FALSE(record) << text;
        EXPECT_FALSE(record.error().what.empty()) << text;
    }
}

TEST(Record, AnErrorSaysWhichEntry) {
    const auto record = parse_record(
        R"({"format":1,"applied":[{"address":"a","plane":"live","wanted":"1"},{"address":"b"}],"waiting":[],"tried":[]})");
    ASSERT_FALSE(record);
    EXPECT_EQ(to_text(record.error()), "applied[1]: missing \"plane\"");
}

TEST(Record, ATornRecordIsAnErrorAtEveryLength) {
    Record record;
    record.applied.push_back({{"mount[\"/\"].commit", Plane::persisted}, "wwn", AtLeast{3}, "3"});
    record.waiting.push_back({{"a", Plane::live}, "", Not{}, When::next_mount, "boot", "29"});
    const std::string text = render_record(record);
    for (std::size_t length = 0; length + 2 < text.size(); ++length)
        EXPECT_FALSE(parse_record(text.substr(0, length))) << length;
}

}  // namespace
}  // namespace storpol
