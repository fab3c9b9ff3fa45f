// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "engine/model/json_fields.h"
#include "model_generators.h"

namespace storpol {
namespace {

TEST(ConditionJson, HasTheDocumentedForms) {
    EXPECT_EQ(to_json(Condition{Is{std::int64_t{300}, 0}}).dump(), R"("300")");
    EXPECT_EQ(to_json(Condition{Is{std::int64_t{300}, 4}}).dump(), R"({"is":"300","slack":"4"})");
    EXPECT_EQ(to_json(Condition{Is{std::string("bfq"), 0}}).dump(), R"("bfq")");
    EXPECT_EQ(to_json(Condition{AtLeast{131072}}).dump(), R"({"at-least":"131072"})");
    EXPECT_EQ(to_json(Condition{AtMost{5}}).dump(), R"({"at-most":"5"})");
    EXPECT_EQ(to_json(Condition{Not{{std::string("x")}}}).dump(), R"({"not":["x"]})");
    EXPECT_EQ(to_json(Condition{Not{}}).dump(), R"({"not":[]})");
}

TEST(ConditionJson, ANumericTextIsANumberAgain) {
    EXPECT_EQ(condition_from_json(Json("300")), Condition(Is{std::int64_t{300}, 0}));
    EXPECT_EQ(condition_from_json(Json("007")), Condition(Is{std::string("007"), 0}));
    EXPECT_EQ(condition_from_json(Json("+7")), Condition(Is{std::string("+7"), 0}));
    EXPECT_EQ(condition_from_json(Json("")), Condition(Is{std::string(), 0}));
}

TEST(ConditionJson, RoundTrips) {
    EXPECT_TRUE(rc::check("from_json of to_json is identity", [] {
        const Condition condition = *test::any_condition();
        RC_ASSERT(condition_from_json(to_json(condition)) == condition);
    }));
}

TEST(ConditionJson, RefusesOtherShapes) {
    for (const char* text : {"1", "null", "[]", "{}", R"({"at-least":1})", R"({"at-least":"x"})", R"({"not":"x"})",
                             R"({"not":[1]})", R"({"is":"1"})", R"({"is":1,"slack":"1"})", R"({"is":"1","slack":"-1"})",
                             R"("\\q")", R"({"at-most":"99999999999999999999"})"}) {
        const auto json = parse_json(text, "t");
        ASSERT_TRUE(json) << text;
        EXPECT_FALSE(condition_from_json(*json)) << text;
    }
}

TEST(StepJson, RoundTripsThroughText) {
    EXPECT_TRUE(rc::check("from_json of to_json is identity", [] {
        const Step step = *test::any_step();
        const auto json = parse_json(to_json(step).dump(), "t");
        RC_ASSERT(json.has_value());
        RC_ASSERT(step_from_json(*json) == step);
    }));
}

TEST(StepJson, KeepsEveryByteOfAFile) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    const Step step = ReplaceFile{"/etc/fstab", "d", bytes, 0640};
    const Json json = to_json(step);
    EXPECT_EQ(json["mode"], "0640");
    EXPECT_EQ(step_from_json(json), step);
}

TEST(StepJson, RefusesHostileSteps) {
    for (
        const char* text : {
            "{}",
            "[]",
            "null",
            R"({"step":"system","path":"rm"})",
            R"({"step":1})",
            R"({"step":"delete-file"})",
            R"({"step":"delete-file","path":1,"before":"d"})",
            R"({"step":"replace-file","path":"p","before":"d","mode":"0999","bytes":""})",
            R"({"step":"replace-file","path":"p","before":"d","mode":"644","bytes":""})",
            R"({"step":"replace-file","path":"p","before":"d","mode":"0777777","bytes":""})",
            R"({"step":"replace-file","path":"p","before":"d","mode":"0644","bytes":"\\x"})",
            R"({"step":"edit-file","path":"p","digest":"d","line":0,"field":1,"take-out":[],"put-in":[]})",
            R"({"step":"edit-file","path":"p","digest":"d","line":1.5,"field":1,"take-out":[],"put-in":[]})",
            R"({"step":"edit-file","path":"p","digest":"d","line":18446744073709551615,"field":1,"take-out":[],"put-in":[]})",
            R"({"step":"edit-file","path":"p","digest":"d","line":1,"field":1,"take-out":[null],"put-in":[]})",
            R"({"step":"edit-file","path":"p","digest":"d","address":7,"lines":[]})",
            R"({"step":"edit-file","path":"p","digest":"d","address":"a","lines":{}})",
            R"({"step":"remount","target":"/"})",
        }) {
        const auto json = parse_json(text, "t");
        ASSERT_TRUE(json) << text;
        const auto step = step_from_json(*json);
        ASSERT_FALSE(step) << text;
        EXPECT_FALSE(step.error().what.empty()) << text;
    }
}

TEST(ActionJson, IsInTheDocumentedOrder) {
    Action action;
    action.id = "a1";
    action.verb = Verb::write;
    action.target = "/proc/sys/vm/swappiness";
    action.step = WriteAttribute{"/proc/sys/vm/swappiness", "150"};
    action.serves = {{"sysctl[\"vm.swappiness\"]", Plane::live}};
    action.after = {"a0"};
    action.says = "Write 150";
    EXPECT_EQ(to_json(action, false).dump(),
              R"({"id":"a1","verb":"write","target":"/proc/sys/vm/swappiness",)"
              R"("for":[{"address":"sysctl[\"vm.swappiness\"]","plane":"live"}],"after":["a0"],)"
              R"("when":"now","risk":"safe","says":"Write 150"})");
    const Json whole = to_json(action, true);
    EXPECT_EQ(whole["step"]["step"], "write-attribute");
    EXPECT_TRUE(whole["undo"].is_array());
}

TEST(ActionJson, ADiffKeepsItsLinesAndTabsAndShowsOtherControls) {
    Action action;
    action.diff = "-a\tb\n+a\x1b\tc\r\n\xff\n";
    action.refused = "pool is 97% full";
    const Json json = to_json(action, false);
    EXPECT_EQ(json["diff"], "-a\tb\n+a\\x1b\tc\\x0d\n\\xff\n");
    EXPECT_EQ(json["refused"], "pool is 97% full");
}

TEST(FindingJson, IsSafeToPrint) {
    const Json json = to_json(Finding{"two-owners", Severity::warning, "a\x1b\xff", "/etc/x:1"});
    EXPECT_EQ(json.dump(), R"({"code":"two-owners","severity":"warning","says":"a\\x1b\\xff","where":"/etc/x:1"})");
}

TEST(ParseJson, NamesTheByteOfASyntaxError) {
    const auto json = parse_json("{\"a\": 1,, }", "/var/lib/storpol/applied.json");
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().kind, ErrorKind::invalid);
    EXPECT_EQ(json.error().where, "/var/lib/storpol/applied.json");
    EXPECT_EQ(json.error().what, "not JSON: syntax error at byte 9");
}

TEST(ParseJson, BoundsDepth) {
    EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']'), "t"));
    EXPECT_FALSE(parse_json(std::string(65, '[') + std::string(65, ']'), "t"));
    EXPECT_FALSE(parse_json(std::string(10'000'000, '['), "t"));
    EXPECT_FALSE(parse_json(std::string(10'000'000, '{'), "t"));
    EXPECT_TRUE(parse_json("\"" + std::string(1000, '[') + "\\\"[\"", "t"));
}

TEST(ParseJson, BoundsSizeAndMembers) {
    EXPECT_FALSE(parse_json(std::string((std::size_t{64} << 20) + 1, ' '), "t"));
    std::string object = "{\"k\":0";
    for (int index = 0; index < 1000; ++index) object += ",\"k" + std::to_string(index) + "\":[1,2,3]";
    EXPECT_FALSE(parse_json(object + "}", "t"));
    std::string array = "[0";
    for (int index = 0; index < 5000; ++index) array += ",{\"a\":1,\"b\":2}";
    EXPECT_TRUE(parse_json(array + "]", "t"));
}

TEST(ParseJson, SurvivesAnyText) {
    for (const char* text :
         {"", " ", "nul", "1e999", "-", "\"\xff\"", "\"\\ud800\"", "{\"a\":}", "[1", "\"", "{]", "]]]", "1 2"}) {
        EXPECT_FALSE(parse_json(text, "t")) << text;
    }
    EXPECT_TRUE(
        rc::check("parse_json answers", [](const std::string& text) { static_cast<void>(parse_json(text, "t")); }));
}

TEST(JsonFields, NameTheMemberThatIsWrong) {
    const Json object = {{"a", 1}, {"b", "x\\x0a"}};
    EXPECT_EQ(text_member(object, "a").error().what, "\"a\" is not a string");
    EXPECT_EQ(text_member(object, "c").error().what, "missing \"c\"");
    EXPECT_EQ(text_member(object, "b"), "x\n");
    EXPECT_EQ(text_member_or_empty(object, "c"), "");
    EXPECT_FALSE(text_member_or_empty(Json::array(), "c"));
    EXPECT_EQ(int_member(object, "a"), 1);
    EXPECT_FALSE(int_member(object, "b"));
    EXPECT_FALSE(array_member(object, "a"));
}

}  // namespace
}  // namespace storpol
