// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// The policy language as the resources declare it. Checks policies, documents them, makes the schema: one source for
// all three.
namespace storpol {

enum class KeyType {
    boolean,
    integer,
    word,             // one of `choices`; any text without control characters where there are none
    integer_or_word,  // values whose form belongs to the kernel ([sysctl])
    size,             // "1MiB", or a whole number of bytes -> Bytes
    percent,          // "15%" -> 15
    size_or_percent,  // the node's text ends in '%' for a percentage
    duration,         // "5ms" -> microseconds
    date,             // 2027-03-01
    word_list,        // array of words
    table,            // { ... } or [name], with `keys`
    rule_array,       // [[name]], each with `keys`
};

// One key, or with name "*" any key of its table that has no entry of its own.
struct Key {
    std::string name;
    KeyType type = KeyType::word;
    std::string doc;   // one or two sentences for the reference page: what it does, in the reader's terms
    std::string unit;  // of a plain number: "pages", "1/10000", "KiB"; empty for none
    std::optional<std::int64_t> min;  // both ends belong to the range; of a size_or_percent they are of the size
    std::optional<std::int64_t> max;
    std::vector<std::string> choices;  // of a word, or of the words of a list
    std::string default_text;          // what applies where the key is left out; empty: "left alone"
    bool bounds = false;               // also takes { at-least = ... } and { at-most = ... }
    bool joins_dots = false;           // of "*": dotted keys are one name: net.core.somaxconn

    // More than type and range: an empty answer accepts. First is what is wrong, second the fix. Must not depend on a
    // host. Called for each leaf, each word of a list, each bound, and for a table with an empty text (to judge
    // its name).
    struct Objection {
        std::string says;
        std::string fix;
    };

    std::function<std::optional<Objection>(const std::string& name, const std::string& text)> check;
    std::vector<Key> keys;  // of a table or rule_array
    bool required = false;  // a table or rule without it is an error
};

// The top-level keys of one resource: "vm" and "sysctl", "mount". Two resources may add keys to the same table
// ([discard]): their `keys` are joined, and a name declared twice is a bug.
struct PolicyKeys {
    std::vector<Key> tables;
};

}  // namespace storpol
