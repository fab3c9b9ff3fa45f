// SPDX-License-Identifier: GPL-3.0-or-later
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/text.h"
#include "engine/policy/key_set.h"
#include "engine/policy/load.h"

// The reference page of the policy language, in Markdown.
namespace storpol {
namespace {

constexpr std::string_view introduction = R"(# Policy reference

Every key of the policy language, version 1. `storpol schema` prints the same language as JSON Schema for editors;
`storpol validate FILE` checks a policy without touching a host.

A policy is a TOML 1.0 file. It says what is wanted and nothing else: **a key that is left out is left alone**, whatever the
host has there. An unknown key, a value of the wrong type or a contradiction is an error, and all errors are reported in one
run.

## How values are written

| type | written | means |
| --- | --- | --- |
| boolean | `true`, `false` | |
| integer | `150` | in the unit that the key names |
| word | `"bfq"` | one of the words listed, or any text |
| size | `"64KiB"`, `"1MiB"`, `"10GiB"`, `4096` | powers of 1024; a plain number is bytes; `"1G"` and `"1MB"` are refused because people mean two things by them |
| percentage | `"15%"` | |
| duration | `"500us"`, `"5ms"`, `"1s"`, `"5min"`, `"12h"`, `"3d"`, `"2w"` | a number without a unit is refused |
| date | `2027-03-01` | without quotes |
| list of words | `["noatime", "commit=300"]` | |

A key marked **bounds** takes either one value or one bound: `{ at-least = "128KiB" }` or `{ at-most = "1MiB" }`. A bound is
drift only while the value found breaks it.

## How files are merged

`include` names policies that are read first, in order; the including file beats what it includes, and of two files the later
one wins. Tables merge key by key, `[[rules]]` follow one another in order, and any other value (a bound, a list of words) is
replaced whole. A file that is included twice counts once, at its first place. Several policies on one command line merge
like includes. `storpol show` prints the result, each value with the line it comes from.
)";

std::string type_text(KeyType type) {
    switch (type) {
        case KeyType::boolean:
            return "boolean";
        case KeyType::integer:
            return "integer";
        case KeyType::word:
            return "word";
        case KeyType::integer_or_word:
            return "integer or text";
        case KeyType::size:
            return "size";
        case KeyType::percent:
            return "percentage";
        case KeyType::size_or_percent:
            return "size or percentage";
        case KeyType::duration:
            return "duration";
        case KeyType::date:
            return "date";
        case KeyType::word_list:
            return "list of words";
        case KeyType::table:
            return "table";
        case KeyType::rule_array:
            return "rules";
    }
    STORPOL_BUG("key type out of range");
}

// A cell of a Markdown table: its bars would end it.
std::string cell(std::string_view text) {
    std::string out;
    for (const char byte : text) {
        if (byte == '|') out += '\\';
        out += byte == '\n' ? ' ' : byte;
    }
    return out;
}

std::string allowed(const Key& key) {
    if (!key.choices.empty()) {
        std::vector<std::string> words;
        for (const std::string& word : key.choices) words.push_back("`" + word + "`");
        return join(words, ", ");
    }
    const std::string range = range_text(key);
    return range.empty() ? key.unit : range;
}

std::string row(const Key& key, const std::string& label) {
    const std::string name = key.name == "*" ? "any other name" : "`" + key.name + "`";
    const std::string fallback = key.required ? "required" : key.default_text.empty() ? "left alone" : key.default_text;
    std::string meaning = key.doc;
    if (is_table_like(key)) meaning += (meaning.empty() ? "" : " ") + ("See `" + label + "`.");
    return "| " + name + " | " + type_text(key.type) + " | " + cell(allowed(key)) + " | " + cell(fallback) + " | " +
           (key.bounds ? "yes" : "") + " | " + cell(meaning) + " |\n";
}

std::string label_of(const std::string& parent, const Key& key) {
    return child_label(parent, key, key.name == "*" ? "NAME" : key.name);
}

void write_table(const Key& table, const std::string& label, std::string& out) {
    out += "\n## `" + label + "`\n\n";
    if (!table.doc.empty()) out += table.doc + "\n\n";
    if (!table.default_text.empty()) out += "Left out: " + table.default_text + ".\n\n";
    if (table.keys.empty()) return;
    out += "| key | type | allowed | left out | bounds | meaning |\n| --- | --- | --- | --- | --- | --- |\n";
    for (const Key& key : table.keys) out += row(key, label_of(label, key));
    for (const Key& key : table.keys) {
        if (is_table_like(key)) write_table(key, label_of(label, key), out);
    }
}

}  // namespace

std::string render_reference(const std::vector<PolicyKeys>& keys) {
    const KeySet set(keys);
    std::string out(introduction);
    out +=
        "\n## Top-level keys\n\n| key | type | allowed | left out | bounds | meaning |\n| --- | --- | --- | --- | --- "
        "| --- |\n";
    for (const Key& key : set.root().keys) {
        if (!is_table_like(key)) out += row(key, "");
    }
    for (const Key& key : set.root().keys) {
        if (is_table_like(key)) write_table(key, label_of("", key), out);
    }
    return out;
}

}  // namespace storpol
