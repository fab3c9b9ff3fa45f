// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Usage = ProgramTest;

TEST_F(Usage, HelpNamesEachCommandAndTheExitCodes) {
    const Ran ran = storpol({"--help"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, IsEmpty());
    for (const char* word : {"plan", "apply", "drift", "explain", "validate", "show", "schema", "capture", "history",
                             "rollback", "Exit codes:"})
        EXPECT_THAT(ran.out, HasSubstr(word));
    for (const char* command :
         {"plan", "apply", "drift", "explain", "validate", "show", "schema", "capture", "history", "rollback"}) {
        const Ran help = storpol({command, "--help"});
        EXPECT_EQ(help.code, 0) << command;
        EXPECT_THAT(help.out, HasSubstr("--help")) << command;
    }
}

TEST_F(Usage, VersionIsOneLine) {
    const Ran ran = storpol({"--version"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, StartsWith("storpol "));
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1);
}

TEST_F(Usage, AMistakeIsOneSentenceAndExitOne) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
        {{}, "a command is needed"},
        {{"pln"}, "did you mean \"plan\"?"},
        {{"plan", "--nonsense"}, "--nonsense"},
        {{"plan", "--format", "xml"}, "--format"},
        {{"plan", "--host", "a", "--root", "b"}, "--host and --root cannot be used together"},
        {{"apply", "--allow", "everything"}, "--allow takes VERB:TARGET"},
        {{"apply", "--allow", "explode:/dev/sda"}, "--allow takes VERB:TARGET"},
        {{"apply", "--host", "x"}, "--host"},
        {{"capture"}, "--output"},
        {{"plan", "-o", "-"}, "plan -o needs a file"},
        {{"defrag"}, "unknown command \"defrag\""},
    };
    for (const auto& [arguments, part] : mistakes) {
        const Ran ran = storpol(arguments);
        EXPECT_EQ(ran.code, 1) << part;
        EXPECT_THAT(ran.err, StartsWith("storpol: ")) << part;
        EXPECT_THAT(ran.err, HasSubstr(part));
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        EXPECT_THAT(ran.out, IsEmpty()) << part;
    }
}

TEST_F(Usage, AFullDiskOnStandardOutputIsAnError) {
    const Ran ran = storpol({"schema"}, "/dev/full");
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
}

TEST_F(Usage, AFileThatIsNotThereIsNamed) {
    const Ran ran = storpol({"validate", (dir / "none.toml").string()});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("none.toml"));
    EXPECT_THAT(ran.err, HasSubstr("No such file"));
}

TEST_F(Usage, JsonErrorsAreADocumentOnStandardOutput) {
    const Ran ran = storpol({"plan", "--format", "json", "--host", (dir / "none").string(), "builtin:default"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, IsEmpty());
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["format"], 1);
    EXPECT_EQ(json["command"], "plan");
    ASSERT_EQ(json["errors"].size(), 1u);
}

using Policies = ProgramTest;

TEST_F(Policies, ValidateCountsFilesOrSaysWhatIsWrong) {
    const Ran good = storpol(
        {"validate", file("good.toml", "version = 1\ninclude = [\"builtin:default\"]\n[vm]\nswappiness = 10\n")});
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(good.out, "policy ok: 2 files\n");
    const Ran bad = storpol({"validate", file("bad.toml", "version = 1\n[vm]\nswapiness = 10\n")});
    EXPECT_EQ(bad.code, 1);
    EXPECT_THAT(bad.err, HasSubstr("bad.toml:3:1: error:"));
    EXPECT_THAT(bad.out, IsEmpty());
}

TEST_F(Policies, ValidateFindsContradictionsThatOnlyResourcesSee) {
    const std::string both = file("both.toml", "version = 1\n[vm]\ndirty_ratio = 10\ndirty_bytes = \"256MiB\"\n");
    const Ran text = storpol({"validate", both});
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.err, HasSubstr("dirty_bytes"));
    const Ran json = storpol({"validate", "--format", "json", both});
    EXPECT_EQ(json.code, 1);
    EXPECT_GE(nlohmann::json::parse(json.out)["errors"].size(), 1u);
}

TEST_F(Policies, ShowPrintsTheMergedPolicyWithItsSources) {
    const std::string first = file("a.toml", "version = 1\n[vm]\nswappiness = 10\n");
    const std::string second = file("b.toml", "version = 1\n[vm]\nswappiness = 20\n");
    const Ran ran = storpol({"show", first, second});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("swappiness = 20"));
    EXPECT_THAT(ran.out, HasSubstr("b.toml:3"));
}

TEST_F(Policies, SchemaIsJson) {
    const Ran ran = storpol({"schema"});
    EXPECT_EQ(ran.code, 0);
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_TRUE(json.contains("$schema"));
}

TEST_F(Policies, TheReferencePageIsCurrent) {
    const Ran ran = storpol({"schema", "--reference"});
    EXPECT_EQ(ran.code, 0);
    // Not EXPECT_EQ, which would print both pages.
    EXPECT_TRUE(ran.out == read_text(fs::path(STORPOL_SOURCE_DIR) / "docs/reference.md"))
        << "docs/reference.md is not current: storpol schema --reference > docs/reference.md";
}

}  // namespace
}  // namespace storpol::test
