// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/model/place.h"
#include "engine/policy/key_set.h"
#include "engine/policy/policy.h"
#include "engine/policy/toml_reader.h"

// One file of TOML against the keys of the language: a typed tree of what is right, and every error.
namespace storpol {

// A word of `include` or `unmanaged` with its place.
struct PlacedWord {
    std::string text;
    Place place;
    int width = 1;
};

struct CheckedFile {
    PolicyTable tree;  // without version, include, unmanaged, accept
    std::vector<PlacedWord> includes;
    std::vector<PlacedWord> unmanaged;
    std::vector<Accept> accepts;
    std::vector<PolicyError> errors;
};

CheckedFile check_file(const TomlValue& root, const KeySet& keys, const SourceText& text);

// An error with its line filled in.
PolicyError error_in(const SourceText& text, const Place& where, int width, std::string says, std::string fix);

}  // namespace storpol
