// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/trim_filesystem.h"

#include <algorithm>
#include <limits>

#include "engine/base/text.h"
#include "engine/host/trim_conditions.h"
#include "engine/host/trim_geometry.h"
#include "engine/host/trim_journal.h"

namespace storpol {
namespace {

using std::chrono::milliseconds;

// A killed run loses no more than this.
constexpr auto between_records = std::chrono::seconds(5);
constexpr auto before_first_record = std::chrono::seconds(1);
// Of every entry that a trim leaves in the journal: journalctl MESSAGE_ID=...
constexpr const char* message_id = "5d7a4e2f90c14f3c8f0be3b1a6d2c748";

std::int64_t signed_size(std::uint64_t size) {
    constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(size, limit));
}

milliseconds in_milliseconds(std::chrono::microseconds time) {
    return std::chrono::duration_cast<milliseconds>(time);
}

void journal(const TrimTarget& target, const TrimRun& run) {
    const bool is_well = run.outcome == TrimOutcome::trimmed || run.outcome == TrimOutcome::skipped;
    auto message = printable(target.target) + ": " + std::string(to_text(run.outcome));
    if (run.outcome != TrimOutcome::skipped) message += ", " + std::to_string(run.bytes) + " bytes";
    if (!run.why.empty()) message += " (" + printable(run.why) + ")";
    JournalFields fields{{"MESSAGE", message},
                         {"MESSAGE_ID", message_id},
                         {"PRIORITY", is_well ? "6" : "4"},
                         {"SYSLOG_IDENTIFIER", "storpol"},
                         {"STORPOL_TRIM_TARGET", target.target},
                         {"STORPOL_TRIM_SOURCE", target.source},
                         {"STORPOL_TRIM_OUTCOME", std::string(to_text(run.outcome))},
                         {"STORPOL_TRIM_BYTES", std::to_string(run.bytes)},
                         {"STORPOL_TRIM_MIN_EXTENT", std::to_string(run.min_extent)},
                         {"STORPOL_TRIM_TOOK_MSEC", std::to_string(run.took.count())}};
    if (!run.why.empty()) fields.emplace_back("STORPOL_TRIM_WHY", run.why);
    if (run.discards) fields.emplace_back("STORPOL_TRIM_DISCARDS", std::to_string(*run.discards));
    if (run.discarded_bytes) fields.emplace_back("STORPOL_TRIM_DISCARDED_BYTES", std::to_string(*run.discarded_bytes));
    send_to_journal(fields);
}

}  // namespace

TrimFilesystem::TrimFilesystem(TrimTarget target, TrimSurroundings& around, bool is_dry, std::vector<Finding>& findings)
    : target_(std::move(target)), around_(&around) {
    const auto fd = open_mounted(target_.target, target_.mount_id);
    if (fd) geometry_ = read_trim_geometry(fd->get(), target_.fstype, target_.source);
    if (!fd && target_.why_not.empty()) {
        target_.why_not = to_text(fd.error());
        is_unreadable_ = fd.error().kind != ErrorKind::changed && fd.error().kind != ErrorKind::no_such_file;
    }
    slices_ = cut(geometry_, target_.fstype);
    read_record(is_dry, findings);
    if (around.due_at && !target_.is_by_policy) {
        const auto not_due = why_not_due(record_, around.policy.schedule, *around.due_at);
        if (!not_due.empty()) {
            target_.why_not = not_due;
            target_.is_by_policy = true;
        }
    }
    auto floor = target_.min_extent;
    const auto limit = signed_size(geometry_.min_extent_limit);
    if (limit > 0 && floor > limit) floor = limit;
    pass_ = decide_pass(record_, TrimPassInput{now(), floor, around.policy.full_pass, around.wall_offset});
    if (!pass_.note.empty()) target_.note += (target_.note.empty() ? "" : "; ") + pass_.note;
}

std::string TrimFilesystem::now() const {
    return around_->machine.now().value_or("");
}

std::uint64_t TrimFilesystem::size() const {
    constexpr std::uint64_t unknown = std::uint64_t{1} << 30U;
    if (geometry_.chunks.empty()) return std::max(geometry_.size, unknown);
    std::uint64_t sum = unknown;
    for (const auto& chunk : geometry_.chunks) sum += chunk.length;
    return sum;
}

void TrimFilesystem::read_record(bool is_dry, std::vector<Finding>& findings) {
    file_ = std::string(trim_directory) + "/" + trim_file_name(geometry_.uuid, target_.device);
    const auto text = around_->store.read(file_);
    if (!text && text.error().kind == ErrorKind::no_such_file) return;
    auto record = text ? parse_trim_record(*text) : tl::unexpected<Error>(text.error());
    if (record) {
        record_ = std::move(*record);
        return;
    }
    Finding finding;
    finding.code = "trim-record-unreadable";
    finding.where = "/var/lib/storpol/" + file_;
    finding.says = record.error().what;
    const bool is_damaged = text && record.error().kind == ErrorKind::invalid;
    if (is_damaged && !is_dry && around_->store.replace(file_ + ".broken", *text)) {
        finding.says += "; put aside as .broken, a new one begins";
    } else if (!is_damaged) {
        finding.says += "; left as it is, so this trim is not remembered";
        file_.clear();
    }
    findings.push_back(std::move(finding));
}

void TrimFilesystem::write_record() {
    if (file_.empty()) return;
    record_.uuid = geometry_.uuid;
    record_.target = target_.target;
    record_.fstype = target_.fstype;
    record_.source = target_.source;
    const auto written = around_->store.replace(file_, render_trim_record(record_));
    write_error_ = written ? "" : to_text(written.error());
}

TrimEntry TrimFilesystem::entry() const {
    TrimEntry entry;
    entry.target = target_.target;
    entry.also_at = target_.also_at;
    entry.fstype = target_.fstype;
    entry.source = target_.source;
    entry.disks = target_.disks;
    entry.discards = target_.discards;
    entry.note = target_.note;
    entry.is_resumed = pass_.is_resumed;
    entry.pieces = slices_.count();
    entry.run.min_extent = pass_.min_extent;
    entry.run.is_full = pass_.is_full;
    entry.run.boot_id = around_->boot_id;
    entry.run.mount_id = target_.mount_id;
    return entry;
}

TrimEntry TrimFilesystem::planned() const {
    auto planned = entry();
    planned.is_dry = true;
    planned.run.why = target_.why_not;
    if (!is_to_be_trimmed()) planned.run.outcome = is_unreadable_ ? TrimOutcome::failed : TrimOutcome::skipped;
    return planned;
}

TrimEntry TrimFilesystem::skip() {
    auto skipped = entry();
    skipped.run.outcome = is_unreadable_ ? TrimOutcome::failed : TrimOutcome::skipped;
    skipped.run.why = target_.why_not;
    skipped.run.began = skipped.run.ended = now();
    if (target_.is_by_policy) return skipped;
    add_run(record_, skipped.run);
    write_record();
    journal(target_, skipped.run);
    return skipped;
}

TrimJob TrimFilesystem::job(std::chrono::microseconds window) const {
    TrimJob job;
    job.slices = slices_;
    job.position = static_cast<std::uint64_t>(pass_.position);
    job.bytes = static_cast<std::uint64_t>(pass_.bytes);
    job.min_extent = static_cast<std::uint64_t>(pass_.min_extent);
    job.window = window;
    const bool remembers = target_.fstype == "ext4" || target_.fstype == "ext3" || target_.fstype == "ext2";
    if (pass_.is_forced && remembers) job.forget_with = geometry_.group;
    job.block = geometry_.block;
    // Extents of one to two units may hold none that is aligned.
    job.lost_above = std::max(job.lost_above, 16 * target_.granularity);
    job.says_its_size = target_.fstype == "xfs";
    return job;
}

TrimRun TrimFilesystem::run_of(const TrimResult& result, const std::string& began) const {
    auto run = entry().run;
    run.began = began;
    run.ended = now();
    run.outcome = result.outcome;
    run.why = result.why;
    run.bytes = signed_size(result.bytes);
    run.took = in_milliseconds(result.took);
    run.in_trim = in_milliseconds(result.in_trim);
    run.slices = signed_size(result.slices);
    if (result.disks.counts_discards) {
        run.discards = signed_size(result.disks.discards);
        run.discarded_bytes = signed_size(result.disks.discarded_bytes);
        run.written_bytes = signed_size(result.disks.written_bytes);
    }
    return run;
}

TrimEntry TrimFilesystem::trim(std::chrono::microseconds window,
                               const StopSignals& stop,
                               const std::function<void(const TrimProgress&)>& progress) {
    const bool minds_battery = around_->is_scheduled && around_->policy.skips_on_battery;
    LiveTrimTarget live{target_.target, target_.mount_id, target_.disks, around_->policy.priority, {}};
    if (minds_battery) live.is_on_battery = [this] { return is_on_battery(around_->machine); };
    const auto device = make_trim_device(live, stop);
    const auto began = now();
    auto next_record = monotonic_now() + before_first_record;
    TrimResume resume{pass_.began, pass_.position, pass_.bytes, pass_.min_extent, pass_.is_full, pass_.is_forced};
    auto what = job(window);
    what.progress = [&](const TrimProgress& made) {
        resume.position = signed_size(made.position);
        resume.bytes = signed_size(made.bytes);
        if (monotonic_now() >= next_record) {
            record_.resume = resume;
            write_record();
            next_record = monotonic_now() + between_records;
        }
        if (progress) progress(made);
    };
    const auto result = run_trim(what, *device);
    auto done = entry();
    done.run = run_of(result, began);
    done.longest = in_milliseconds(result.longest);
    record_.resume.reset();
    if (result.outcome == TrimOutcome::interrupted && result.position > 0) {
        resume.position = signed_size(result.position);
        resume.bytes = signed_size(result.bytes);
        record_.resume = resume;
    }
    add_run(record_, done.run);
    write_record();
    journal(target_, done.run);
    return done;
}

}  // namespace storpol
