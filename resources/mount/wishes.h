// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/condition.h"
#include "engine/model/place.h"
#include "engine/topology/backing.h"
#include "resources/mount/inventory.h"
#include "resources/mount/options.h"
#include "resources/mount/rule.h"

// What the policy's rules come to for one mount, and for one filesystem with all its mounts.
namespace storpol {

// One property as wanted. `property` is options.h's ("atime", "commit"), or for words that never reach the kernel the
// word itself ("nofail", "x-systemd.growfs"), or a word nobody here knows.
struct MountWish {
    std::string property;
    enum class Kind {
        option,      // a property of the table
        userspace,   // persisted only
        unknown,     // the table does not have this word: never acts
        impossible,  // this filesystem does not have it, and the rule names the mount: drift that nothing cures
    } kind = Kind::option;
    Condition condition;
    std::string text;           // as the policy has it
    std::vector<Place> policy;  // the deciding place first
    std::string why;            // of unknown and impossible
};

using Wishes = std::map<std::string, MountWish>;

struct FilesystemWishes {
    Wishes superblock;           // of the filesystem, addressed by its shortest target
    std::vector<Wishes> mounts;  // per-mount flags and userspace words, in the order of ManagedFilesystem::mounts
};

struct MountHostFacts {
    std::optional<KernelVersion> kernel;
    std::map<std::string, std::string> labels;  // device kernel name -> label, read only when a rule asks for one
};

class WishMaker {
  public:
    // `table` is none where nothing is mounted that can be seen (an image).
    WishMaker(const MountPolicy& policy,
              const MountHostFacts& facts,
              const Backings& backings,
              const MountTable* table,
              Notes& notes)
        : policy_(policy), facts_(facts), backings_(backings), table_(table), notes_(notes) {
        matched_.assign(policy.rules.size(), false);
    }

    FilesystemWishes wishes_for(const ManagedFilesystem& filesystem);
    // The rules that mean the filesystem by one of its mounts, binds left out; in merge order.
    std::vector<const MountRule*> rules_for(const ManagedFilesystem& filesystem);
    // After all filesystems: a finding for each rule that matched none.
    void note_unmatched_rules() const;

  private:
    Wishes wishes_for_mount(const ManagedFilesystem& filesystem, const ManagedMount& mount);
    bool matches(const MountRule& rule, const ManagedFilesystem& filesystem, const ManagedMount& mount);
    bool matches_label(const MountRule& rule, const ManagedFilesystem& filesystem, const ManagedMount& mount) const;
    bool matches_backing(const MountRule& rule, const ManagedFilesystem& filesystem, const ManagedMount& mount);
    void want(Wishes& wishes,
              const MountRule& rule,
              const MountWord& word,
              const ManagedFilesystem& filesystem,
              const ManagedMount& mount);
    void forbid(Wishes& wishes, const MountWord& word, const ManagedFilesystem& filesystem);
    void want_discard(Wishes& wishes, const MountWord& word) const;
    void take_superblock_wishes(const ManagedFilesystem& filesystem, Wishes& from, Wishes& into);

    const MountPolicy& policy_;
    const MountHostFacts& facts_;
    const Backings& backings_;
    const MountTable* table_;
    Notes& notes_;
    std::vector<bool> matched_;
    std::set<std::string> noted_;  // targets whose disks cannot be seen: said once
};

// What a filesystem lies on: of a mounted one by its device, else by the source its line or unit names.
const Backing& backing_of(const ManagedFilesystem& filesystem, const MountTable* table, const Backings& backings);

}  // namespace storpol
