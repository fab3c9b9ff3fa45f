// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/text.h"
#include "engine/policy/load.h"
#include "engine/reconcile/resource.h"
#include "tests/audit/sources.h"

// A resource is complete: it is in the registry, has a test, a policy that uses it, and a page of the reference.
namespace storpol::test {
namespace {

namespace fs = std::filesystem;

std::string file_stem_of(std::string_view domain) {
    std::string stem(domain);
    std::ranges::replace(stem, '-', '_');
    return stem;
}

std::vector<fs::path> files_in(const std::string& folder, std::string_view extension) {
    std::vector<fs::path> files;
    if (!fs::exists(source_path(folder))) return files;
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
        if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    return files;
}

std::string all_text(const std::string& folder, std::string_view extension) {
    std::string text;
    for (const fs::path& file : files_in(folder, extension)) {
        text += source_text(fs::relative(file, STORPOL_SOURCE_DIR).string());
        text += '\n';
    }
    return text;
}

// The names of the tables a resource's keys stand in: "mount" of [[mount]], "vm" of [vm].
std::vector<std::string> tables_of(const Resource& resource) {
    std::vector<std::string> tables;
    for (const Key& key : resource.keys().tables) tables.push_back(key.name);
    return tables;
}

bool uses_table(const std::string& policies, const std::string& table) {
    return std::ranges::any_of(split_lines(policies), [&table](std::string_view line) {
        const std::string_view text = trim(line);
        for (const std::string& header : {"[" + table + "]", "[[" + table + "]]", "[" + table + "."}) {
            if (text.substr(0, header.size()) == header) return true;
        }
        return false;
    });
}

TEST(Completeness, TheRegistryIsInTheOrderOfItsDomains) {
    const Resources resources = make_resources();
    ASSERT_FALSE(resources.empty());
    for (std::size_t index = 1; index < resources.size(); ++index) {
        EXPECT_LT(resources[index - 1]->domain(), resources[index]->domain());
    }
}

TEST(Completeness, EachResourceHasATest) {
    for (const auto& resource : make_resources()) {
        const std::string stem = file_stem_of(resource->domain());
        const auto files = files_in("tests/resources", ".cpp");
        const bool has_test = std::ranges::any_of(files, [&stem](const fs::path& file) {
            const std::string path = fs::relative(file, source_path("tests/resources")).string();
            return path.substr(0, stem.size()) == stem && path.ends_with("_test.cpp");
        });
        EXPECT_TRUE(has_test) << "tests/resources/" << stem << "_test.cpp is missing";
    }
}

TEST(Completeness, EachResourceIsUsedByAReadyPolicy) {
    const std::string policies = all_text("policies", ".toml");
    for (const auto& resource : make_resources()) {
        const auto tables = tables_of(*resource);
        const bool used =
            std::ranges::any_of(tables, [&](const std::string& table) { return uses_table(policies, table); });
        EXPECT_TRUE(used) << "no policy in policies/ uses " << resource->domain() << ": " << join(tables, ", ");
    }
}

TEST(Completeness, EachResourceIsInTheReference) {
    const std::string reference = render_reference(keys_of(make_resources()));
    for (const auto& resource : make_resources()) {
        for (const std::string& table : tables_of(*resource))
            EXPECT_NE(reference.find(table), std::string::npos) << table;
    }
    const std::string pages = all_text("docs", ".md");
    for (const auto& resource : make_resources()) {
        for (const std::string& table : tables_of(*resource)) {
            EXPECT_NE(pages.find(table), std::string::npos) << "no page of docs/ mentions the table " << table;
        }
    }
}

}  // namespace
}  // namespace storpol::test
