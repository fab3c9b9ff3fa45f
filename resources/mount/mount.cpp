// SPDX-License-Identifier: GPL-3.0-or-later
// mount["TARGET"].OPTION: one option of a mounted filesystem, compared by meaning (option_set.h).
//   live       /proc/self/mountinfo; for ext4 also /proc/fs/ext4/DEVICE/options, which alone shows superblock defaults
//   persisted  the fstab line or mount unit that applies (inventory.h); for the root what only a first mount sets, the
//   kernel
//              command line
#include "resources/mount/mount.h"

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/backing.h"
#include "engine/topology/topology.h"
#include "resources/mount/inventory.h"
#include "resources/mount/lookup.h"
#include "resources/mount/option_reference.h"
#include "resources/mount/readings.h"
#include "resources/mount/remedy.h"
#include "resources/mount/rule.h"
#include "resources/mount/wishes.h"

namespace storpol {
namespace {

void add(Notes& notes, std::string code, Severity severity, std::string says, std::string where) {
    Finding finding;
    finding.code = std::move(code);
    finding.severity = severity;
    finding.says = std::move(says);
    finding.where = std::move(where);
    notes.add(finding);
}

// What a person would look for in vain among the settings.
void note_inventory(const MountInventory& inventory, Notes& notes) {
    for (const auto& left : inventory.left_out)
        add(notes, "mount-left-out", Severity::info, left.target + " is not managed: " + left.why, left.target);
    for (const auto& rejected : inventory.fstab.rejected) {
        add(notes, "fstab-line-rejected", Severity::warning,
            "mount(8) skips this line: " + rejected.why +
                "; it is kept as it is, and what it meant to mount is not managed",
            inventory.fstab_path + ":" + std::to_string(rejected.line));
    }
}

// About one filesystem that the policy wants something of.
void note_filesystem(const ManagedFilesystem& filesystem, const MountInventory& inventory, Notes& notes) {
    for (const auto& mount : filesystem.mounts) {
        if (mount.sources.empty() && !mount.is_bind && inventory.unreadable.empty()) {
            add(notes, "mount-not-persisted", Severity::warning,
                mount.target +
                    " is mounted, and no fstab line, mount unit or kernel command line mounts it at the next boot; its "
                    "options hold "
                    "until it is unmounted, and no line is made for it",
                mount.target);
        }
        if (mount.sources.size() > 1) {
            add(notes, "mounted-twice", Severity::warning,
                mount.target + " is described more than once; " + mount.sources[0].describe() + " applies, " +
                    mount.sources[1].describe() + " does not",
                mount.sources[0].describe());
        }
    }
}

class MountResource final : public Resource {
  public:
    std::string_view domain() const override { return "mount"; }

    PolicyKeys keys() const override { return mount_keys(); }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        const auto read = read_mount_policy(policy, notes);
        if (read.rules.empty() && !read.discard) return {};
        const auto& inventory = mount_inventory(topology, host);
        note_inventory(inventory, notes);
        const auto& mounts = topology.mounts();
        WishMaker maker(read, mount_host_facts(topology, host), backings(topology, host), mounts ? &*mounts : nullptr,
                        notes);
        std::vector<Setting> settings;
        for (const auto& filesystem : inventory.filesystems) {
            const auto wishes = maker.wishes_for(filesystem);
            const auto before = settings.size();
            add_settings(policy, filesystem, filesystem.mounts.front(), wishes.superblock, true, settings);
            for (std::size_t i = 0; i < filesystem.mounts.size(); ++i) {
                add_settings(policy, filesystem, filesystem.mounts[i], wishes.mounts[i], false, settings);
            }
            if (settings.size() > before) note_filesystem(filesystem, inventory, notes);
        }
        maker.note_unmatched_rules();
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes& notes) const override {
        std::vector<Observation> observations;
        if (settings.empty()) return observations;
        const auto& inventory = mount_inventory(topology, host);
        const MountLookup lookup(inventory);
        const MountReaders readers(topology, host);
        for (const auto& setting : settings) {
            const auto subject = lookup.find(setting);
            observations.push_back(observe_one(subject, inventory, readers.of(*subject.filesystem), notes));
        }
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        return mount_remedy(differences, topology, host);
    }

    std::vector<std::string> own_files(Host& host) const override { return mount_own_files(host); }

    std::string reference() const override { return render_option_reference(); }

    void survey(Host& host) const override {
        const Topology topology(host);
        const auto& inventory = mount_inventory(topology, host);
        const MountReaders readers(topology, host);
        const auto& mounts = topology.mounts();
        for (const auto& filesystem : inventory.filesystems) {
            readers.of(filesystem);
            if (!is_pseudo_filesystem(filesystem.fstype))
                backing_of(filesystem, mounts ? &*mounts : nullptr, backings(topology, host));
            for (const auto& mount : filesystem.mounts) host.stat(mount.target);
        }
        mount_own_files(host);
        survey_remedy(host);
    }

  private:
    static void add_settings(const Policy& policy,
                             const ManagedFilesystem& filesystem,
                             const ManagedMount& mount,
                             const Wishes& wishes,
                             bool of_superblock,
                             std::vector<Setting>& settings) {
        for (const auto& [property, wish] : wishes) {
            Setting setting;
            setting.address = make_address("mount", mount.target, property);
            if (policy.is_unmanaged(setting.address, wish.policy)) continue;
            setting.wanted = wish.text;
            setting.condition = wish.condition;
            setting.policy = wish.policy;
            setting.own_address = make_address("mount", mount.target, "options");
            for (const auto& other : filesystem.mounts) {
                if (of_superblock && &other != &mount && !other.is_bind) setting.also_at.push_back(other.target);
            }
            settings.push_back(std::move(setting));
        }
    }

    // Of a filesystem with several lines the first mount decides, and which one that is only the root tells for sure: a
    // line that says something else is pointed at.
    static Observation observe_one(const MountSubject& subject,
                                   const MountInventory& inventory,
                                   const FilesystemReader& reader,
                                   Notes& notes) {
        Observation observation;
        if (subject.wish.kind != MountWish::Kind::userspace)
            observation[Plane::live] = reader.live(subject.wish, live_mount_of(subject));
        observation[Plane::persisted] = reader.persisted(subject.wish, *subject.mount, inventory.unreadable);
        if (!subject.of_superblock) return observation;
        for (const auto& mount : subject.filesystem->mounts) {
            if (&mount == subject.mount || mount.is_bind || mount.sources.empty()) continue;
            const auto other = reader.persisted(subject.wish, mount, inventory.unreadable);
            auto& deciding = observation[Plane::persisted];
            if (std::holds_alternative<Absent>(deciding.state)) deciding = other;
            if (other.state == deciding.state || !std::holds_alternative<Found>(other.state)) continue;
            add(notes, "lines-disagree", Severity::warning,
                "the lines at " + deciding.source + " and " + other.source +
                    " want different things of one filesystem; the first mount decides",
                other.source);
            // Where mounts run side by side either may be the first: the plane is only as good as the line that
            // differs.
            if (subject.mount->target != "/" && meets(deciding, subject.wish.condition)) deciding = other;
        }
        return observation;
    }

    static bool meets(const Reading& reading, const Condition& condition) {
        const auto* found = std::get_if<Found>(&reading.state);
        const auto* is = std::get_if<Is>(&condition);
        return found != nullptr && is != nullptr && found->value == is->value;
    }

    // The superblock is read through any mount of it that is there.
    static const ManagedMount& live_mount_of(const MountSubject& subject) {
        if (!subject.of_superblock || subject.mount->live) return *subject.mount;
        for (const auto& mount : subject.filesystem->mounts) {
            if (mount.live) return mount;
        }
        return *subject.mount;
    }
};

}  // namespace

std::unique_ptr<Resource> make_mount_resource() {
    return std::make_unique<MountResource>();
}

}  // namespace storpol
