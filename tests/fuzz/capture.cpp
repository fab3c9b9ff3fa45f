// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/query.h"
#include "tests/fuzz/target.h"

// A capture that somebody attached to a report.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const auto entries = parse_entries(fuzz::text_of(data, size), "fuzz");
    if (!entries) {
        fuzz::require(!entries.error().what.empty(), "an error says what is wrong");
        return 0;
    }
    std::string text;
    for (const Entry& entry : *entries) text += render_entry(entry.query, entry.answer);
    const auto again = parse_entries(text, "again");
    fuzz::require(again && again->size() == entries->size(), "what was rendered parses");
    for (std::size_t index = 0; index < entries->size(); ++index) {
        fuzz::require((*again)[index].query == (*entries)[index].query, "a query is the same after render and parse");
        fuzz::require((*again)[index].answer == (*entries)[index].answer,
                      "an answer is the same after render and parse");
    }
    return 0;
}
