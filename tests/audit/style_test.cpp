// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/base/text.h"
#include "tests/audit/sources.h"

// What a review would otherwise have to look for again and again.
namespace storpol::test {
namespace {

namespace fs = std::filesystem;

constexpr int longest_function = 60;
constexpr std::size_t longest_file = 500;
constexpr std::size_t longest_readme = 10;

TEST(Style, EachSourceBeginsWithItsLicence) {
    constexpr std::string_view licence = "// SPDX-License-Identifier: GPL-3.0-or-later\n";
    for (const std::string& file : source_files()) {
        EXPECT_EQ(source_text(file).substr(0, licence.size()), licence) << file;
    }
}

TEST(Style, EachHeaderIsGuardedOnce) {
    for (const std::string& file : source_files()) {
        if (!file.ends_with(".h")) continue;
        EXPECT_NE(source_text(file).find("\n#pragma once\n"), std::string::npos) << file;
    }
}

// So that each header is known to compile alone; those without a source have one made in CMakeLists.txt.
TEST(Style, EachSourceIncludesItsOwnHeaderFirst) {
    for (const std::string& header : source_files({"engine", "resources"})) {
        const std::string source = header.substr(0, header.size() - 2) + ".cpp";
        if (!header.ends_with(".h") || !fs::exists(source_path(source))) continue;
        const std::string text = source_text(source);
        const std::string include = "#include \"" + header + "\"\n";
        EXPECT_EQ(text.find("#include"), text.find(include)) << source;
    }
}

TEST(Style, NoFunctionIsLongerThanSixtyLines) {
    std::size_t count = 0;
    for (const std::string& file : source_files()) {
        for (const Function& function : functions_of(source_text(file))) {
            ++count;
            EXPECT_LE(function.length, longest_function) << file << ":" << function.line << ": " << function.name;
        }
    }
    EXPECT_GT(count, 500U) << "the audit finds hardly any function: it no longer understands the code";
}

// Two types of one name in one namespace are one type to the linker: whichever constructor it keeps, the other's
// objects are broken. A compiler sees one header at a time and says nothing.
TEST(Style, HeadersNameATypeOnce) {
    std::map<std::string, std::string> seen;
    for (const std::string& file : source_files({"engine", "resources"})) {
        if (!file.ends_with(".h")) continue;
        const std::string code = without_literals(source_text(file));
        for (const std::string_view line : split_lines(code)) {
            auto words = split_words(line);
            if (words.empty() || line.front() == ' ' || line.find('{') == std::string_view::npos) continue;
            std::size_t at = words[0] == "enum" && words.size() > 1 && words[1] == "class" ? 2 : 1;
            const bool is_type = words[0] == "struct" || words[0] == "class" || words[0] == "enum";
            if (!is_type || words.size() <= at) continue;
            const auto [other, is_new] = seen.emplace(std::string(words[at]), file);
            EXPECT_TRUE(is_new) << words[at] << " is in " << file << " and in " << other->second;
        }
    }
    EXPECT_GT(seen.size(), 100U) << "the audit finds hardly any type: it no longer understands the headers";
}

TEST(Style, NoFileIsLongerThanFiveHundredLines) {
    for (const std::string& file : source_files()) {
        EXPECT_LE(split_lines(source_text(file)).size(), longest_file) << file;
    }
}

TEST(Style, NoProgramRunsThroughAShell) {
    for (const std::string& file : source_files({"engine", "resources"})) {
        const std::string code = without_literals(source_text(file));
        for (const char* call : {" system(", "::system(", " popen(", "::popen("}) {
            EXPECT_EQ(code.find(call), std::string::npos) << file << " calls" << call;
        }
        EXPECT_EQ(source_text(file).find("\"/bin/sh\""), std::string::npos) << file;
    }
}

TEST(Style, ACodeCommentThatPromisesWorkNamesAnIssue) {
    for (const std::string& file : source_files({"engine", "resources"})) {
        const std::string text = source_text(file);
        for (const char* word : {"FIXME", "XXX:", "TODO:", "TODO "}) {
            EXPECT_EQ(text.find(word), std::string::npos) << file << " holds " << word;
        }
    }
}

// The top-level folders and those one below, where the module map has its parts.
std::vector<fs::path> folders_with_readme() {
    std::vector<fs::path> folders;
    for (const char* top : {"engine", "resources", "policies", "examples", "integration", "tests", "docs"}) {
        if (fs::exists(source_path(top))) folders.push_back(source_path(top));
    }
    for (const char* top : {"engine", "resources", "tests"}) {
        for (const auto& entry : fs::directory_iterator(source_path(top))) {
            if (entry.is_directory() && !fs::is_empty(entry.path())) folders.push_back(entry.path());
        }
    }
    return folders;
}

TEST(Style, EachFolderOpensWithAShortReadme) {
    for (const fs::path& folder : folders_with_readme()) {
        const std::string readme = fs::relative(folder / "README.md", STORPOL_SOURCE_DIR).string();
        ASSERT_TRUE(fs::exists(folder / "README.md")) << readme << " is missing";
        const std::string text = source_text(readme);
        EXPECT_EQ(text.substr(0, 2), "# ") << readme;
        EXPECT_LE(split_lines(text).size(), longest_readme) << readme;
    }
}

TEST(Style, TheFormatterChangesNothing) {
    const std::string formatter = "clang-format-14";
    if (!has_program(formatter)) GTEST_SKIP() << formatter << " is not installed; other versions format differently";
    std::vector<std::string> command{formatter, "--dry-run", "-Werror", "--style=file"};
    for (const std::string& file : source_files()) command.push_back(source_path(file).string());
    const ProgramResult result = run(command);
    EXPECT_EQ(result.exit_code, 0) << result.output.substr(0, 4000);
}

TEST(FunctionsOf, CountsWhatIsWrittenAsAFunction) {
    const auto functions = functions_of(
        "#include <a>\n#define X(y) {\n\nnamespace a {\n"
        "constexpr int table[] = {\n    1,\n};\n\n"
        "// not {\nint one(int a,\n        int b) {\n    if (a) {\n        return f({1, 2});\n    }\n    return "
        "\"{\"[0] + '{' + R\"x({)x\"[0] + 1'000;\n}\n\n"
        "class C {\n  public:\n    C() : a_{1} {}\n    int get() const { return a_; }\n\n  private:\n    int a_ = "
        "0;\n};\n"
        "TEST(A, B) { [] { return 1; }(); }\n}\n");
    std::vector<std::string> names;
    for (const Function& function : functions) names.push_back(function.name);
    ASSERT_GE(functions.size(), 4U) << join(names, "; ");
    EXPECT_EQ(functions[0].name, "int one(int a, int b)");
    EXPECT_EQ(functions[0].line, 10);
    EXPECT_EQ(functions[0].length, 7);
    EXPECT_EQ(functions.back().length, 1);
}

TEST(FunctionsOf, SeesALongOne) {
    std::string code = "void f() {\n";
    for (int line = 0; line < 59; ++line) code += "    g();\n";
    code += "}\n";
    const auto functions = functions_of(code);
    ASSERT_EQ(functions.size(), 1U);
    EXPECT_EQ(functions[0].length, 61);
}

}  // namespace
}  // namespace storpol::test
