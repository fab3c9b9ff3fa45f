// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/field_edit.h"

#include <algorithm>
#include <vector>

#include "engine/base/text.h"
#include "tests/fuzz/target.h"

// Every field of an fstab or crypttab, however it is written: a word put in and taken out again leaves the old bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    const std::vector<std::string> none;
    const std::vector<std::string> word{"x-storpol-fuzz"};
    const int lines = static_cast<int>(std::min<std::size_t>(split_lines(text).size(), 40));
    for (int line = 1; line <= lines; ++line) {
        for (int field = 1; field <= 6; ++field) {
            const auto there = edit_words(text, line, field, none, word);
            // A field that was not there is made; taken out again it is "defaults", as no field can be empty.
            if (!there || there->find(" " + word.front()) != std::string::npos) continue;
            const auto back = edit_words(*there, line, field, word, none);
            fuzz::require(back.has_value(), "what was put in can be taken out");
            const bool was_there = text.find(word.front()) != std::string_view::npos;
            fuzz::require(was_there || *back == text, "and leaves the old bytes");
        }
    }
    return 0;
}
