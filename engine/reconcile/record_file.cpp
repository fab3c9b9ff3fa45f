// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/record_file.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/host/state_store.h"
#include "engine/reconcile/record_view.h"

namespace storpol {
namespace {

std::string found_text(const Reading& reading) {
    if (const auto* found = std::get_if<Found>(&reading.state)) return to_text(found->value);
    const auto* unset = std::get_if<Unset>(&reading.state);
    return unset != nullptr && unset->default_value ? to_text(*unset->default_value) : std::string();
}

enum class Of { all_steps, steps_seen_now };

// The planes that an action of this apply changed with success. A file step shows when its reader reads it.
std::set<SettingPlane> served_by_done(const std::vector<ActionOutcome>& outcomes, Of of) {
    std::set<SettingPlane> served;
    for (const auto& outcome : outcomes) {
        if (outcome.result != ActionResult::done) continue;
        const auto& action = outcome.action;
        if (of == Of::steps_seen_now && (is_file_step(action.step) || action.when != When::now)) continue;
        served.insert(action.serves.begin(), action.serves.end());
    }
    return served;
}

// What a step set that no kernel shows afterwards, at this address; empty where it set nothing there.
std::string set_unseen(const Step& step, const std::string& address) {
    const auto is_of = [&address](const std::string& device, std::string_view property) {
        return address == make_address("zram", device.substr(device.rfind('/') + 1), property);
    };
    const auto discard_text = [](const std::string& discard) { return discard.empty() ? "off" : discard; };
    if (const auto* swap = std::get_if<UseSwap>(&step))
        return !swap->off && is_of(swap->device, "discard") ? discard_text(swap->discard) : std::string();
    const auto* zram = std::get_if<SetUpZram>(&step);
    if (zram == nullptr || zram->size == 0) return {};
    if (is_of(zram->device, "discard")) return discard_text(zram->discard);
    constexpr std::string_view level = "level=";
    const bool has_level = is_of(zram->device, "level") && zram->parameters.starts_with(level);
    return has_level ? zram->parameters.substr(level.size()) : std::string();
}

class RecordMaker {
  public:
    explicit RecordMaker(const RecordInput& input)
        : in_(input), old_view_(input.old), served_(served_by_done(input.outcomes, Of::steps_seen_now)) {
        // What another step was to bring about and did not is not known to be without effect: it is tried again.
        for (const auto& outcome : in_.outcomes) {
            if (outcome.result == ActionResult::done) continue;
            for (const auto& served : outcome.action.serves) served_.erase(served);
        }
        for (const auto& gap : in_.after.plan.gaps) gaps_.emplace(RecordView::key_of(gap.of, {}), &gap);
    }

    Record make() {
        record_.policy_digest = in_.policy_digest;
        record_.applied_at = in_.now;
        for (const auto& state : in_.after.settings) {
            for (const auto& plane : state.planes) add(state.setting, plane);
        }
        if (in_.old != nullptr) keep_old(*in_.old);
        sort();
        return std::move(record_);
    }

  private:
    void add(const Setting& setting, const PlaneState& plane) {
        const SettingPlane of{setting.address, plane.plane};
        const auto key = RecordView::key_of(of, setting.device);
        switch (plane.verdict) {
            case Verdict::in_sync:
                record_.applied.push_back(
                    {of, setting.device, setting.condition_on(plane.plane), found_text(plane.reading)});
                break;
            case Verdict::drift:
                if (!plane.accepted) add_open(setting, of);
                break;
            case Verdict::unknown:
                add_unseen(setting, of);
                return;  // nothing is known against what the record holds
            case Verdict::absent:
                break;
        }
        settled_.insert(key);
    }

    // What can only be known from having been set.
    void add_unseen(const Setting& setting, const SettingPlane& of) {
        const auto& wanted = setting.condition_on(of.plane);
        const auto* is = std::get_if<Is>(&wanted);
        if (of.plane != Plane::live || is == nullptr) return;
        for (const auto& outcome : in_.outcomes) {
            if (outcome.result != ActionResult::done) continue;
            const auto value = set_unseen(outcome.action.step, setting.address);
            if (value.empty() || value != to_text(is->value)) continue;
            record_.applied.push_back({of, setting.device, wanted, value});
            settled_.insert(RecordView::key_of(of, setting.device));
            return;
        }
    }

    void add_open(const Setting& setting, const SettingPlane& of) {
        const auto& wanted = setting.condition_on(of.plane);
        const auto gap = gaps_.find(RecordView::key_of(of, {}));
        const bool waits = gap != gaps_.end() && gap->second->waits.has_value();
        const auto* old = old_view_.waiting(setting, of.plane);
        if (old != nullptr && same_condition(old->condition, wanted)) {
            // An entry of an earlier boot stays too: it is what says that the boot did not bring it.
            record_.waiting.push_back(*old);
        } else if (waits && !in_.boot_id.empty() && rest_in_sync(setting.address, of.plane)) {
            record_.waiting.push_back(
                {of, setting.device, wanted, *gap->second->waits, in_.boot_id, gap->second->mount_id});
        }
        if (of.plane != Plane::live || in_.boot_id.empty()) return;
        const auto* tried = old_view_.tried(setting, of.plane);
        if (served_.contains(of)) {
            record_.tried.push_back({of, wanted, in_.boot_id, in_.now, found_now(of)});
        } else if (tried != nullptr && tried->boot_id == in_.boot_id && same_condition(tried->condition, wanted)) {
            record_.tried.push_back(*tried);
        }
    }

    const SettingState* state_at(const std::string& address) const {
        const auto& settings = in_.after.settings;  // sorted by address
        const auto at = std::lower_bound(
            settings.begin(), settings.end(), address,
            [](const SettingState& state, const std::string& wanted) { return state.setting.address < wanted; });
        return at == settings.end() || at->setting.address != address ? nullptr : &*at;
    }

    std::string found_now(const SettingPlane& of) const {
        const auto* state = state_at(of.address);
        const auto* plane = state == nullptr ? nullptr : state->on(of.plane);
        const auto text = plane == nullptr ? std::string() : found_text(plane->reading);
        return text.empty() ? "no value" : text;
    }

    bool rest_in_sync(const std::string& address, Plane but) const {
        const auto* state = state_at(address);
        if (state == nullptr) return false;
        for (const auto plane : {Plane::persisted, Plane::boot}) {
            const auto* there = plane == but ? nullptr : state->on(plane);
            if (there == nullptr || there->accepted) continue;
            if (there->verdict != Verdict::in_sync && there->verdict != Verdict::absent) return false;
        }
        return true;
    }

    template <class Entry>
    void keep(const std::vector<Entry>& old, std::vector<Entry>& to) const {
        for (const auto& entry : old) {
            if (in_.forgotten.contains(entry.of.address)) continue;
            if (!settled_.contains(RecordView::key_of(entry.of, entry.device))) to.push_back(entry);
        }
    }

    void keep_old(const Record& old) {
        keep(old.applied, record_.applied);
        keep(old.waiting, record_.waiting);
        // A try ends with its boot, and those of observed planes were looked at above.
        std::set<SettingPlane> observed;
        for (const auto& state : in_.after.settings) {
            for (const auto& plane : state.planes) {
                if (plane.verdict != Verdict::unknown) observed.insert({state.setting.address, plane.plane});
            }
        }
        for (const auto& entry : old.tried) {
            const bool gone = in_.forgotten.contains(entry.of.address) || entry.boot_id != in_.boot_id;
            if (!gone && !observed.contains(entry.of)) record_.tried.push_back(entry);
        }
    }

    void sort() {
        const auto by_place = [](const auto& one, const auto& other) {
            return std::tie(one.of, one.device) < std::tie(other.of, other.device);
        };
        std::stable_sort(record_.applied.begin(), record_.applied.end(), by_place);
        std::stable_sort(record_.waiting.begin(), record_.waiting.end(), by_place);
        std::stable_sort(record_.tried.begin(), record_.tried.end(),
                         [](const TriedEntry& one, const TriedEntry& other) { return one.of < other.of; });
    }

    const RecordInput& in_;
    RecordView old_view_;
    std::set<SettingPlane> served_;
    std::unordered_map<std::string, const Gap*> gaps_;
    std::unordered_set<std::string> settled_;  // keys that this evaluation has an answer for
    Record record_;
};

}  // namespace

Result<Record> read_record(StateStore& store) {
    const auto text = store.read(record_name);
    if (!text && text.error().kind == ErrorKind::no_such_file) return Record{};
    if (!text) return tl::unexpected<Error>(text.error());
    return parse_record(*text);
}

Result<OpenedRecord> open_record(StateStore& store) {
    OpenedRecord opened;
    const auto text = store.read(record_name);
    if (!text && text.error().kind == ErrorKind::no_such_file) return opened;
    if (!text) return tl::unexpected<Error>(text.error());
    auto record = parse_record(*text);
    if (record) {
        opened.record = std::move(*record);
        return opened;
    }
    const auto aside = std::string(record_name) + ".broken";
    if (auto kept = store.replace(aside, *text); !kept) return tl::unexpected<Error>(kept.error());
    if (auto gone = store.remove(record_name); !gone) return tl::unexpected<Error>(gone.error());
    opened.finding =
        Finding{"record-broken", Severity::warning,
                "the last-applied record could not be read (" + record.error().what + ") and was moved to " + aside +
                    "; a new one begins, so every difference counts as new",
                std::string(record_name)};
    return opened;
}

Record next_record(const RecordInput& input) {
    return RecordMaker(input).make();
}

Record without_renewed_waits(const Record& old,
                             const std::vector<ActionOutcome>& outcomes,
                             const std::string& boot_id) {
    std::set<std::string> worked_on;
    for (const auto& served : served_by_done(outcomes, Of::all_steps)) worked_on.insert(served.address);
    Record record = old;
    record.waiting.erase(std::remove_if(record.waiting.begin(), record.waiting.end(),
                                        [&](const WaitingEntry& entry) {
                                            return entry.boot_id != boot_id && worked_on.contains(entry.of.address);
                                        }),
                         record.waiting.end());
    return record;
}

bool says_the_same(const Record& one, const Record& other) {
    auto copy = other;
    copy.applied_at = one.applied_at;
    return render_record(one) == render_record(copy);
}

}  // namespace storpol
