// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/remedy.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/topology.h"
#include "resources/mount/inventory.h"
#include "resources/mount/lookup.h"
#include "resources/mount/mount_units.h"
#include "resources/mount/readings.h"
#include "resources/mount/target_value.h"

namespace storpol {
namespace {

constexpr std::string_view unit_folder = "/etc/systemd/system";
constexpr std::string_view drop_in_name = "50-storpol.conf";

std::string drop_in_path(const std::string& unit) {
    return std::string(unit_folder) + "/" + unit + ".d/" + std::string(drop_in_name);
}

struct Task {  // one difference with what it is of
    const Difference* difference = nullptr;
    MountSubject subject;
};

Gap gap_of(const Difference& difference, std::string cannot) {
    Gap gap;
    gap.of = {difference.setting->address, difference.plane};
    gap.cannot = std::move(cannot);
    return gap;
}

Gap wait_of(const Difference& difference, const std::string& mount_id) {
    Gap gap;
    gap.of = {difference.setting->address, difference.plane};
    gap.waits = When::next_mount;
    gap.mount_id = mount_id;
    return gap;
}

bool has_systemd(Host& host) {
    return host.stat("/run/systemd/system").has_value();
}

// "commit=300, noatime" for sentences.
std::string listed(const std::vector<std::string>& words) {
    return join(words, ", ");
}

class Planner {
  public:
    Planner(const Topology& topology, Host& host)
        : topology_(topology),
          host_(host),
          inventory_(mount_inventory(topology, host)),
          lookup_(inventory_),
          readers_(topology, host) {}

    Remedy plan(std::span<const Difference> differences) {
        std::map<const ManagedMount*, std::vector<Task>> remounts;
        std::map<const ManagedFilesystem*, std::vector<Task>> lines;
        for (const auto& difference : differences) {
            Task task{&difference, lookup_.find(*difference.setting)};
            if (task.subject.wish.kind == MountWish::Kind::impossible) {
                remedy_.gaps.push_back(gap_of(difference, task.subject.wish.why));
            } else if (difference.plane == Plane::live) {
                plan_live(task, remounts);
            } else {
                lines[task.subject.filesystem].push_back(task);
            }
        }
        for (const auto& filesystem : inventory_.filesystems) {
            for (const auto& mount : filesystem.mounts) {
                if (const auto tasks = remounts.find(&mount); tasks != remounts.end())
                    add_remount(filesystem, mount, tasks->second);
            }
            if (const auto tasks = lines.find(&filesystem); tasks != lines.end())
                edit_sources(filesystem, tasks->second);
        }
        reload_manager();
        return std::move(remedy_);
    }

  private:
    const MountInfo& live_entry(const ManagedMount& mount) const { return topology_.mounts()->mounts()[*mount.live]; }

    // The mount through which a remount reaches what the task is of.
    static const ManagedMount* mount_to_use(const MountSubject& subject) {
        if (subject.mount->live || !subject.of_superblock) return subject.mount;
        for (const auto& mount : subject.filesystem->mounts) {
            if (mount.live) return &mount;
        }
        return subject.mount;
    }

    void plan_live(const Task& task, std::map<const ManagedMount*, std::vector<Task>>& remounts) {
        const auto* mount = mount_to_use(task.subject);
        if (!mount->live) return remedy_.gaps.push_back(gap_of(*task.difference, "it is not mounted"));
        remounts[mount].push_back(task);
    }

    // What no remount can do waits for the next mount; the root has none but the one its initramfs makes.
    void wait_for_mount(const Task& task, const ManagedMount& mount, const std::string& why) {
        const bool by_command_line =
            mount.root_flags && is_set_at_first_mount(task.subject.filesystem->fstype, task.subject.wish.property);
        if (by_command_line) {
            remedy_.gaps.push_back(
                gap_of(*task.difference, why + ", and the root is mounted with rootflags= of the kernel command line"));
        } else {
            remedy_.gaps.push_back(wait_of(*task.difference, lasting_id(mount)));
        }
    }

    // What tells this mount from a later one at its place. The kernel gives mountinfo's numbers out again.
    std::string lasting_id(const ManagedMount& mount) const {
        const auto found = host_.stat(mount.target);
        return found && !found->mount_id.empty() ? "u" + found->mount_id : std::to_string(live_entry(mount).id);
    }

    // mount_setattr(2) and fsconfig(2) in the words of a Remount step.
    static Remount step_of(const RemountPlan& plan, const std::string& target, int mount_id) {
        Remount step;
        step.target = target;
        step.mount_id = std::to_string(mount_id);
        step.flags = plan.set_attributes;
        for (const auto& flag : plan.clear_attributes) step.flags.push_back(flag.substr(2));  // "nosuid" off is "suid"
        for (const auto& parameter : plan.super) step.parameters.push_back(to_text(parameter));
        return step;
    }

    void add_remount(const ManagedFilesystem& filesystem, const ManagedMount& mount, const std::vector<Task>& tasks) {
        const auto& reader = readers_.of(filesystem);
        const auto live = *reader.live_set(mount);
        std::vector<WantedValue> wanted;
        for (const auto& task : tasks) {
            if (const auto value = target_value(filesystem.fstype, task.subject.wish, reader.facts()))
                wanted.push_back(*value);
        }
        auto plan = plan_remount(filesystem.fstype, live, wanted, reader.facts());
        Action action;
        std::vector<WantedValue> old;
        for (const auto& task : tasks) {
            const auto& property = task.subject.wish.property;
            if (const auto why = plan.next_mount.find(property); why != plan.next_mount.end()) {
                wait_for_mount(task, mount, why->second);
            } else if (!plan.side_effects.empty()) {
                remedy_.gaps.push_back(
                    gap_of(*task.difference, "a remount would also change " + join(plan.side_effects, ", ")));
            } else {
                action.serves.push_back({task.difference->setting->address, Plane::live});
                if (const auto* now = live.find(property)) old.push_back({property, now->value, ""});
            }
        }
        if (action.serves.empty()) return;
        const auto step = step_of(plan, mount.target, live_entry(mount).id);
        auto words = step.flags;
        words.insert(words.end(), step.parameters.begin(), step.parameters.end());
        action.verb = Verb::remount;
        action.target = mount.target;
        // Programs that are writing lose their file the moment it becomes read-only.
        if (std::ranges::find(words, "ro") != words.end()) action.risk = Risk::disruptive;
        action.says = "set " + listed(words) + " on the mounted filesystem at " + mount.target;
        action.step = step;
        const auto undo = plan_remount(filesystem.fstype, with(live, wanted), old, reader.facts());
        action.undo = {step_of(undo, mount.target, live_entry(mount).id)};
        remedy_.actions.push_back(std::move(action));
    }

    // What the mount holds once the step is done: what an undo starts from.
    static OptionSet with(OptionSet live, const std::vector<WantedValue>& wanted) {
        for (const auto& value : wanted) live.settings[value.property] = {value.value, Origin::shown, ""};
        return live;
    }

    // Every line of the filesystem that does not say what is wanted: which of them is mounted first is not for sure.
    void edit_sources(const ManagedFilesystem& filesystem, const std::vector<Task>& tasks) {
        std::map<const Difference*, std::string> problems;
        std::map<const Difference*, bool> served;
        for (const auto& mount : filesystem.mounts) {
            std::vector<const Task*> here;
            for (const auto& task : tasks) {
                const bool of_this = task.subject.mount == &mount || (task.subject.of_superblock && !mount.is_bind);
                if (of_this && mount.persisted() != nullptr && needs_edit(filesystem, mount, task))
                    here.push_back(&task);
            }
            if (here.empty()) continue;
            const auto problem = edit_source(filesystem, mount, here);
            for (const auto* task : here) {
                served[task->difference] = served[task->difference] || problem.empty();
                if (!problem.empty()) problems[task->difference] = problem;
            }
        }
        for (const auto& task : tasks) {
            if (served[task.difference]) continue;
            const auto& problem = problems[task.difference];
            remedy_.gaps.push_back(
                gap_of(*task.difference, problem.empty() ? "nothing that storpol edits makes this mount" : problem));
        }
    }

    bool needs_edit(const ManagedFilesystem& filesystem, const ManagedMount& mount, const Task& task) const {
        const auto& reader = readers_.of(filesystem);
        const auto& wish = task.subject.wish;
        const auto reading = reader.persisted(wish, mount, "");
        const auto target = target_value(filesystem.fstype, wish, reader.facts());
        const auto wanted = target
                                ? std::optional(wish.kind == MountWish::Kind::userspace ? Value{wish.text}
                                                                                        : option_value(target->value))
                                : std::nullopt;
        if (const auto* found = std::get_if<Found>(&reading.state)) return wanted != found->value;
        if (const auto* unset = std::get_if<Unset>(&reading.state))
            return !unset->default_value || wanted != *unset->default_value;
        return false;
    }

    // Why the source cannot be edited; empty when the edit is planned.
    std::string edit_source(const ManagedFilesystem& filesystem,
                            const ManagedMount& mount,
                            const std::vector<const Task*>& tasks) {
        const auto& source = *mount.persisted();
        const bool from_root_flags = mount.root_flags && std::ranges::any_of(tasks, [&](const Task* task) {
                                         return is_set_at_first_mount(filesystem.fstype, task->subject.wish.property);
                                     });
        if (source.kind == OptionSource::Kind::command_line || from_root_flags) {
            return "the root gets it from rootflags= on the kernel command line, which is not managed here: set it "
                   "there";
        }
        const auto& change = changed_line(filesystem, source.options, tasks);
        if (!change)
            return source.describe() + ": " + change.error().what +
                   (change.error().fix.empty() ? "" : "; " + change.error().fix);
        return source.kind == OptionSource::Kind::fstab ? edit_fstab(mount, source, change->edit, tasks)
                                                        : edit_unit(mount, source, *change, tasks);
    }

    // On hosts with thousands of mounts most lines say the same, and the same is wanted of them.
    const Result<LineChange>& changed_line(const ManagedFilesystem& filesystem,
                                           const std::string& options,
                                           const std::vector<const Task*>& tasks) {
        const auto& facts = readers_.of(filesystem).facts();
        const auto known = [](const std::optional<bool>& fact) { return !fact ? "?" : *fact ? "1" : "0"; };
        std::string key = filesystem.fstype + '\n' + options + '\n' + facts.superblock_options.value_or("?") + '\n' +
                          known(facts.device_discards) + known(facts.rotational);
        std::vector<const MountWish*> wishes;
        for (const auto* task : tasks) {
            const auto& wish = task->subject.wish;
            wishes.push_back(&wish);
            key += '\n' + wish.property + '\n' + wish.text + '\n' + to_text(wish.condition);
        }
        const auto found = line_changes_.find(key);
        if (found != line_changes_.end()) return found->second;
        return line_changes_.emplace(key, change_line(filesystem.fstype, options, wishes, facts)).first->second;
    }

    std::string edit_fstab(const ManagedMount& mount,
                           const OptionSource& source,
                           const OptionEdit& edit,
                           const std::vector<const Task*>& tasks) {
        if (!source.path.starts_with("/etc/")) {
            return "/etc/fstab is " + source.path + ", which something else makes: put " + listed(edit.put_in) +
                   " into its own configuration";
        }
        FieldWords words;
        words.line = source.line;
        words.field = fstab_options_field;
        words.take_out = edit.take_out;
        words.put_in = edit.put_in;
        Action action = file_action(Verb::edit, source.path, tasks);
        action.step = EditFile{source.path, inventory_.fstab_digest, words};
        action.says =
            sentence(edit) + " for " + mount.target + " in line " + std::to_string(source.line) + " of " + source.path;
        add_file_action(std::move(action));
        return {};
    }

    std::string edit_unit(const ManagedMount& mount,
                          const OptionSource& source,
                          const LineChange& change,
                          const std::vector<const Task*>& tasks) {
        const auto path = drop_in_path(source.unit);
        // Drop-ins are read by name over all directories: one that sorts after ours still wins.
        const auto name = source.path.substr(source.path.rfind('/') + 1);
        const bool is_drop_in = source.path.find(".mount.d/") != std::string::npos;
        if (is_drop_in && source.path != path && name > drop_in_name) return "overridden by " + source.describe();
        const auto file = host_.read_file_resolved(path);
        OwnLines lines;
        lines.address = make_address("mount", mount.target, "options");
        lines.section = "[Mount]";
        lines.lines = {"Options=" + change.after};
        Action action = file_action(Verb::drop_in, path, tasks);
        action.step = EditFile{path, file ? digest_of(file->bytes) : std::string(no_file_digest), lines};
        action.says = sentence(change.edit) + " for " + mount.target + " in a drop-in of " + source.unit;
        add_file_action(std::move(action));
        return {};
    }

    static std::string sentence(const OptionEdit& edit) {
        if (edit.put_in.empty()) return "take out " + listed(edit.take_out);
        if (edit.take_out.empty()) return "add " + listed(edit.put_in);
        return "put " + listed(edit.put_in) + " in place of " + listed(edit.take_out);
    }

    static Action file_action(Verb verb, const std::string& path, const std::vector<const Task*>& tasks) {
        Action action;
        action.verb = verb;
        action.target = path;
        action.when = When::next_mount;
        for (const auto* task : tasks) action.serves.push_back({task->difference->setting->address, Plane::persisted});
        return action;
    }

    void add_file_action(Action action) {
        if (std::ranges::find(edited_, action.target) == edited_.end()) edited_.push_back(action.target);
        remedy_.actions.push_back(std::move(action));
    }

    // systemd mounts from units, which its generator makes of fstab: without a reload it goes on with the old ones.
    void reload_manager() {
        if (edited_.empty() || !has_systemd(host_)) return;
        Action action;
        action.verb = Verb::daemon_reload;
        action.target = "systemd";
        action.step = DaemonReload{};
        action.reads = edited_;
        action.says = "let systemd read the changed mounts";
        for (const auto& edit : remedy_.actions) {
            if (edit.verb == Verb::remount) continue;
            action.serves.insert(action.serves.end(), edit.serves.begin(), edit.serves.end());
        }
        remedy_.actions.push_back(std::move(action));
    }

    const Topology& topology_;
    Host& host_;
    const MountInventory& inventory_;
    MountLookup lookup_;
    MountReaders readers_;
    Remedy remedy_;
    std::vector<std::string> edited_;
    std::unordered_map<std::string, Result<LineChange>> line_changes_;
};

}  // namespace

Remedy mount_remedy(std::span<const Difference> differences, const Topology& topology, Host& host) {
    if (differences.empty()) return {};
    return Planner(topology, host).plan(differences);
}

std::vector<std::string> mount_own_files(Host& host) {
    std::vector<std::string> files;
    const auto names = host.list(unit_folder);
    if (!names) return files;
    for (const auto& name : *names) {
        if (name.ends_with(".mount.d"))
            files.push_back(std::string(unit_folder) + "/" + name + "/" + std::string(drop_in_name));
    }
    return files;
}

void survey_remedy(Host& host) {
    has_systemd(host);
}

}  // namespace storpol
