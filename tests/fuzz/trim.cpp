// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>

#include "engine/text/calendar.h"
#include "engine/text/time_span.h"
#include "resources/fstrim/command.h"
#include "resources/fstrim/evidence.h"
#include "tests/fuzz/target.h"

// What the trim reads of a host: calendars, spans, commands of units, lines of a journal. A normal form stays itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    if (const auto calendar = parse_calendar(text)) {
        const auto normal = render_calendar(*calendar);
        const auto again = normal_calendar(normal);
        if (!again || *again != normal) std::abort();
        static_cast<void>(next_due(*calendar, 1795996800));
    }
    static_cast<void>(parse_time_span(text));
    const auto command = parse_trim_command(text);
    static_cast<void>(with_minimum(command, 4096));
    if (unescape_exec_word(escape_exec_word(text)) != text) std::abort();
    static_cast<void>(parse_trim_runs(text));
    return 0;
}
