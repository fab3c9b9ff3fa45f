// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.h"

// Runs files, and all files below folders, through a target once: what a fuzzer found before stays found without one.
// "corpus:NAME" is the folder corpus/NAME below STORPOL_SHARED, left out with a message where that is not set.
// Of each file its first half is run too, as a read cut off in the midst would give it.
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& path) {
    std::vector<fs::path> files;
    if (fs::is_regular_file(path)) files.push_back(path);
    if (fs::is_directory(path)) {
        for (const auto& entry : fs::recursive_directory_iterator(path)) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

void run(std::string_view bytes) {
    // An exact allocation, so that a sanitizer sees a read past the end.
    const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t count = 0;
    for (int index = 1; index < argc; ++index) {
        constexpr std::string_view corpus = "corpus:";
        const std::string_view argument = argv[index];
        fs::path path(argument);
        if (argument.substr(0, corpus.size()) == corpus) {
            const char* shared = std::getenv("STORPOL_SHARED");
            if (shared == nullptr) {
                std::printf("%s left out: STORPOL_SHARED is not set\n", argv[index]);
                continue;
            }
            path = fs::path(shared) / "corpus" / argument.substr(corpus.size());
        }
        for (const fs::path& file : files_below(path)) {
            std::ifstream stream(file, std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
            run(bytes);
            run(std::string_view(bytes).substr(0, bytes.size() / 2));
            ++count;
        }
    }
    run({});
    std::printf("%zu files survived\n", count);
    return count > 0 ? 0 : 1;
}
