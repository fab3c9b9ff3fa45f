// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/report/report.h"
#include "tests/engine/report/sample.h"
#include "tests/engine/report/schema_check.h"

namespace storpol {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered parsed(const std::string& text) {
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    return Ordered::parse(text);
}

std::vector<std::string> keys_of(const Ordered& object) {
    std::vector<std::string> keys;
    for (const auto& item : object.items()) keys.push_back(item.key());
    return keys;
}

using Keys = std::vector<std::string>;

TEST(JsonReport, HasTheKeysOfFormatOneInTheirOrder) {
    const Ordered json = parsed(render_json(sample::drifting(), sample::head("plan")));
    EXPECT_EQ(keys_of(json),
              (Keys{"format", "storpol", "command", "host", "summary", "settings", "actions", "findings", "errors"}));
    EXPECT_EQ(json["format"], 1);
    EXPECT_EQ(json["host"].dump(), R"({"name":"host1","source":"live"})");
    EXPECT_EQ(keys_of(json["summary"]), (Keys{"settings", "in-sync", "drift", "unknown", "absent", "accepted",
                                              "waiting", "actions", "reboot-pending"}));
    EXPECT_EQ(
        json["settings"][0].dump(),
        R"({"address":"sysctl[\"vm.swappiness\"]","wanted":"150","policy":["laptop.toml:14:12"],"verdict":"drift","planes":)"
        R"({"live":{"verdict":"drift","kind":"moved","found":"60","source":"/proc/sys/vm/swappiness"},)"
        R"("persisted":{"verdict":"in-sync","found":"150","source":"/etc/sysctl.d/zz-storpol.conf:3",)"
        R"("shadows":["/etc/sysctl.d/99-local.conf:2"]}}})");
    EXPECT_EQ(
        json["actions"][0].dump(),
        R"({"id":"a1","verb":"write","target":"/proc/sys/vm/swappiness","for":[{"address":"sysctl[\"vm.swappiness\"]",)"
        R"("plane":"live"}],"after":[],"when":"now","risk":"safe","says":"Set vm.swappiness to 150 in the running kernel."})");
}

Ordered plane_of(const PlaneState& state) {
    SettingState setting = sample::setting("a.b", "1", Is{std::int64_t{1}, 0});
    setting.planes = {state};
    Evaluation evaluation;
    evaluation.settings = {setting};
    const Ordered json = parsed(render_json(evaluation, sample::head("plan")));
    return json["settings"][0]["planes"]["live"];
}

TEST(JsonReport, FoundIsNullForUnsetWithItsDefaultWhereKnown) {
    EXPECT_EQ(
        plane_of(sample::plane(Plane::live, {Unset{Value{std::int64_t{60}}, "kernel"}, "", {}}, Verdict::drift)).dump(),
        R"({"verdict":"drift","found":null,"default":"60","default-from":"kernel"})");
    EXPECT_EQ(plane_of(sample::plane(Plane::live, {Unset{}, "", {}}, Verdict::drift)).dump(),
              R"({"verdict":"drift","found":null})");
}

TEST(JsonReport, FoundIsLeftOutWhereThereIsAReason) {
    EXPECT_EQ(plane_of(sample::plane(Plane::live, {Unknown{"no root"}, "/x", {}}, Verdict::unknown)).dump(),
              R"({"verdict":"unknown","reason":"no root","source":"/x"})");
    EXPECT_EQ(plane_of(sample::plane(Plane::live, {Absent{"a container"}, "", {}}, Verdict::absent)).dump(),
              R"({"verdict":"absent","reason":"a container"})");
}

TEST(JsonReport, CannotWaitsAcceptedAndRecordedStandOnThePlane) {
    PlaneState state = sample::plane(Plane::live, sample::found(2, "/x"), Verdict::drift);
    state.cannot = "no";
    state.waits = When::next_mount;
    state.accepted = Accepted{Place{"p.toml", 2, 1}, "2027-03-01"};
    state.recorded = "1";
    EXPECT_EQ(plane_of(state).dump(),
              R"({"verdict":"drift","found":"2","source":"/x","cannot":"no","waits":"next-mount",)"
              R"("accepted":{"policy":"p.toml:2:1","until":"2027-03-01"},"recorded":"1"})");
}

TEST(JsonReport, BoundsAndForbidsAreObjects) {
    Evaluation evaluation;
    evaluation.settings = {sample::setting("a", "x", AtLeast{131072}), sample::setting("b", "x", AtMost{5}),
                           sample::setting("c", "x", storpol::Not{{Value{std::string{"async"}}}})};
    evaluation.settings[0].setting.also_at = {"/srv"};
    const Ordered json = parsed(render_json(evaluation, sample::head("plan")));
    EXPECT_EQ(json["settings"][0]["wanted"].dump(), R"({"at-least":"131072"})");
    EXPECT_EQ(json["settings"][0]["also-at"].dump(), R"(["/srv"])");
    EXPECT_EQ(json["settings"][1]["wanted"].dump(), R"({"at-most":"5"})");
    EXPECT_EQ(json["settings"][2]["wanted"].dump(), R"({"not":["async"]})");
}

TEST(JsonReport, ErrorsAreTheSameDocument) {
    PolicyError error;
    error.where = Place{"laptop.toml", 31, 13};
    error.says = "unknown scheduler \"bqf\"";
    error.fix = "write \"bfq\"";
    const Ordered json = parsed(render_json(std::vector<PolicyError>{error}, sample::head("plan")));
    EXPECT_EQ(json["errors"].dump(),
              R"([{"where":"laptop.toml:31:13","says":"unknown scheduler \"bqf\"","fix":"write \"bfq\""}])");
    EXPECT_EQ(json["settings"].size(), 0u);
    const Ordered other =
        parsed(render_json(Error{ErrorKind::denied, "cannot open", "/x", "use sudo", 13}, sample::head("plan")));
    EXPECT_EQ(other["errors"].dump(), R"([{"where":"/x","says":"cannot open","fix":"use sudo"}])");
}

TEST(JsonReport, ApplyHasAResultForEachAction) {
    ApplyReport report;
    report.after = sample::drifting();
    report.outcomes = {{report.after.plan.actions[0], ActionResult::skipped, "a2 failed"}};
    report.recovered = {{"recovered", Severity::warning, "An interrupted apply was undone.", ""}};
    const Ordered json = parsed(render_json(report, sample::head("apply")));
    EXPECT_EQ(json["actions"][0]["result"], "skipped");
    EXPECT_EQ(json["actions"][0]["why"], "a2 failed");
    EXPECT_EQ(json["findings"][0]["code"], "recovered");
}

TEST(JsonReport, BytesThatAreNotUtf8StillGiveADocument) {
    const Ordered plane =
        plane_of(sample::plane(Plane::live, {Found{std::string{"\xff\x01z"}, ""}, "/\xfe", {}}, Verdict::drift));
    EXPECT_EQ(plane["found"], "\\xff\\x01z");
    EXPECT_EQ(plane["source"], "/\\xfe");
}

TEST(JsonReport, EveryDocumentFollowsTheSchema) {
    std::ifstream file(STORPOL_SOURCE_DIR "/docs/storpol-report.schema.json");
    const auto schema = nlohmann::json::parse(file);
    ApplyReport apply;
    apply.after = sample::drifting();
    apply.outcomes = {{apply.after.plan.actions[0], ActionResult::failed, "refused"}};
    Transaction transaction;
    transaction.number = 1;
    transaction.command = "apply";
    transaction.started = "2026-11-30T12:00:00Z";
    transaction.steps = {JournaledStep{}};
    Evaluation all = sample::drifting();
    PlaneState state = sample::plane(Plane::boot, {Unset{Value{std::int64_t{60}}, "kernel"}, "", {}}, Verdict::drift);
    state.waits = When::by_operator;
    state.accepted = Accepted{Place{"p.toml", 2, 1}, "2027-03-01"};
    all.settings[0].planes.push_back(state);
    all.settings[0].setting.on_plane[Plane::boot] = storpol::Not{};
    all.findings = {{"x", Severity::info, "y", ""}};
    for (const std::string& text : {render_json(all, sample::head("plan")), render_json(apply, sample::head("apply")),
                                    render_json(Error{ErrorKind::failed, "x", "", "", 0}, sample::head("drift")),
                                    render_json(RollbackReport{}, transaction, sample::head("rollback")),
                                    render_json(std::vector<Transaction>{transaction}, sample::head("history"))})
        EXPECT_EQ(test::schema_violations(schema, nlohmann::json::parse(text)), std::vector<std::string>{}) << text;
}

TEST(JsonReport, TheSchemaRefusesWhatIsWrong) {
    std::ifstream file(STORPOL_SOURCE_DIR "/docs/storpol-report.schema.json");
    const auto schema = nlohmann::json::parse(file);
    auto json = nlohmann::json::parse(render_json(sample::drifting(), sample::head("plan")));
    json["settings"][0]["planes"]["live"]["verdict"] = "fine";
    json["summary"].erase("drift");
    json["actions"][0]["for"] = "everything";
    EXPECT_EQ(test::schema_violations(schema, json).size(), 3u);
}

}  // namespace
}  // namespace storpol
