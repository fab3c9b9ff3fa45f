// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/remedy.h"

#include <algorithm>
#include <map>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/topology.h"
#include "resources/mount/inventory.h"
#include "resources/mount/line_edit.h"
#include "resources/mount/lookup.h"
#include "resources/mount/mount_units.h"
#include "resources/mount/readings.h"

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
        : topology_(topology), host_(host), inventory_(mount_inventory(topology, host)), lookup_(inventory_), readers_(topology, host) {}

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
                if (const auto tasks = remounts.find(&mount); tasks != remounts.end()) add_remount(filesystem, mount, tasks->second);
            }
            if (const auto tasks = lines.find(&filesystem); tasks != lines.end()) edit_sources(filesystem, tasks->second);
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
        const auto& subject = task.subject;
        const auto* mount = mount_to_use(subject);
        if (!mount->live) return remedy_.gaps.push_back(gap_of(*task.difference, "it is not mounted"));
        const auto* property = find_property(subject.filesystem->fstype, subject.wish.property);
        const auto value = value_to_set(subject.filesystem->fstype, subject.wish.property, subject.wish.condition, readers_.of(*subject.filesystem).facts());
        const bool has_word = value && word_that_sets(subject.filesystem->fstype, subject.wish.property, *value).has_value();
        const bool turns_off = value && *value == Value{std::string("off")};
        const bool can = has_word && (property->remount == AtRemount::yes || (property->remount == AtRemount::only_on && !turns_off));
        if (can) {
            remounts[mount].push_back(task);
        } else if (mount->target == "/" && mount->root_flags && is_set_at_first_mount(subject.filesystem->fstype, subject.wish.property)) {
            remedy_.gaps.push_back(gap_of(*task.difference, "a remount cannot change it: the root gets it from rootflags= on the kernel command line"));
        } else {
            remedy_.gaps.push_back(wait_of(*task.difference, std::to_string(live_entry(*mount).id)));
        }
    }

    // What the kernel holds now as the words that bring it back.
    void add_to(Remount& step, std::string_view fstype, std::string_view property, const Value& value) const {
        const auto word = word_that_sets(fstype, property, value);
        if (!word) return;
        const auto* spec = find_property(fstype, property);
        (spec->scope == Scope::per_mount ? step.flags : step.parameters).push_back(*word);
    }

    void add_remount(const ManagedFilesystem& filesystem, const ManagedMount& mount, const std::vector<Task>& tasks) {
        Remount step;
        step.target = mount.target;
        step.mount_id = std::to_string(live_entry(mount).id);
        Remount undo = step;
        Action action;
        action.verb = Verb::remount;
        action.target = mount.target;
        const auto& reader = readers_.of(filesystem);
        const auto live = reader.live_set(mount);
        for (const auto& task : tasks) {
            const auto& wish = task.subject.wish;
            add_to(step, filesystem.fstype, wish.property, *value_to_set(filesystem.fstype, wish.property, wish.condition, reader.facts()));
            if (const auto* now = live->find(wish.property)) {
                const auto number = parse_int(now->value);
                add_to(undo, filesystem.fstype, wish.property, number ? Value{*number} : Value{now->value});
            }
            action.serves.push_back({task.difference->setting->address, Plane::live});
        }
        // A remount of xfs that does not repeat inode32 turns it into inode64 (kernel fs/xfs/xfs_super.c, xfs_fs_reconfigure).
        const auto* inodes = filesystem.fstype == "xfs" ? live->find("inode-size") : nullptr;
        if (inodes != nullptr && inodes->value == "32" && !step.parameters.empty()) {
            step.parameters.emplace_back("inode32");
            undo.parameters.emplace_back("inode32");
        }
        auto words = step.flags;
        words.insert(words.end(), step.parameters.begin(), step.parameters.end());
        // Programs that are writing lose their file the moment it becomes read-only.
        if (std::ranges::find(words, "ro") != words.end()) action.risk = Risk::disruptive;
        action.says = "set " + listed(words) + " on the mounted filesystem at " + mount.target;
        action.step = step;
        action.undo = {undo};
        remedy_.actions.push_back(std::move(action));
    }

    static WantedProperty wanted_of(const MountWish& wish) {
        WantedProperty wanted{wish.property, wish.condition, ""};
        if (wish.kind == MountWish::Kind::userspace) wanted.word = wish.text;
        return wanted;
    }

    // Every line of the filesystem that does not say what is wanted: which of them is mounted first is not for sure.
    void edit_sources(const ManagedFilesystem& filesystem, const std::vector<Task>& tasks) {
        std::map<const Difference*, std::string> problems;
        std::map<const Difference*, bool> served;
        for (const auto& mount : filesystem.mounts) {
            std::vector<const Task*> here;
            for (const auto& task : tasks) {
                const bool of_this = task.subject.mount == &mount || (task.subject.of_superblock && !mount.is_bind);
                if (of_this && mount.persisted() != nullptr && needs_edit(filesystem, mount, task)) here.push_back(&task);
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
            remedy_.gaps.push_back(gap_of(*task.difference, problem.empty() ? "nothing that storpol edits makes this mount" : problem));
        }
    }

    bool needs_edit(const ManagedFilesystem& filesystem, const ManagedMount& mount, const Task& task) const {
        const auto& reader = readers_.of(filesystem);
        const auto reading = reader.persisted(task.subject.wish, mount, "");
        const auto wanted = task.subject.wish.kind == MountWish::Kind::userspace
                                ? std::optional(Value{task.subject.wish.text})
                                : value_to_set(filesystem.fstype, task.subject.wish.property, task.subject.wish.condition, reader.facts());
        if (const auto* found = std::get_if<Found>(&reading.state)) return wanted != found->value;
        if (const auto* unset = std::get_if<Unset>(&reading.state)) return !unset->default_value || wanted != *unset->default_value;
        return false;
    }

    // Why the source cannot be edited; empty when the edit is planned.
    std::string edit_source(const ManagedFilesystem& filesystem, const ManagedMount& mount, const std::vector<const Task*>& tasks) {
        const auto& source = *mount.persisted();
        const bool from_root_flags = mount.root_flags && std::ranges::any_of(tasks, [&](const Task* task) {
            return is_set_at_first_mount(filesystem.fstype, task->subject.wish.property);
        });
        if (source.kind == OptionSource::Kind::command_line || from_root_flags) {
            return "the root gets it from rootflags= on the kernel command line, which is not managed here: set it there";
        }
        std::vector<WantedProperty> wanted;
        for (const auto* task : tasks) wanted.push_back(wanted_of(task->subject.wish));
        const auto edit = edit_options_line(filesystem.fstype, source.options, wanted, readers_.of(filesystem).facts());
        if (!edit) return source.describe() + ": " + edit.error().what + (edit.error().fix.empty() ? "" : "; " + edit.error().fix);
        return source.kind == OptionSource::Kind::fstab ? edit_fstab(mount, source, *edit, tasks) : edit_unit(mount, source, *edit, tasks);
    }

    std::string edit_fstab(const ManagedMount& mount, const OptionSource& source, const LineEdit& edit, const std::vector<const Task*>& tasks) {
        if (!source.path.starts_with("/etc/")) {
            return "/etc/fstab is " + source.path + ", which something else makes: put " + listed(edit.put_in) + " into its own configuration";
        }
        FieldWords words;
        words.line = source.line;
        words.field = fstab_options_field;
        words.take_out = edit.take_out;
        words.put_in = edit.put_in;
        Action action = file_action(Verb::edit, source.path, tasks);
        action.step = EditFile{source.path, inventory_.fstab_digest, words};
        action.says = sentence(edit) + " for " + mount.target + " in line " + std::to_string(source.line) + " of " + source.path;
        add_file_action(std::move(action));
        return {};
    }

    std::string edit_unit(const ManagedMount& mount, const OptionSource& source, const LineEdit& edit, const std::vector<const Task*>& tasks) {
        const auto path = drop_in_path(source.unit);
        // Drop-ins are read by name over all directories: one that sorts after ours still wins.
        const auto name = source.path.substr(source.path.rfind('/') + 1);
        const bool is_drop_in = source.path.find(".mount.d/") != std::string::npos;
        if (is_drop_in && source.path != path && name > drop_in_name) return "overridden by " + source.describe();
        const auto file = host_.read_file_resolved(path);
        OwnLines lines;
        lines.address = make_address("mount", mount.target, "options");
        lines.section = "[Mount]";
        lines.lines = {"Options=" + (edit.after.empty() ? "defaults" : edit.after)};
        Action action = file_action(Verb::drop_in, path, tasks);
        action.step = EditFile{path, file ? digest_of(file->bytes) : std::string(no_file_digest), lines};
        action.says = sentence(edit) + " for " + mount.target + " in a drop-in of " + source.unit;
        add_file_action(std::move(action));
        return {};
    }

    static std::string sentence(const LineEdit& edit) {
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
        if (name.ends_with(".mount.d")) files.push_back(std::string(unit_folder) + "/" + name + "/" + std::string(drop_in_name));
    }
    return files;
}

void survey_remedy(Host& host) {
    has_systemd(host);
}

}  // namespace storpol
