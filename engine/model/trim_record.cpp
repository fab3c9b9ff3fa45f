// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/trim_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/model/json_fields.h"

namespace storpol {
namespace {

constexpr int trim_format = 1;

constexpr std::array outcomes{TrimOutcome::trimmed, TrimOutcome::interrupted, TrimOutcome::failed, TrimOutcome::lost,
                              TrimOutcome::skipped};

void add_text(Json& json, const char* key, const std::string& text) {
    if (!text.empty()) json[key] = escape_bytes(text);
}

void add_number(Json& json, const char* key, const std::optional<std::int64_t>& number) {
    if (number) json[key] = *number;
}

Json to_json(const TrimRun& run) {
    Json json{{"began", escape_bytes(run.began)}, {"ended", escape_bytes(run.ended)}};
    json["outcome"] = std::string(to_text(run.outcome));
    add_text(json, "why", run.why);
    json["bytes"] = run.bytes;
    json["min-extent"] = run.min_extent;
    json["full"] = run.is_full;
    json["took-ms"] = run.took.count();
    json["in-trim-ms"] = run.in_trim.count();
    json["slices"] = run.slices;
    add_number(json, "discards", run.discards);
    add_number(json, "discarded-bytes", run.discarded_bytes);
    add_number(json, "written-bytes", run.written_bytes);
    add_text(json, "boot-id", run.boot_id);
    add_text(json, "mount-id", run.mount_id);
    return json;
}

Json to_json(const TrimResume& resume) {
    return Json{{"began", escape_bytes(resume.began)}, {"position", resume.position}, {"bytes", resume.bytes},
                {"min-extent", resume.min_extent},     {"full", resume.is_full},      {"forced", resume.is_forced}};
}

// Reads members of one object; the first that is not as it should be is kept.
class Reader {
  public:
    explicit Reader(const Json& json) : json_(json) {
        if (!json.is_object()) error_ = Error{ErrorKind::invalid, "not an object", {}, {}, 0};
    }

    void text(const char* key, std::string& into) {
        if (!error_) take(text_member_or_empty(json_, key), into);
    }

    // No count, size or address of a filesystem is below zero.
    void number(const char* key, std::int64_t& into) {
        if (error_) return;
        take(int_member(json_, key), into);
        if (!error_ && into < 0)
            error_ = Error{ErrorKind::invalid, std::string("\"") + key + "\" is negative", {}, {}, 0};
    }

    void number(const char* key, std::optional<std::int64_t>& into) {
        if (error_ || !json_.contains(key)) return;
        std::int64_t value = 0;
        number(key, value);
        into = value;
    }

    void milliseconds(const char* key, std::chrono::milliseconds& into) {
        std::int64_t value = 0;
        number(key, value);
        into = std::chrono::milliseconds(value);
    }

    void boolean(const char* key, bool& into) {
        if (error_) return;
        const auto found = json_.find(key);
        if (found == json_.end() || !found->is_boolean()) {
            error_ = Error{ErrorKind::invalid, std::string("\"") + key + "\" is not true or false", {}, {}, 0};
        } else {
            into = found->get<bool>();
        }
    }

    const std::optional<Error>& error() const { return error_; }

    void fail_with(std::string what) {
        if (!error_) error_ = Error{ErrorKind::invalid, std::move(what), {}, {}, 0};
    }

  private:
    template <class T>
    void take(Result<T> result, T& into) {
        if (result) {
            into = std::move(*result);
        } else {
            error_ = std::move(result.error());
        }
    }

    const Json& json_;
    std::optional<Error> error_;
};

Result<TrimRun> run_from_json(const Json& json) {
    TrimRun run;
    Reader reader(json);
    std::string outcome;
    reader.text("began", run.began);
    reader.text("ended", run.ended);
    reader.text("outcome", outcome);
    reader.text("why", run.why);
    reader.number("bytes", run.bytes);
    reader.number("min-extent", run.min_extent);
    reader.boolean("full", run.is_full);
    reader.milliseconds("took-ms", run.took);
    reader.milliseconds("in-trim-ms", run.in_trim);
    reader.number("slices", run.slices);
    reader.number("discards", run.discards);
    reader.number("discarded-bytes", run.discarded_bytes);
    reader.number("written-bytes", run.written_bytes);
    reader.text("boot-id", run.boot_id);
    reader.text("mount-id", run.mount_id);
    const auto parsed = parse_trim_outcome(outcome);
    if (parsed) run.outcome = *parsed;
    if (!parsed) reader.fail_with("no outcome of a trim is called \"" + printable(outcome) + "\"");
    if (reader.error()) return tl::unexpected<Error>(*reader.error());
    return run;
}

Result<TrimResume> resume_from_json(const Json& json) {
    TrimResume resume;
    Reader reader(json);
    reader.text("began", resume.began);
    reader.number("position", resume.position);
    reader.number("bytes", resume.bytes);
    reader.number("min-extent", resume.min_extent);
    reader.boolean("full", resume.is_full);
    if (json.is_object() && json.contains("forced")) reader.boolean("forced", resume.is_forced);
    if (reader.error()) return tl::unexpected<Error>(*reader.error());
    return resume;
}

template <class T>
Result<void> read_member(const Json& json, const char* key, std::optional<T>& into, Result<T> (*read)(const Json&)) {
    const auto found = json.find(key);
    if (found == json.end()) return {};
    auto value = read(*found);
    if (value) {
        into = std::move(*value);
        return {};
    }
    value.error().where = key;
    return tl::unexpected<Error>(std::move(value.error()));
}

Result<void> read_runs(const Json& json, std::vector<TrimRun>& runs) {
    const auto list = array_member(json, "runs");
    if (!list) return tl::unexpected<Error>(list.error());
    for (const Json& element : **list) {
        auto run = run_from_json(element);
        if (!run) {
            run.error().where = "runs[" + std::to_string(runs.size()) + "]";
            return tl::unexpected<Error>(std::move(run.error()));
        }
        runs.push_back(std::move(*run));
    }
    return {};
}

}  // namespace

std::string_view to_text(TrimOutcome outcome) {
    switch (outcome) {
        case TrimOutcome::trimmed:
            return "trimmed";
        case TrimOutcome::interrupted:
            return "interrupted";
        case TrimOutcome::failed:
            return "failed";
        case TrimOutcome::lost:
            return "lost";
        case TrimOutcome::skipped:
            return "skipped";
    }
    STORPOL_BUG("a trim outcome outside its enum");
}

std::optional<TrimOutcome> parse_trim_outcome(std::string_view text) {
    for (const TrimOutcome outcome : outcomes) {
        if (to_text(outcome) == text) return outcome;
    }
    return std::nullopt;
}

std::string trim_file_name(std::string_view uuid, std::string_view device) {
    std::string name(uuid.empty() ? "dev-" + std::string(device) : std::string(uuid));
    // cciss/c0d0 has '!' in sysfs and '/' in /dev; no name may begin with a dot or be a path.
    for (char& byte : name) {
        const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                              (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_';
        if (!is_plain) byte = '_';
    }
    return name.substr(0, 100) + ".json";
}

void add_run(TrimRecord& record, TrimRun run) {
    if (run.outcome == TrimOutcome::trimmed) record.last_success = run;
    if (run.outcome == TrimOutcome::trimmed && run.min_extent == 0) record.last_full = run;
    const bool replaces = run.outcome == TrimOutcome::skipped && !record.runs.empty() &&
                          record.runs.back().outcome == TrimOutcome::skipped;
    if (replaces) record.runs.pop_back();
    record.runs.push_back(std::move(run));
    if (record.runs.size() > max_trim_runs)
        record.runs.erase(record.runs.begin(), record.runs.end() - static_cast<std::ptrdiff_t>(max_trim_runs));
}

int zero_byte_runs(const TrimRecord& record) {
    int count = 0;
    for (std::size_t index = record.runs.size(); index-- > 0;) {
        const TrimRun& run = record.runs[index];
        if (run.outcome != TrimOutcome::trimmed) continue;
        if (run.bytes != 0) break;
        if (index == 0) continue;  // nothing to compare with
        const TrimRun& before = record.runs[index - 1];
        const bool is_known = run.written_bytes && before.written_bytes && run.boot_id == before.boot_id;
        if (!is_known || *run.written_bytes > *before.written_bytes) ++count;
    }
    return count;
}

std::string render_trim_record(const TrimRecord& record) {
    Json json{{"format", trim_format}};
    add_text(json, "uuid", record.uuid);
    add_text(json, "target", record.target);
    add_text(json, "fstype", record.fstype);
    add_text(json, "source", record.source);
    json["runs"] = Json::array();
    for (const TrimRun& run : record.runs) json["runs"].push_back(to_json(run));
    if (record.last_success) json["last-success"] = to_json(*record.last_success);
    if (record.last_full) json["last-full"] = to_json(*record.last_full);
    if (record.resume) json["resume"] = to_json(*record.resume);
    return json.dump(1) + "\n";
}

Result<TrimRecord> parse_trim_record(std::string_view text) {
    const auto json = parse_json(text, {});
    if (!json) return tl::unexpected<Error>(json.error());
    const auto format = int_member(*json, "format");
    if (!format) return tl::unexpected<Error>(format.error());
    if (*format != trim_format)
        return fail(ErrorKind::unsupported,
                    "trim record format " + std::to_string(*format) + " is not known to this version", {},
                    "use the version of storpol that wrote it, or a newer one");
    TrimRecord record;
    Reader reader(*json);
    reader.text("uuid", record.uuid);
    reader.text("target", record.target);
    reader.text("fstype", record.fstype);
    reader.text("source", record.source);
    if (reader.error()) return tl::unexpected<Error>(*reader.error());
    const auto read =
        read_runs(*json, record.runs)
            .and_then([&] { return read_member(*json, "last-success", record.last_success, run_from_json); })
            .and_then([&] { return read_member(*json, "last-full", record.last_full, run_from_json); })
            .and_then([&] { return read_member(*json, "resume", record.resume, resume_from_json); });
    if (!read) return tl::unexpected<Error>(read.error());
    return record;
}

}  // namespace storpol
