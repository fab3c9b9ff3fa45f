// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace storpol::test {

// Compares with tests/snapshots/golden/NAME, or with STORPOL_ACCEPT set writes it and skips the test.
inline void expect_golden(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(STORPOL_SOURCE_DIR) / "tests/snapshots/golden" / name;
    if (std::getenv("STORPOL_ACCEPT") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
        GTEST_SKIP() << "wrote " << name;
    }
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << name << " is missing: run with STORPOL_ACCEPT=1 and review it";
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str());
}

}  // namespace storpol::test
