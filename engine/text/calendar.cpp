// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/calendar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <limits>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::int64_t second_us = 1000000;
constexpr int first_year = 1970;
constexpr int last_year = 2199;               // calendarspec.c MAX_YEAR
constexpr std::size_t longest_text = 1000;    // no schedule is; keeps hostile text cheap
constexpr std::size_t most_components = 240;  // CALENDARSPEC_COMPONENTS_MAX

struct NamedDay {
    std::string_view name;
    unsigned number;
};

constexpr std::array<NamedDay, 14> days{{{"monday", 0},
                                         {"mon", 0},
                                         {"tuesday", 1},
                                         {"tue", 1},
                                         {"wednesday", 2},
                                         {"wed", 2},
                                         {"thursday", 3},
                                         {"thu", 3},
                                         {"friday", 4},
                                         {"fri", 4},
                                         {"saturday", 5},
                                         {"sat", 5},
                                         {"sunday", 6},
                                         {"sun", 6}}};

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

tl::unexpected<Error> wrong(std::string what, std::string fix = {}) {
    return fail(ErrorKind::invalid, std::move(what), {}, std::move(fix));
}

Calendar::Field at(std::int64_t number) {
    return {Calendar::Component{number, -1, 0}};
}

bool is_any_of(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

// Reads from the front of a text that shrinks. A '\0' stands for its end.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    char peek(std::size_t ahead = 0) const { return ahead < text_.size() ? text_[ahead] : '\0'; }

    void skip(std::size_t count) { text_.remove_prefix(std::min(count, text_.size())); }

    void skip_blanks() {
        while (peek() == ' ') skip(1);
    }

    bool at_end() const { return text_.empty(); }

    std::string_view rest() const { return text_; }

  private:
    std::string_view text_;
};

// A number without sign; seconds may have a fraction of up to six digits and come in microseconds.
std::optional<std::int64_t> read_number(Cursor& cursor, bool seconds) {
    if (std::isdigit(static_cast<unsigned char>(cursor.peek())) == 0) return std::nullopt;
    std::int64_t number = 0;
    while (std::isdigit(static_cast<unsigned char>(cursor.peek())) != 0) {
        number = number * 10 + (cursor.peek() - '0');
        if (number > std::numeric_limits<int>::max()) return std::nullopt;
        cursor.skip(1);
    }
    if (!seconds) return number;
    number *= second_us;
    if (cursor.peek() != '.' || cursor.peek(1) == '.') return number;
    cursor.skip(1);
    std::int64_t unit = second_us / 10;
    if (std::isdigit(static_cast<unsigned char>(cursor.peek())) == 0) return std::nullopt;
    while (std::isdigit(static_cast<unsigned char>(cursor.peek())) != 0) {
        const auto digit = cursor.peek() - '0';
        if (unit > 0) number += digit * unit;
        if (unit == 0 && digit >= 5) ++number;  // the seventh digit rounds, the others count for nothing
        unit = unit > 0 ? unit / 10 : -1;
        cursor.skip(1);
    }
    return number;
}

bool read_component(Cursor& cursor, bool seconds, Calendar::Component& component) {
    const auto start = read_number(cursor, seconds);
    if (!start) return false;
    component.start = *start;
    if (cursor.peek() == '.' && cursor.peek(1) == '.') {
        cursor.skip(2);
        const auto stop = read_number(cursor, seconds);
        if (!stop) return false;
        component.stop = *stop;
        component.repeat = seconds ? second_us : 1;
    }
    if (cursor.peek() == '/') {
        cursor.skip(1);
        const auto repeat = read_number(cursor, seconds);
        if (!repeat || *repeat == 0) return false;
        component.repeat = *repeat;
    } else if (seconds && component.stop >= 0 && component.start + component.repeat > component.stop) {
        return false;  // a range below a second needs its own step
    }
    return true;
}

// "*", "1,15", "0/15", "1..5". Ends before what separates fields.
bool read_field(Cursor& cursor, bool seconds, Calendar::Field& field) {
    if (cursor.peek() == '*') {
        cursor.skip(1);
        if (seconds) field = {Calendar::Component{0, -1, second_us}};
        return true;
    }
    for (;;) {
        Calendar::Component component;
        if (field.size() > most_components || !read_component(cursor, seconds, component)) return false;
        field.push_back(component);
        if (cursor.peek() != ',') break;
        cursor.skip(1);
    }
    return cursor.at_end() || is_any_of(cursor.peek(), " -~:");
}

const NamedDay* day_at(std::string_view text) {
    for (const auto& day : days) {
        if (lower(text.substr(0, day.name.size())) == day.name) return &day;
    }
    return nullptr;
}

// "Mon..Fri,Sun " in front; what begins with no name of a day has none. False where it is wrong.
bool read_weekdays(Cursor& cursor, Calendar& calendar) {
    int from = -1;  // the first day of a range that is open
    for (bool first = true;; first = false) {
        const auto* day = day_at(cursor.rest());
        if (day == nullptr) return first;
        cursor.skip(day->name.size());
        if (!cursor.at_end() && !is_any_of(cursor.peek(), "-., ")) return false;
        const auto here = static_cast<int>(day->number);
        if (from > here) return false;
        for (int number = from < 0 ? here : from; number <= here; ++number) calendar.weekdays |= 1U << number;
        const bool in_range = from >= 0;
        from = -1;
        if (cursor.peek() == '.' || cursor.peek() == '-') {
            if (in_range || (cursor.peek() == '.' && cursor.peek(1) != '.')) return false;
            cursor.skip(cursor.peek() == '.' ? 2 : 1);
            from = here;
        } else if (cursor.peek() == ',') {
            cursor.skip(1);
        } else {
            cursor.skip_blanks();
            return true;
        }
        // A comma may stand at the end, a range may not.
        if (cursor.at_end() || cursor.peek() == ' ') {
            cursor.skip_blanks();
            return from < 0;
        }
    }
}

// "@1395716396": that very second.
bool read_timestamp(Cursor& cursor, Calendar& calendar) {
    cursor.skip(1);
    std::int64_t seconds = 0;
    if (std::isdigit(static_cast<unsigned char>(cursor.peek())) == 0) return false;
    while (std::isdigit(static_cast<unsigned char>(cursor.peek())) != 0) {
        seconds = seconds * 10 + (cursor.peek() - '0');
        if (seconds > 253402300799) return false;
        cursor.skip(1);
    }
    if (!cursor.at_end()) return false;
    const auto day = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    const std::chrono::year_month_day date(day);
    const auto rest = seconds - std::chrono::seconds(day.time_since_epoch()).count();
    calendar.year = at(static_cast<int>(date.year()));
    calendar.month = at(static_cast<unsigned>(date.month()));
    calendar.day = at(static_cast<unsigned>(date.day()));
    calendar.hour = at(rest / 3600);
    calendar.minute = at(rest / 60 % 60);
    calendar.second = at(rest % 60 * second_us);
    calendar.utc = true;
    return true;
}

// "2026-11-30 ", "11-30 ", "*-*~1 "; a text that is a time leaves the cursor where it was.
bool read_date(Cursor& cursor, Calendar& calendar) {
    if (cursor.at_end()) return true;
    Cursor ahead = cursor;
    std::array<Calendar::Field, 3> fields;
    if (!read_field(ahead, false, fields[0])) return false;
    if (ahead.at_end() || ahead.peek() == ':') return true;
    bool backwards = false;
    for (std::size_t number = 1; number < fields.size(); ++number) {
        if (ahead.peek() != '-' && ahead.peek() != '~') return false;
        if (backwards) return false;  // only the day may count from the end
        backwards = ahead.peek() == '~';
        ahead.skip(1);
        if (!read_field(ahead, false, fields[number])) return false;
        if (!ahead.at_end() && ahead.peek() != ' ') continue;
        ahead.skip_blanks();
        cursor = ahead;
        calendar.from_end_of_month = backwards;
        calendar.day = fields[number];
        calendar.month = fields[number - 1];
        if (number == 2) calendar.year = fields[0];
        return true;
    }
    return false;
}

bool read_time(Cursor& cursor, Calendar& calendar) {
    if (cursor.at_end()) {
        calendar.hour = at(0);
        calendar.minute = at(0);
        calendar.second = at(0);
        return true;
    }
    if (!read_field(cursor, false, calendar.hour) || cursor.peek() != ':') return false;
    cursor.skip(1);
    if (!read_field(cursor, false, calendar.minute)) return false;
    calendar.second = at(0);
    if (cursor.at_end()) return true;
    if (cursor.peek() != ':') return false;
    cursor.skip(1);
    calendar.second.clear();
    return read_field(cursor, true, calendar.second) && cursor.at_end();
}

struct Shorthand {
    std::string_view word;
    std::string_view means;
};

constexpr std::array<Shorthand, 13> shorthands{{{"minutely", "*-*-* *:*:00"},
                                                {"hourly", "*-*-* *:00:00"},
                                                {"daily", "*-*-* 00:00:00"},
                                                {"weekly", "Mon *-*-* 00:00:00"},
                                                {"monthly", "*-*-01 00:00:00"},
                                                {"quarterly", "*-01,04,07,10-01 00:00:00"},
                                                {"annually", "*-01-01 00:00:00"},
                                                {"yearly", "*-01-01 00:00:00"},
                                                {"anually", "*-01-01 00:00:00"},  // backwards compatibility
                                                {"semiannually", "*-01,07-01 00:00:00"},
                                                {"semi-annually", "*-01,07-01 00:00:00"},
                                                {"biannually", "*-01,07-01 00:00:00"},
                                                {"bi-annually", "*-01,07-01 00:00:00"}}};

// Names of zones without a '/' that are in every tz database (tzdata: backward, etcetera, europe, northamerica).
constexpr std::array<std::string_view, 24> plain_zones{"CET",    "CST6CDT", "Cuba",   "EET",    "EST",     "EST5EDT",
                                                       "Egypt",  "GB",      "GMT",    "HST",    "Iceland", "Iran",
                                                       "Israel", "Japan",   "MET",    "MST",    "MST7MDT", "NZ",
                                                       "PRC",    "PST8PDT", "Poland", "Turkey", "WET",     "Zulu"};

bool is_zone(std::string_view word) {
    if (std::ranges::find(plain_zones, word) != plain_zones.end()) return true;
    if (word.find('/') == std::string_view::npos || word.front() == '/' || word.back() == '/') return false;
    if (word.find("//") != std::string_view::npos || std::isupper(static_cast<unsigned char>(word.front())) == 0)
        return false;
    return std::ranges::all_of(
        word, [](unsigned char c) { return std::isalnum(c) != 0 || is_any_of(static_cast<char>(c), "/_+-"); });
}

// Takes " UTC" or " Europe/Berlin" from the end.
void take_zone(std::string_view& text, Calendar& calendar) {
    const auto blank = text.rfind(' ');
    if (blank == std::string_view::npos) return;
    const auto word = text.substr(blank + 1);
    if (lower(word) == "utc") {
        calendar.utc = true;
    } else if (!word.empty() && is_zone(word)) {
        calendar.zone = std::string(word);
    } else {
        return;
    }
    text = text.substr(0, blank);
}

// calendarspec.c, normalize_chain: a range ends at its last step, and what comes once is no range.
void normalise(Calendar::Field& field) {
    for (auto& one : field) {
        if (one.stop > one.start && one.repeat > 0) one.stop -= (one.stop - one.start) % one.repeat;
        if ((one.stop > one.start && one.repeat > 0 && one.start + one.repeat > one.stop) || one.start == one.stop) {
            one.repeat = 0;
            one.stop = -1;
        }
    }
    std::ranges::sort(field);
    field.erase(std::unique(field.begin(), field.end()), field.end());
}

void complete_years(Calendar::Field& field) {
    for (auto& one : field) {
        for (auto* year : {&one.start, &one.stop}) {
            if (*year >= 0 && *year < 70) *year += 2000;
            if (*year >= 70 && *year < 100) *year += 1900;
        }
    }
}

bool is_valid(const Calendar::Field& field, std::int64_t from, std::int64_t to, bool from_end = false) {
    return std::ranges::all_of(field, [&](const Calendar::Component& one) {
        if (one.start < from || one.start > to || one.repeat > to - from) return false;
        if (one.stop >= 0) return one.stop >= from && one.stop <= to && one.start + one.repeat <= one.stop;
        return from_end ? one.start - one.repeat >= from : one.start + one.repeat <= to;
    });
}

// The field that holds a number out of its range; empty where all are valid.
std::string_view invalid_field(const Calendar& calendar) {
    if (!is_valid(calendar.year, first_year, last_year)) return "year (1970 to 2199)";
    if (!is_valid(calendar.month, 1, 12)) return "month (1 to 12)";
    if (!is_valid(calendar.day, 1, 31, calendar.from_end_of_month)) return "day (1 to 31)";
    if (!is_valid(calendar.hour, 0, 23)) return "hour (0 to 23)";
    if (!is_valid(calendar.minute, 0, 59)) return "minute (0 to 59)";
    if (!is_valid(calendar.second, 0, 60 * second_us - 1)) return "second (0 to 59)";
    return {};
}

Result<Calendar> finished(Calendar calendar) {
    complete_years(calendar.year);
    for (auto* field :
         {&calendar.year, &calendar.month, &calendar.day, &calendar.hour, &calendar.minute, &calendar.second})
        normalise(*field);
    if (calendar.weekdays == 127) calendar.weekdays = 0;
    if (calendar.day.empty()) calendar.from_end_of_month = false;
    if (const auto field = invalid_field(calendar); !field.empty())
        return wrong("it has an impossible " + std::string(field));
    return calendar;
}

std::string number(std::int64_t value, int width) {
    auto text = std::to_string(value);
    if (text.size() < static_cast<std::size_t>(width))
        text.insert(0, static_cast<std::size_t>(width) - text.size(), '0');
    return text;
}

std::string in_seconds(std::int64_t microseconds, int width) {
    auto text = number(microseconds / second_us, width);
    if (microseconds % second_us != 0) text += "." + number(microseconds % second_us, 6);
    return text;
}

std::string render_field(const Calendar::Field& field, int width, bool seconds = false) {
    const std::int64_t step = seconds ? second_us : 1;
    if (field.empty()) return "*";
    if (seconds && field.size() == 1 && field[0] == Calendar::Component{0, -1, second_us}) return "*";
    std::string text;
    for (const auto& one : field) {
        if (!text.empty()) text += ',';
        text += seconds ? in_seconds(one.start, width) : number(one.start, width);
        if (one.stop > 0) text += ".." + (seconds ? in_seconds(one.stop, width) : number(one.stop, width));
        if (one.repeat > 0 && !(one.stop > 0 && one.repeat == step))
            text += "/" + (seconds ? in_seconds(one.repeat, 1) : number(one.repeat, 1));
    }
    return text;
}

std::string render_weekdays(unsigned bits) {
    constexpr std::array<std::string_view, 7> names{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    std::string text;
    for (std::size_t day = 0; day < names.size(); ++day) {
        if ((bits >> day & 1U) == 0) continue;
        std::size_t last = day;
        while (last + 1 < names.size() && (bits >> (last + 1) & 1U) != 0) ++last;
        text += (text.empty() ? "" : ",") + std::string(names[day]);
        if (last > day) text += (last > day + 1 ? ".." : ",") + std::string(names[last]);
        day = last;
    }
    return text;
}

}  // namespace

Result<Calendar> parse_calendar(std::string_view text) {
    if (text.empty()) return wrong("it is empty", "write \"daily\", \"weekly\" or \"Sun 04:00\"");
    if (text.size() > longest_text) return wrong("it is longer than any schedule");
    if (text.find('\0') != std::string_view::npos) return wrong("it holds a NUL byte");
    Calendar calendar;
    take_zone(text, calendar);
    const auto word = lower(text);
    for (const auto& shorthand : shorthands) {
        if (word == shorthand.word) text = shorthand.means;
    }
    Cursor cursor(text);
    if (cursor.at_end()) return wrong("it is empty");
    if (!read_weekdays(cursor, calendar)) return wrong("its days of the week are wrong", "write Mon..Fri or Sat,Sun");
    if (cursor.peek() == '@') {
        if (!read_timestamp(cursor, calendar)) return wrong("a time in seconds since 1970 has digits only");
        return finished(std::move(calendar));
    }
    if (!read_date(cursor, calendar)) {
        std::vector<std::string> words;
        words.reserve(std::size(shorthands));
        for (const auto& shorthand : shorthands) words.emplace_back(shorthand.word);
        const auto near = nearest(word, words);
        return wrong("it is no date or time", near ? "write \"" + *near + "\"" : "see systemd.time(7)");
    }
    if (!read_time(cursor, calendar)) return wrong("its time is wrong", "write 04:00 or 04:00:00");
    return finished(std::move(calendar));
}

std::string render_calendar(const Calendar& calendar) {
    std::string text = calendar.weekdays == 0 ? "" : render_weekdays(calendar.weekdays) + " ";
    text += render_field(calendar.year, 4) + "-" + render_field(calendar.month, 2) +
            (calendar.from_end_of_month ? "~" : "-") + render_field(calendar.day, 2) + " " +
            render_field(calendar.hour, 2) + ":" + render_field(calendar.minute, 2) + ":" +
            render_field(calendar.second, 2, true);
    if (calendar.utc) text += " UTC";
    if (!calendar.zone.empty()) text += " " + calendar.zone;
    return text;
}

Result<std::string> normal_calendar(std::string_view text) {
    const auto calendar = parse_calendar(text);
    if (!calendar) return tl::make_unexpected(calendar.error());
    return render_calendar(*calendar);
}

}  // namespace storpol
