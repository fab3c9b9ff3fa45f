// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "tests/cases/case_run.h"

// storpol_cases [DIR [CASE...]]: runs the case folders of a directory (its INDEX.tsv says how each is checked). Without
// DIR: $STORPOL_SHARED/cases, and where that is unset ctest's code for a skipped test.
namespace {

using namespace storpol;
using namespace storpol::cases;

constexpr int skipped = 77;

struct Row {
    std::string name;
    std::string how;
};

// id, kind, difficulty, check, weight, title, separated by tabs; the first line names them.
std::vector<Row> read_index(const std::string& directory) {
    std::ifstream in(directory + "/INDEX.tsv", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::vector<Row> rows;
    for (const auto line : split_lines(text)) {
        const auto columns = split(line, '\t');
        if (columns.size() < 4 || columns[0] == "id") continue;
        rows.push_back({std::string(columns[0]), std::string(columns[3])});
    }
    return rows;
}

// A folder that the index does not name would never run, and nobody would know.
std::vector<std::string> folders_beside(const std::vector<Row>& rows, const std::string& directory) {
    std::set<std::string> named;
    for (const auto& row : rows) named.insert(row.name);
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        const auto name = entry.path().filename().string();
        if (entry.is_directory() && !named.contains(name)) out.push_back(name);
    }
    std::ranges::sort(out);
    return out;
}

struct Totals {
    int passed = 0;
    int failed = 0;
    int not_yet = 0;
};

void count_and_print(const std::string& name, const CaseResult& result, Totals& totals) {
    const char* word = "passed";
    switch (result.state) {
        case CaseResult::State::passed:
            ++totals.passed;
            break;
        case CaseResult::State::failed:
            ++totals.failed;
            word = "FAILED";
            break;
        case CaseResult::State::not_yet_run:
            ++totals.not_yet;
            word = "not yet run";
            break;
    }
    std::printf("%s %s", name.c_str(), word);
    const bool one_line = result.state == CaseResult::State::not_yet_run && result.says.size() == 1;
    if (one_line) std::printf(": %s", result.says.front().c_str());
    std::printf("\n");
    for (const auto& line : one_line ? std::vector<std::string>() : result.says)
        std::printf("      %s\n", line.c_str());
}

int run_directory(const std::string& directory, const std::set<std::string>& only) {
    const auto rows = read_index(directory);
    if (rows.empty()) {
        std::fprintf(stderr, "storpol_cases: %s/INDEX.tsv names no case\n", directory.c_str());
        return 1;
    }
    const Resources resources = make_resources();
    Totals totals;
    for (const auto& row : rows) {
        if (!only.empty() && !only.contains(row.name)) continue;
        count_and_print(row.name, run_case(directory + "/" + row.name, row.how, resources), totals);
    }
    for (const auto& name : folders_beside(rows, directory)) {
        count_and_print(name, {CaseResult::State::failed, {"INDEX.tsv does not name it"}}, totals);
    }
    std::printf("%d passed, %d failed, %d not yet run\n", totals.passed, totals.failed, totals.not_yet);
    if (totals.passed + totals.failed + totals.not_yet == 0) return 1;
    return totals.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::string directory = arguments.empty() ? "" : arguments.front();
    if (directory.empty()) {
        const char* shared = std::getenv("STORPOL_SHARED");
        if (shared == nullptr || *shared == '\0') {
            std::printf("skipped: STORPOL_SHARED, the folder that holds cases/, is not set\n");
            return skipped;
        }
        directory = std::string(shared) + "/cases";
    }
    try {
        return run_directory(directory, {arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end()});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "storpol_cases: %s\n", error.what());
        return 1;
    }
}
