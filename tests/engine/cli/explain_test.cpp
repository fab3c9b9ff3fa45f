// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

const std::string laptop = std::string(STORPOL_SOURCE_DIR) + "/examples/luks-laptop/host.capture";

class Explain : public ProgramTest {};

nlohmann::json paths_of(const Ran& ran) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out).at("discard-paths");
}

TEST_F(Explain, EveryFilesystemWithoutAWord) {
    const auto paths = paths_of(storpol({"explain", "--host", laptop, "--format", "json"}));
    ASSERT_EQ(paths.size(), 3U);
    EXPECT_EQ(paths[0].at("target"), "/");
    EXPECT_EQ(paths[0].at("verdict"), "blocked");
    EXPECT_EQ(paths[1].at("verdict"), "reaches");
}

TEST_F(Explain, OneMountHasItsLayersFromTheTopDown) {
    const auto paths = paths_of(storpol({"explain", "/", "--host", laptop, "--format", "json"}));
    ASSERT_EQ(paths.size(), 1U);
    const auto& layers = paths[0].at("layers");
    ASSERT_EQ(layers.size(), 3U);
    EXPECT_EQ(layers[0].at("kind"), "dm-crypt");
    EXPECT_EQ(layers[0].at("passes"), "no");
    EXPECT_TRUE(layers[0].contains("blocks"));
    EXPECT_EQ(layers[2].at("kind"), "disk");
    EXPECT_EQ(layers[2].at("discard-max-bytes"), "2147483136");
    EXPECT_FALSE(layers[2].contains("blocks"));
}

TEST_F(Explain, PathInsideAFilesystemStandsForIt) {
    const auto ran = storpol({"explain", "/boot/grub", "--host", laptop});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with("/boot  ext4 on ")) << ran.out;
}

TEST_F(Explain, WordThatNamesNothingIsAnError) {
    const auto ran = storpol({"explain", "nothing", "--host", laptop});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace storpol::test
