// SPDX-License-Identifier: GPL-3.0-or-later
// trim: gives the free space of filesystems back to their disks, at a pace that leaves these to others.
#include <algorithm>
#include <cstdio>

#include "engine/base/text.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"
#include "engine/cli/session.h"
#include "engine/cli/trim_filesystem.h"
#include "engine/cli/trim_targets.h"
#include "engine/host/trim_conditions.h"
#include "engine/host/trim_stop.h"
#include "engine/reconcile/clock.h"
#include "engine/report/trim_report.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

using Time = std::chrono::microseconds;

// The words of the command line: policies are known by their names, all others are mounts.
struct Words {
    Options options;  // with the policies alone
    std::vector<std::string> mounts;
};

Result<Words> split_words_of(const Options& options) {
    Words words{options, {}};
    words.options.policies.clear();
    for (const auto& word : options.policies) {
        if (word.starts_with("builtin:") || word.ends_with(".toml")) {
            words.options.policies.push_back(word);
        } else if (word.starts_with('/')) {
            words.mounts.push_back(word);
        } else {
            return fail(ErrorKind::invalid, "neither a policy nor a mount point", printable(word),
                        "a policy is builtin:NAME or a file that ends in .toml, a mount point an absolute path");
        }
    }
    return words;
}

// One line that is overwritten, on a terminal and only once there is something to wait for.
class ProgressLine {
  public:
    explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}

    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    ~ProgressLine() { clear(); }

    void show(const std::string& target, const TrimProgress& made) {
        if (!is_shown_ || monotonic_now() < next_) return;
        next_ = monotonic_now() + std::chrono::milliseconds(500);
        const auto share =
            static_cast<double>(made.units) / static_cast<double>(std::max<std::uint64_t>(1, made.of_units));
        std::fprintf(stderr, "\r\x1b[K%s", render_trim_progress(target, share, made.left, made.is_busy).c_str());
        is_there_ = true;
    }

    void clear() {
        if (is_there_) std::fputs("\r\x1b[K", stderr);
        is_there_ = false;
    }

  private:
    bool is_shown_;
    bool is_there_ = false;
    Time next_{monotonic_now() + std::chrono::seconds(1)};
};

class Trimming {
  public:
    Trimming(const Options& options, const Output& out, const Policy& policy)
        : options_(options),
          out_(out),
          policy_(policy),
          wanted_(read_trim_policy(policy)),
          machine_(make_live_host()),
          store_(make_state_store()),
          around_{*machine_,
                  *store_,
                  wanted_,
                  boot_id_of(*machine_),
                  options.scheduled,
                  offset_of(*machine_),
                  moment_of(options, *machine_)},
          head_(head_of(options)) {
        head_.source = "live";
        head_.host_name = host_name(*machine_);
        if (auto time = machine_->now()) head_.host_time = std::move(*time);
    }

    int run(const std::vector<std::string>& mounts);

  private:
    static std::int64_t offset_of(Host& machine) {
        return wall_offset(machine, seconds_of(machine.now().value_or("")).value_or(0)).value_or(0);
    }

    static std::optional<TrimMoment> moment_of(const Options& options, Host& machine);
    Result<std::vector<TrimTarget>> find(const std::vector<std::string>& mounts);
    void hold_back(std::vector<TrimTarget>& targets);
    Result<void> wait_for_others(const StopSignals& stop);
    void trim_all(std::vector<TrimFilesystem>& filesystems, const StopSignals& stop);
    std::vector<TrimFilesystem> open_all(const std::vector<TrimTarget>& targets);
    int finish() const;

    Time left() const { return std::max(began_ + wanted_.window - monotonic_now(), Time(0)); }

    const Options& options_;
    const Output& out_;
    const Policy& policy_;
    TrimPolicy wanted_;
    std::unique_ptr<Host> machine_;
    std::unique_ptr<StateStore> store_;
    TrimSurroundings around_;
    ReportHead head_;
    TrimReport report_;
    TrimLock lock_;
    Time began_{monotonic_now()};
};

std::optional<TrimMoment> Trimming::moment_of(const Options& options, Host& machine) {
    if (!options.when_due) return std::nullopt;
    TrimMoment moment{machine.now().value_or(""), boot_time_of(machine), offset_of(machine), host_name(machine)};
    if (const auto id = machine.read_file("/etc/machine-id")) moment.machine = *id;
    return moment;
}

Result<std::vector<TrimTarget>> Trimming::find(const std::vector<std::string>& mounts) {
    Picture picture(*machine_);
    const Topology topology(picture);
    const auto& table = topology.mounts();
    if (!table) return tl::make_unexpected(table.error());
    return select_targets(find_trim_targets(policy_, topology, picture), mounts, topology);
}

// What speaks against any trim at all just now; a person who asks for one gets it.
void Trimming::hold_back(std::vector<TrimTarget>& targets) {
    if (!options_.scheduled) return;
    const bool on_battery = wanted_.is_scheduled && wanted_.skips_on_battery && is_on_battery(*machine_);
    for (auto& target : targets) {
        if (!target.why_not.empty()) continue;
        if (!wanted_.is_scheduled) {
            target.why_not = "the policy wants no scheduled trims";
            target.is_by_policy = true;
        } else if (on_battery) {
            target.why_not = "on battery";
        }
    }
}

// Never two trims at once: neither of ours nor one of fstrim(8).
Result<void> Trimming::wait_for_others(const StopSignals& stop) {
    constexpr Time step = std::chrono::milliseconds(500);
    bool has_lock = false;
    for (std::string said;;) {
        pid_t holder = 0;
        const auto taken = has_lock ? Result<bool>(true) : lock_.try_lock(holder);
        if (!taken) return tl::make_unexpected(taken.error());
        has_lock = *taken;
        auto other = has_lock ? other_trim(*machine_) : "another storpol trim (process " + std::to_string(holder) + ")";
        if (other.empty()) return {};
        if (other != said) out_.note("storpol: waiting for " + printable(other) + ", which is trimming");
        if (left() <= Time(0)) return fail(ErrorKind::failed, other + " was trimming all through the window");
        if (!stop.wait(std::min(step, left())))
            return fail(ErrorKind::failed, "stopped by " + stop.name() + " while waiting for " + other);
        said = std::move(other);
    }
}

std::vector<TrimFilesystem> Trimming::open_all(const std::vector<TrimTarget>& targets) {
    std::vector<TrimFilesystem> filesystems;
    filesystems.reserve(targets.size());
    for (const auto& target : targets) filesystems.emplace_back(target, around_, options_.dry_run, report_.findings);
    return filesystems;
}

// One after the other, so one device at a time; the window is shared out by size.
void Trimming::trim_all(std::vector<TrimFilesystem>& filesystems, const StopSignals& stop) {
    double size_left = 0;
    for (const auto& filesystem : filesystems) {
        if (filesystem.is_to_be_trimmed()) size_left += static_cast<double>(filesystem.size());
    }
    ProgressLine line(out_.surroundings().output_is_terminal && !out_.is_json());
    for (auto& filesystem : filesystems) {
        if (!filesystem.is_to_be_trimmed()) {
            report_.entries.push_back(filesystem.skip());
        } else {
            const auto size = static_cast<double>(filesystem.size());
            const auto share = static_cast<double>(left().count()) * size / std::max(size_left, size);
            size_left -= size;
            const auto& target = filesystem.target().target;
            report_.entries.push_back(filesystem.trim(Time(static_cast<Time::rep>(share)), stop,
                                                      [&](const TrimProgress& made) { line.show(target, made); }));
        }
        line.clear();
        if (!filesystem.write_error().empty())
            report_.findings.push_back(
                {"trim-record-not-written", Severity::warning, filesystem.write_error(), "/var/lib/storpol/trim"});
    }
}

int Trimming::finish() const {
    const auto code = exit_code_of(report_);
    // cron sends what a job prints to somebody: nothing to say, nothing said.
    if (options_.when_due && code == 0 && !options_.dry_run && !options_.verbose && !out_.is_json()) return code;
    return out_.report(out_.is_json() ? render_trim_json(report_, head_) : render_trim_text(report_, out_.style()),
                       code);
}

int Trimming::run(const std::vector<std::string>& mounts) {
    if (!options_.dry_run && !out_.surroundings().is_root)
        return out_.error(
            Error{ErrorKind::denied, "trim needs root", {}, "use sudo, or --dry-run to see what it would do", 0},
            head_);
    const StopSignals stop;
    if (!options_.dry_run) {
        if (const auto alone = wait_for_others(stop); !alone) return out_.error(alone.error(), head_);
    }
    auto targets = find(mounts);
    if (!targets) return out_.error(targets.error(), head_);
    hold_back(*targets);
    auto filesystems = open_all(*targets);
    if (options_.dry_run) {
        for (const auto& filesystem : filesystems) report_.entries.push_back(filesystem.planned());
    } else {
        trim_all(filesystems, stop);
    }
    return finish();
}

}  // namespace

int run_trim(const Options& options) {
    const Output out(options);
    const ReportHead head = head_of(options);
    const auto words = split_words_of(options);
    if (!words) return out.error(words.error(), head);
    const auto names = policy_names(words->options, Default::allowed);
    if (!names) return out.error(names.error(), head);
    const Resources resources = make_resources();
    const auto loaded = load_policies(*names, Trust::any, resources, false);
    if (!loaded) return out.error(loaded.error(), head);
    if (!loaded->loaded.errors.empty()) return out.errors(loaded->loaded.errors, head);
    return Trimming(options, out, loaded->loaded.policy).run(words->mounts);
}

}  // namespace storpol
