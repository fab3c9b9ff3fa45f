// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/model/condition.h"
#include "engine/model/place.h"
#include "engine/model/plane.h"
#include "engine/policy/diagnostic.h"

// What was asked for: the merged, checked, immutable policy. Knows no domain; resources read their own tables from it.
namespace storpol {

struct PolicyNode;

struct PolicyEntry;  // a key of a table

struct PolicyTable {
    std::vector<PolicyEntry> entries;  // in the order of first appearance
    const PolicyNode* find(std::string_view key) const;
};

// One value. Leaves carry the policy's own text and, where the key's type has one, the number in the key's unit.
struct PolicyNode {
    Place place;                         // where the value begins
    std::string text;                    // a leaf without quotes: "300" (0x12c too), "50%", "true"
    std::optional<std::int64_t> number;  // integers, sizes (bytes), percent, durations (microseconds)
    bool bare = false;                   // TOML writes it without quotes: integers, booleans, dates
    std::variant<std::monostate, bool, std::vector<PolicyNode>, PolicyTable> inner;  // monostate for the other leaves

    const PolicyTable* table() const { return std::get_if<PolicyTable>(&inner); }

    const std::vector<PolicyNode>* list() const { return std::get_if<std::vector<PolicyNode>>(&inner); }

    std::optional<bool> boolean() const;
    // The Condition of a leaf, or of { at-least = .. } / { at-most = .. } of a key that takes bounds. Numbers where
    // there is a number, else the text as a word ("true"/"false" for booleans).
    Condition condition() const;
};

struct PolicyEntry {
    std::string key;
    Place place;  // of the key
    PolicyNode value;
};

// [[accept]]: a known difference, in sync through the end of `until` (UTC).
struct Accept {
    std::string address;        // a glob
    std::vector<Plane> planes;  // empty: all
    std::string until;          // "2027-03-01"
    std::string reason;
    Place place;
};

struct Unmanaged {
    std::string address;  // a glob
    Place place;
};

class Policy {
  public:
    // A top-level table or rule array, merged; nullptr when no file has it.
    const PolicyNode* find(std::string_view name) const { return root_.find(name); }

    const PolicyTable& root() const { return root_; }

    const std::vector<Accept>& accepts() const { return accepts_; }

    const std::vector<Unmanaged>& unmanaged() const { return unmanaged_; }

    // True when an `unmanaged` glob of a file merged after all of `places` covers this address: it is then not wanted
    // here.
    bool is_unmanaged(std::string_view address, const std::vector<Place>& places) const;
    bool is_builtin(const Place& place) const;  // from an embedded policy: rules of these are optional

    // The files in merge order, each as it was read; names as diagnostics spell them ("builtin:default").
    struct File {
        std::string name;
        std::string bytes;
    };

    const std::vector<File>& files() const { return files_; }

    std::string digest() const;  // of all files' names and bytes: two policies with one digest are the same

    // The line a place stands on, for diagnostics; empty when there is none.
    std::string_view line_at(const Place& place) const;

  private:
    friend class PolicyBuilder;
    PolicyTable root_;
    std::vector<Accept> accepts_;
    std::vector<Unmanaged> unmanaged_;
    std::vector<File> files_;
};

}  // namespace storpol
