// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/evidence.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/reconcile/clock.h"
#include "engine/topology/block_device.h"
#include "engine/topology/stack.h"
#include "engine/topology/topology.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

constexpr std::int64_t clock_slack_s = 3600;  // of two clocks that are both right

std::string age_text(std::int64_t seconds) {
    if (seconds < 2 * 3600) return std::to_string(seconds / 60) + " min";
    return seconds < 2 * 86400 ? std::to_string(seconds / 3600) + " h" : std::to_string(seconds / 86400) + " d";
}

// /: 879.6 GiB (944478048256 bytes) trimmed on /dev/mapper/qroot
// The words are translated; the bracket is not.
std::optional<TrimServiceRun::Line> parse_trimmed(std::string_view text) {
    const auto end = text.rfind(" bytes)");
    const auto open = end == std::string_view::npos ? end : text.rfind('(', end);
    const auto colon = open == std::string_view::npos ? open : text.rfind(": ", open);
    if (colon == std::string_view::npos || text.empty() || text.front() != '/') return std::nullopt;
    const auto bytes = parse_int(text.substr(open + 1, end - open - 1));
    if (!bytes || *bytes < 0) return std::nullopt;
    TrimServiceRun::Line line;
    line.target = std::string(text.substr(0, colon));
    line.bytes = *bytes;
    return line;
}

// fstrim: /: FITRIM ioctl failed: Input/output error
std::optional<TrimServiceRun::Line> parse_failed(std::string_view text) {
    constexpr std::string_view program = "fstrim: ";
    constexpr std::string_view failed = ": FITRIM ioctl failed";
    const auto at = text.find(failed);
    if (!text.starts_with(program) || at == std::string_view::npos || at < program.size()) return std::nullopt;
    TrimServiceRun::Line line;
    line.target = std::string(text.substr(program.size(), at - program.size()));
    const auto why = trim(text.substr(at + failed.size()));
    line.error = std::string(why.starts_with(':') ? trim(why.substr(1)) : why);
    if (line.error.empty()) line.error = "the trim failed";
    return line;
}

std::string value_of(std::string_view words, std::string_view key) {
    for (const auto word : split_words(words)) {
        if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == '=')
            return std::string(word.substr(key.size() + 1));
    }
    return {};
}

bool is_of(const TrimServiceRun::Line& line, const std::set<std::string>& targets) {
    return targets.contains(line.target);
}

std::set<std::string> targets_of(const ManagedFilesystem& filesystem) {
    std::set<std::string> targets;
    for (const auto& mount : filesystem.mounts) targets.insert(mount.target);
    return targets;
}

bool is_failure(const TrimServiceRun& run) {
    return !run.result.empty() && run.result != "success" && run.result != "condition";
}

// Reports print the raw text in place of the word, so what is wrong opens it.
Reading found(std::string_view word, std::string raw, std::string source) {
    if (word != evidence_fresh) raw = std::string(word) + ": " + raw;
    return Reading{Found{Value{std::string(word)}, std::move(raw)}, std::move(source), {}};
}

// Which filesystem each device holds, as udev linked them.
std::multimap<std::string, std::string> read_uuids(Host& host) {
    std::multimap<std::string, std::string> uuids;
    const std::string folder = "/dev/disk/by-uuid";
    const auto names = host.list(folder);
    for (const auto& name : names ? *names : std::vector<std::string>{}) {
        const auto target = host.read_link(folder + "/" + name);
        if (target) uuids.emplace(target->substr(target->rfind('/') + 1), name);
    }
    return uuids;
}

bool is_same_uuid(std::string_view one, std::string_view other) {
    return std::ranges::equal(one, other,
                              [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

std::string newest_end(const TrimRecord& record) {
    return record.runs.empty() ? std::string() : record.runs.back().ended;
}

// The record without what ended by then, but for the last of that, which the next run is compared with.
TrimRecord since(TrimRecord record, const std::string& time) {
    const auto first = std::ranges::find_if(record.runs, [&time](const TrimRun& run) { return run.ended > time; });
    if (first != record.runs.begin()) record.runs.erase(record.runs.begin(), first - 1);
    return record;
}

std::string runs_text(int count) {
    return std::to_string(count) + (count == 1 ? " run" : " runs");
}

std::string bytes_text(std::int64_t bytes) {
    return std::to_string(bytes) + " bytes offered";
}

}  // namespace

std::vector<TrimServiceRun> parse_trim_runs(std::string_view journal) {
    std::vector<TrimServiceRun> runs;
    bool is_open = false;
    const auto current = [&]() -> TrimServiceRun& {
        if (!is_open) runs.emplace_back();
        is_open = true;
        return runs.back();
    };
    for (const auto entry : split_lines(journal)) {
        const auto blank = entry.find(' ');
        const auto time = entry.substr(0, blank);
        if (blank == std::string_view::npos || !seconds_of(time)) continue;
        const auto rest = trim(entry.substr(blank));
        if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"') {
            const auto text = rest.substr(1, rest.size() - 2);
            auto line = parse_trimmed(text);
            if (!line) line = parse_failed(text);
            if (!line) continue;
            line->time = time;
            current().ended = time;
            current().lines.push_back(std::move(*line));
        } else if (auto result = value_of(rest, "result"); !result.empty()) {
            auto& run = current();
            run.ended = time;
            run.result = std::move(result);
            run.status = value_of(rest, "status");
            is_open = false;
        }
    }
    return runs;
}

TrimEvidence::TrimEvidence(std::string service, const Topology& topology, Host& host)
    : topology_(topology), host_(host), journal_source_("journal of " + service) {
    const auto journal = host.journal(service, journal_entries);
    if (journal) {
        runs_ = parse_trim_runs(*journal);
    } else {
        journal_unknown_ = journal.error().what;
    }
    const auto names = host.list(trim_path);
    if (!names && names.error().kind != ErrorKind::no_such_file) records_unknown_ = names.error().what;
    for (const auto& name : names ? *names : std::vector<std::string>{}) {
        if (!name.ends_with(".json") || name.starts_with('.')) continue;
        const auto path = std::string(trim_path) + "/" + name;
        const auto text = host.read_file(path);
        auto record = text ? parse_trim_record(*text) : Result<TrimRecord>(tl::unexpect, text.error());
        if (record) {
            records_.push_back(std::move(*record));
        } else {
            records_unknown_ = path + ": " + record.error().what;
        }
    }
    if (!records_.empty()) uuids_ = read_uuids(host);
    const auto now = host.now();
    now_ = now ? seconds_of(*now) : std::nullopt;
    if (!now_) now_unknown_ = now ? "the clock says " + printable(*now) : now.error().what;
}

// An old filesystem at the same place has a record too. Where udev links the uuids of what is mounted here, the
// record's is one of them; else it names the source.
bool TrimEvidence::is_of_filesystem(const TrimRecord& record, const ManagedFilesystem& filesystem) const {
    if (!targets_of(filesystem).contains(record.target)) return false;
    const auto* superblock = superblock_of(filesystem, topology_);
    if (superblock == nullptr) return true;
    bool has_uuid = false;
    for (const auto* top : stacks(topology_, host_).of(*superblock).tops) {
        const auto [from, to] = uuids_.equal_range(top->device.name);
        for (auto at = from; at != to; ++at) {
            has_uuid = true;
            if (is_same_uuid(at->second, record.uuid)) return true;
        }
    }
    if (has_uuid && !record.uuid.empty()) return false;
    return record.source.empty() || record.source == superblock->source;
}

const TrimRecord* TrimEvidence::record_of(const ManagedFilesystem& filesystem) const {
    const TrimRecord* newest = nullptr;
    for (const auto& record : records_) {
        if (!is_of_filesystem(record, filesystem)) continue;
        if (newest == nullptr || newest_end(*newest) < newest_end(record)) newest = &record;
    }
    return newest;
}

// fstrim names what it trims in the journal, `storpol trim` in its record. A run without a line may be of either: it is
// the latter's where a record has a run since the one before it, and fstrim has none between both.
bool TrimEvidence::is_recorded(std::size_t run) const {
    if (!runs_[run].lines.empty()) return false;
    std::size_t behind = run + 1;
    while (behind < runs_.size() && runs_[behind].lines.empty()) ++behind;
    const auto from = run == 0 ? std::string() : runs_[run - 1].ended;
    return std::ranges::any_of(records_, [&](const TrimRecord& record) {
        return std::ranges::any_of(record.runs, [&](const TrimRun& one) {
            return one.ended > from && (behind == runs_.size() || one.ended <= runs_[behind].ended);
        });
    });
}

std::optional<TrimEvidence::Success> TrimEvidence::last_success(const ManagedFilesystem& filesystem) const {
    std::optional<Success> success;
    const auto take = [&success](const std::string& time, std::int64_t bytes, const std::string& source) {
        if (!success || success->time < time) success = Success{time, bytes, source};
    };
    const auto targets = targets_of(filesystem);
    for (const auto& run : runs_) {
        for (const auto& line : run.lines) {
            if (line.error.empty() && is_of(line, targets)) take(line.time, line.bytes, journal_source_);
        }
    }
    const auto* record = record_of(filesystem);
    if (record != nullptr && record->last_success)
        take(record->last_success->ended, record->last_success->bytes, std::string(trim_path));
    return success;
}

// Runs that gave this filesystem nothing, of both runners, the newest first, until one that gave it some. A run of the
// service that succeeds without a line for it (fstrim passed over it) is such a run.
int TrimEvidence::zero_byte_runs_of(const ManagedFilesystem& filesystem) const {
    const auto targets = targets_of(filesystem);
    const auto* record = record_of(filesystem);
    std::string gave;  // when a run last gave it some
    for (const auto& run : record == nullptr ? std::vector<TrimRun>{} : record->runs) {
        if (run.outcome == TrimOutcome::trimmed && run.bytes > 0) gave = std::max(gave, run.ended);
    }
    std::vector<std::string> nothing;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
        const auto& run = runs_[at];
        if (run.result == "condition" || is_recorded(at)) continue;
        std::int64_t bytes = 0;
        for (const auto& line : run.lines) {
            if (is_of(line, targets)) bytes += line.bytes;
        }
        if (bytes == 0) nothing.push_back(run.ended);
        if (bytes > 0) gave = std::max(gave, run.ended);
    }
    const auto count = std::ranges::count_if(nothing, [&gave](const std::string& time) { return time > gave; });
    return static_cast<int>(count) + (record == nullptr ? 0 : zero_byte_runs(since(*record, gave)));
}

Reading TrimEvidence::judge(const std::optional<Success>& success,
                            const std::string& failure,
                            int zero_byte_runs,
                            const EvidenceLimits& limits) const {
    if (!now_) return Reading{Unknown{now_unknown_}, {}, {}};
    if (!failure.empty()) return found(evidence_failing, failure, success ? success->source : journal_source_);
    if (!success) {
        if (!journal_unknown_.empty()) return Reading{Unknown{journal_unknown_}, journal_source_, {}};
        if (!records_unknown_.empty()) return Reading{Unknown{records_unknown_}, std::string(trim_path), {}};
        const auto empty = zero_byte_runs > 0 ? "; " + runs_text(zero_byte_runs) + " trimmed nothing" : "";
        return found(evidence_never, "no trim that reached it is on record" + empty, journal_source_);
    }
    const auto when = seconds_of(success->time);
    if (!when || *when > *now_ + clock_slack_s) {
        return Reading{Unknown{"the last trim on record, " + printable(success->time) +
                               ", lies in the future: a clock was or is wrong"},
                       success->source,
                       {}};
    }
    const auto age = std::max<std::int64_t>(0, *now_ - *when);
    const auto said = "last trimmed " + age_text(age) + " ago, at " + success->time + ", " + bytes_text(success->bytes);
    if (limits.max_age_s && age > *limits.max_age_s) return found(evidence_overdue, said, success->source);
    if (limits.max_zero_byte_runs && zero_byte_runs > *limits.max_zero_byte_runs)
        return found(evidence_empty, runs_text(zero_byte_runs) + " in a row trimmed nothing", success->source);
    return found(evidence_fresh, said, success->source);
}

Reading TrimEvidence::of(const ManagedFilesystem& filesystem, const EvidenceLimits& limits) const {
    const auto success = last_success(filesystem);
    const auto targets = targets_of(filesystem);
    std::string failure;
    std::string failed_at;
    for (const auto& run : runs_) {
        for (const auto& line : run.lines) {
            if (line.error.empty() || !is_of(line, targets)) continue;
            failed_at = line.time;
            failure = "the last trim failed at " + line.time + ": " + printable(line.error);
        }
    }
    const auto* record = record_of(filesystem);
    if (record != nullptr && !record->runs.empty()) {
        const auto& last = record->runs.back();
        const bool is_bad = last.outcome == TrimOutcome::failed || last.outcome == TrimOutcome::lost;
        if (is_bad && last.ended > failed_at) {
            failed_at = last.ended;
            failure = "the last trim " + std::string(to_text(last.outcome)) + " at " + last.ended + ": " +
                      printable(last.why);
        }
    }
    if (success && success->time > failed_at) failure.clear();
    return judge(success, failure, zero_byte_runs_of(filesystem), limits);
}

Reading TrimEvidence::of_service(const EvidenceLimits& limits, const std::string& last_trigger) const {
    std::optional<Success> success;
    int empty_runs = 0;
    std::string recorded;
    for (const auto& record : records_) {
        if (!record.last_success || (success && success->time >= record.last_success->ended)) continue;
        recorded = record.last_success->ended;
        success = Success{recorded, 0, std::string(trim_path)};
    }
    for (std::size_t at = 0; at < runs_.size(); ++at) {
        const auto& run = runs_[at];
        bool trimmed = false;
        for (const auto& line : run.lines) {
            if (!line.error.empty()) continue;
            trimmed = trimmed || line.bytes > 0;
            if (!success || success->time < line.time) success = Success{line.time, 0, journal_source_};
        }
        const bool counts = run.result != "condition" && run.ended > recorded && !is_recorded(at);
        if (counts) empty_runs = trimmed ? 0 : empty_runs + 1;
    }
    if (success) {
        success->bytes = 0;
        for (const auto& run : runs_) {
            for (const auto& line : run.lines) {
                if (run.ended >= success->time) success->bytes += line.bytes;
            }
        }
    }
    std::string failure;
    if (!runs_.empty() && is_failure(runs_.back()) && !(success && success->time > runs_.back().ended)) {
        const auto& last = runs_.back();
        failure = "the last run, at " + last.ended + ", ended with " + printable(last.result) +
                  (last.status.empty() ? "" : " " + printable(last.status));
    } else if (!runs_.empty() && runs_.back().result == "condition" &&
               !(success && success->time > runs_.back().ended)) {
        // systemd counts it as a run: neither catch-up nor a retry follows.
        const auto& last = runs_.back();
        const bool is_overdue =
            !success || (limits.max_age_s && now_ && *now_ - seconds_of(success->time).value_or(0) > *limits.max_age_s);
        if (is_overdue)
            failure = "the last run, at " + last.ended + ", was skipped by a condition" +
                      (last.status.empty() ? "" : " (" + printable(last.status) + ")");
    }
    auto reading = judge(success, failure, empty_runs, limits);
    auto* state = std::get_if<Found>(&reading.state);
    if (state != nullptr && !last_trigger.empty()) state->raw += "; the timer last fired at " + printable(last_trigger);
    return reading;
}

}  // namespace storpol
