// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/remedy.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace storpol {
namespace {

class Fitting {
  public:
    Fitting(std::vector<SettingState>& states,
            const std::vector<Difference>& differences,
            const RecordView& record,
            const BootFacts& boot,
            const EvaluateOptions& options)
        : record_(record), boot_(boot), options_(options) {
        for (auto& state : states) states_.emplace(state.setting.address, &state);
        for (const auto& difference : differences) open_.insert({difference.setting->address, difference.plane});
    }

    Remedy fit(Remedy proposed) {
        check(proposed);
        if (options_.asks_passphrase) do_what_a_passphrase_opens(proposed.actions);
        if (options_.image) keep_what_an_image_takes(proposed.actions);
        drop_tried(proposed.actions);
        std::set<SettingPlane> for_a_person;
        for (const auto& action : proposed.actions) {
            for (const auto& served : action.serves) {
                if (action.when == When::by_operator) for_a_person.insert(served);
                if (action.when != When::by_operator) open_.erase(served);
            }
        }
        // A gap beside an action is of no use: the action is what happens. Beside what only a person can do it says
        // what happens without one.
        std::vector<Gap> gaps = std::move(tried_);
        for (const auto& gap : gaps) open_.erase(gap.of);
        for (auto& gap : proposed.gaps) {
            if (open_.erase(gap.of) == 0) continue;
            if (!gap.waits && gap.cannot.empty()) gap.cannot = no_way_known;
            gaps.push_back(std::move(gap));
        }
        for (const auto& of : open_) {
            if (for_a_person.contains(of)) continue;
            gaps.push_back(
                {of, std::nullopt, std::string(options_.image ? "cannot be done in an image" : no_way_known)});
        }
        for (auto& gap : gaps) settle(gap);
        drop_what_comes_anyway(proposed.actions);
        proposed.gaps = std::move(gaps);
        return proposed;
    }

  private:
    void check(const Remedy& proposed) const {
        for (const auto& action : proposed.actions) {
            for (const auto& served : action.serves) {
                if (!open_.contains(served)) {
                    STORPOL_BUG("an action for " + served.address + ", which is no difference");
                }
            }
        }
        for (const auto& gap : proposed.gaps) {
            if (!open_.contains(gap.of)) STORPOL_BUG("a gap for " + gap.of.address + ", which is no difference");
        }
    }

    // A person is there to type it: what lacked nothing else, and the tables above it, are done now.
    static void do_what_a_passphrase_opens(std::vector<Action>& actions) {
        for (auto& action : actions) {
            const bool waits_for_it =
                std::holds_alternative<RefreshMapping>(action.step) || std::holds_alternative<ReloadTable>(action.step);
            if (waits_for_it && action.when == When::by_operator) action.when = When::now;
        }
    }

    static void keep_what_an_image_takes(std::vector<Action>& actions) {
        std::vector<Action> kept;
        for (auto& action : actions) {
            if (is_file_step(action.step)) {
                if (action.when == When::now) action.when = When::next_boot;
            } else if (is_generator(action.verb) || std::holds_alternative<SetLuksFlags>(action.step)) {
                // The builder has the devices and runs the programs.
                action.when = When::in_image;
            } else {
                continue;
            }
            kept.push_back(std::move(action));
        }
        actions = std::move(kept);
    }

    // What a person could do now, once all of it waits for the next boot.
    void drop_what_comes_anyway(std::vector<Action>& actions) {
        std::erase_if(actions, [this](const Action& action) {
            return action.when == When::by_operator && !action.serves.empty() &&
                   std::all_of(action.serves.begin(), action.serves.end(),
                               [this](const SettingPlane& of) { return plane_of(of).waits.has_value(); });
        });
    }

    const SettingState& state_of(const SettingPlane& of) const { return *states_.at(of.address); }

    PlaneState& plane_of(const SettingPlane& of) const {
        for (auto& plane : states_.at(of.address)->planes) {
            if (plane.plane == of.plane) return plane;
        }
        STORPOL_BUG("a difference on a plane that was not observed");
    }

    const TriedEntry* tried_in_this_boot(const SettingPlane& of) const {
        if (of.plane != Plane::live || boot_.boot_id.empty()) return nullptr;
        const auto& setting = state_of(of).setting;
        const auto* tried = record_.tried(setting, of.plane);
        if (tried == nullptr || tried->boot_id != boot_.boot_id) return nullptr;
        return same_condition(tried->condition, setting.condition_on(of.plane)) ? tried : nullptr;
    }

    // A live step that answered success and changed nothing would do the same again, for ever.
    void drop_tried(std::vector<Action>& actions) {
        std::set<SettingPlane> told;
        std::vector<Action> kept;
        for (auto& action : actions) {
            std::vector<SettingPlane> serves;
            for (const auto& served : action.serves) {
                const auto* tried = tried_in_this_boot(served);
                if (tried == nullptr) {
                    serves.push_back(served);
                } else if (told.insert(served).second) {
                    tried_.push_back(
                        {served, std::nullopt, "tried at " + tried->at + ", the kernel holds " + tried->found});
                }
            }
            if (serves.empty() && !action.serves.empty()) continue;
            action.serves = std::move(serves);
            kept.push_back(std::move(action));
        }
        actions = std::move(kept);
    }

    // Whether all that can be done now is done: what comes next is right, so that the rest will follow from it.
    bool rest_in_sync(const SettingPlane& of) const {
        for (const auto& plane : state_of(of).planes) {
            if (plane.plane == of.plane || (plane.plane != Plane::persisted && plane.plane != Plane::boot)) continue;
            const bool right = plane.verdict == Verdict::in_sync || plane.verdict == Verdict::absent || plane.accepted;
            if (!right) return false;
        }
        return true;
    }

    // What a gap means for the plane it is of: it waits while the boot or mount lasts in which it began to.
    void settle(Gap& gap) {
        auto& plane = plane_of(gap.of);
        const auto& setting = state_of(gap.of).setting;
        const auto* entry = gap.waits && rest_in_sync(gap.of) ? record_.waiting(setting, gap.of.plane) : nullptr;
        if (entry != nullptr && same_condition(entry->condition, setting.condition_on(gap.of.plane)) &&
            !boot_.boot_id.empty()) {
            const bool other_mount = gap.waits == When::next_mount && !gap.mount_id.empty() &&
                                     !entry->mount_id.empty() && gap.mount_id != entry->mount_id;
            if (entry->boot_id != boot_.boot_id) {
                gap.cannot =
                    "did not take effect at the boot of " + (boot_.boot_time.empty() ? "this kernel" : boot_.boot_time);
                gap.waits.reset();
            } else if (other_mount) {
                gap.cannot = "did not take effect when it was mounted anew";
                gap.waits.reset();
            } else {
                plane.waits = gap.waits;
            }
        }
        plane.cannot = gap.cannot;
    }

    const RecordView& record_;
    const BootFacts& boot_;
    const EvaluateOptions& options_;
    std::unordered_map<std::string, SettingState*> states_;
    std::set<SettingPlane> open_;  // differences without an action or a gap so far
    std::vector<Gap> tried_;
};

}  // namespace

bool is_generator(Verb verb) {
    switch (verb) {
        case Verb::daemon_reload:
        case Verb::reload_udev:
        case Verb::rebuild_initramfs:
        case Verb::update_bootloader:
            return true;
        case Verb::write:
        case Verb::edit:
        case Verb::create:
        case Verb::remove:
        case Verb::drop_in:
        case Verb::enable_unit:
        case Verb::disable_unit:
        case Verb::start_unit:
        case Verb::remount:
        case Verb::set_luks2_flag:
        case Verb::clear_luks2_flag:
        case Verb::refresh_mapping:
        case Verb::reload_table:
        case Verb::change_thin_pool:
        case Verb::set_up_zram:
        case Verb::swap_off:
        case Verb::swap_on:
        case Verb::set_kernel_argument:
            return false;
    }
    return false;
}

Remedy fit_remedy(Remedy proposed,
                  std::vector<SettingState>& states,
                  const std::vector<Difference>& differences,
                  const RecordView& record,
                  const BootFacts& boot,
                  const EvaluateOptions& options) {
    return Fitting(states, differences, record, boot, options).fit(std::move(proposed));
}

}  // namespace storpol
