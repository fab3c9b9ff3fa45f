// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/rule.h"

#include <array>

#include "engine/text/calendar.h"
#include "resources/keys.h"

namespace storpol {
namespace {

// 2026-01-01: a schedule that ended before there was a storpol is a mistake on every host, whatever its clock says.
constexpr std::int64_t never_before = 1767225600;

std::optional<Key::Objection> check_calendar(const std::string&, const std::string& text) {
    const auto calendar = parse_calendar(text);
    if (!calendar) return Key::Objection{"no calendar expression: " + calendar.error().what, calendar.error().fix};
    if (!is_ever_due(*calendar, never_before))
        return Key::Objection{"it never comes: " + render_calendar(*calendar), "write a day that exists"};
    return std::nullopt;
}

Key calendar_key(std::string name, std::string doc) {
    Key key = key_of(std::move(name), KeyType::word, std::move(doc));
    key.check = check_calendar;
    return key;
}

Key word_key(std::string name, std::vector<std::string> choices, std::string doc) {
    Key key = key_of(std::move(name), KeyType::word, std::move(doc));
    key.choices = std::move(choices);
    return key;
}

Key evidence_key() {
    Key runs = key_of("max-zero-byte-runs", KeyType::integer,
                      "How many successful runs in a row may report nothing trimmed. Runs that print no line for a "
                      "filesystem count as such.");
    runs.unit = "runs";
    runs.min = 0;
    runs.max = 1000;
    Key evidence = key_of("evidence", KeyType::table,
                          "What must have happened, by the journal of the service and storpol's own record: a timer "
                          "that is enabled is not a trim that ran.");
    evidence.keys = {
        key_of("max-age", KeyType::duration, "The last successful trim of each filesystem may be this long ago."),
        runs};
    return evidence;
}

Key nice_key() {
    Key nice = key_of("nice", KeyType::integer, "CPU priority of the run, 19 the lowest.");
    nice.min = -20;
    nice.max = 19;
    return nice;
}

Key min_extent_key(std::string doc) {
    Key key = key_of("min-extent", KeyType::size, std::move(doc));
    key.min = 0;
    // ext4 refuses a floor above what one block group holds, and fails the whole trim (kernel fs/ext4/mballoc.c).
    key.max = std::int64_t{128} << 20;
    return key;
}

PolicyError error_at(const FstrimWish& wish, std::string says, std::string fix) {
    PolicyError error;
    error.where = wish.place;
    error.says = std::move(says);
    error.fix = std::move(fix);
    error.width = static_cast<int>(wish.text.size());
    return error;
}

void check_runner(const FstrimPolicy& read, Notes& notes) {
    if (read.is_run_by_storpol()) return;
    for (const char* key : {"full-pass", "window"}) {
        const auto* wish = read.find(key);
        if (wish == nullptr) continue;
        notes.add(error_at(*wish, std::string(key) + " is the paced runner's: fstrim has no such thing",
                           "write runner = \"storpol\" beside it, or take it out"));
    }
}

void read_evidence(const PolicyNode& node, FstrimPolicy& read) {
    read.evidence = node.place;
    if (node.table() == nullptr) return;
    for (const auto& [key, place, value] : node.table()->entries) {
        if (key == "max-age") read.max_age = FstrimWish{value.text, value.number, value.place};
        if (key == "max-zero-byte-runs") read.max_zero_byte_runs = FstrimWish{value.text, value.number, value.place};
    }
}

}  // namespace

const FstrimWish* FstrimPolicy::find(std::string_view key) const {
    const auto at = keys.find(std::string(key));
    return at == keys.end() ? nullptr : &at->second;
}

bool FstrimPolicy::is_enabled() const {
    const auto* enabled = find("enabled");
    return enabled == nullptr || enabled->text != "false";
}

bool FstrimPolicy::is_run_by_storpol() const {
    const auto* runner = find("runner");
    return runner != nullptr && runner->text == "storpol";
}

std::optional<FstrimPolicy> read_fstrim_policy(const Policy& policy, Notes& notes) {
    const auto* table = policy.find("fstrim");
    if (table == nullptr || table->table() == nullptr) return std::nullopt;
    FstrimPolicy read;
    read.place = table->place;
    for (const auto& [key, place, value] : table->table()->entries) {
        if (key == "evidence") {
            read_evidence(value, read);
        } else {
            read.keys[key] = FstrimWish{value.text, value.number, value.place};
        }
    }
    check_runner(read, notes);
    return read;
}

PolicyKeys fstrim_keys() {
    Key fstrim = key_of("fstrim", KeyType::table, "The scheduled trim: fstrim.timer and fstrim.service.");
    fstrim.keys = {
        key_of("enabled", KeyType::boolean,
               "Whether the timer is active after the next start: its links and its start conditions.", "true"),
        calendar_key("schedule",
                     "When it runs, as a calendar expression of systemd.time(7): \"weekly\", \"Sun 04:00\"."),
        key_of("catch-up", KeyType::boolean,
               "Whether a run that was missed (the machine was off) happens at the next start: Persistent=. systemd "
               "counts a run that failed, or that a condition skipped, as one that happened."),
        key_of("boot-delay", KeyType::duration, "Runs once after each boot, this long after it: OnBootSec=."),
        key_of("random-delay", KeyType::duration,
               "Runs up to this much later than due, so that many machines do not trim at once: RandomizedDelaySec=."),
        min_extent_key("Free extents smaller than this are left alone: a run is far shorter, and what it leaves can be "
                       "most of the free space of a fragmented filesystem."),
        calendar_key("full-pass", "How often the paced runner trims without the floor."),
        word_key("io-class", {"idle", "best-effort", "realtime"},
                 "I/O priority of the run: IOSchedulingClass=. Only the schedulers bfq and mq-deadline honour it."),
        nice_key(),
        word_key("on-battery", {"skip", "run"},
                 "Whether it runs on battery. With fstrim a run that is skipped is not made up for: systemd counts it "
                 "as one that happened; the paced runner waits for power."),
        word_key("runner", {"fstrim", "storpol"},
                 "What runs: util-linux's fstrim, or `storpol trim`, which is paced, resumable and keeps a record."),
        key_of("window", KeyType::duration, "The paced runner finishes within this time."),
        evidence_key(),
    };
    Key exception = key_of("fstrim", KeyType::table, "The scheduled trim of these mounts' filesystems.");
    exception.keys = {
        key_of("enabled", KeyType::boolean,
               "false leaves them out of scheduled trims (X-fstrim.notrim in fstab where fstrim runs).", "true"),
        min_extent_key("Their own floor; the paced runner's only.")};
    Key mount = key_of("mount", KeyType::rule_array,
                       "Options of mounted filesystems. All matching rules apply, option by option; of one option the "
                       "later rule wins. A "
                       "filesystem that is mounted more than once is one setting, named by its shortest mount point.");
    mount.keys = {exception};
    return {{fstrim, mount}};
}

}  // namespace storpol
