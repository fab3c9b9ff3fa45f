// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/policy/keys.h"
#include "engine/policy/policy.h"
#include "engine/reconcile/resource.h"

// A [[mount]] rule as the policy has it: which mounts it means, and the words it wants and forbids on them.
namespace storpol {

struct Backing;

struct MountWord {
    std::string text;  // "commit=300"
    Place place;
};

// What a rule says of the disks that a mount lies on.
struct BackingWish {
    std::optional<bool> encrypted, rotational;  // true where any layer, any disk is
    std::optional<std::string> model;           // a glob; every disk
    std::optional<std::string> transport;       // every disk

    bool is_given() const { return encrypted || rotational || model || transport; }

    // None where what is known of the stack does not decide it.
    std::optional<bool> holds(const Backing& backing) const;
};

struct MountRule {
    std::optional<std::string> target, source, fstype, label;  // globs; all given must match
    BackingWish backing;
    std::vector<MountWord> options;
    std::vector<MountWord> forbid;
    std::optional<MountWord> discard;     // "periodic", "continuous" or "never"
    std::optional<MountWord> trim;        // fstrim = { enabled }: "true" or "false"
    std::optional<MountWord> min_extent;  // fstrim = { min-extent }; its text ...
    Bytes min_extent_bytes = 0;           // ... and what that is
    Place place;
    bool is_builtin = false;

    bool names_fstype() const;  // without a glob: then an option the filesystem does not know is an error
    bool names_target() const;  // without a glob
};

struct MountPolicy {
    std::vector<MountRule> rules;      // in merge order
    std::optional<MountWord> discard;  // [discard] filesystem
};

// What is wrong whatever the host goes to `notes`: words that choose what is mounted, options the named filesystem does
// not know, a word that is wanted and forbidden in one rule, a discard word against the rule's `discard`.
MountPolicy read_mount_policy(const Policy& policy, Notes& notes);

// The keys [[mount]] and [discard] filesystem.
PolicyKeys mount_keys();

bool has_glob(std::string_view pattern);

}  // namespace storpol
