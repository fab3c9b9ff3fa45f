// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "resources/mount/option_set.h"

// From a wanted value back to words: for a file that keeps options, and for the running kernel. Pure.
namespace storpol {

struct WantedValue {
    std::string property;
    std::string value;
    std::string word;  // how the policy spells it, preferred in files; may be empty
};

// The word that sets a property to a value, as the kernel shows it: "commit=300", "nodiscard", "compress-force=zstd:3".
// None where no word does (vfat discard off).
std::optional<std::string> word_for(std::string_view fstype,
                                    std::string_view property,
                                    std::string_view value,
                                    std::optional<KernelVersion> kernel = {});

// A change of an options field (model/step.h FieldWords; engine/text/field_edit.h): the nth word put in takes the place
// of the nth taken out, further ones go to the end.
struct OptionEdit {
    std::vector<std::string> take_out;  // as they stand in the field
    std::vector<std::string> put_in;
    std::vector<std::string> side_effects;  // "datacow: off to on": what else the new words mean
    std::string cannot;                     // why no words do; then nothing is to be edited

    bool changes() const { return !take_out.empty() || !put_in.empty(); }

    bool operator==(const OptionEdit&) const = default;
};

// The smallest edit after which `list` means all that is wanted. A word is written only where the default (with what
// `facts` tell) is not what is wanted; all other words keep their bytes.
OptionEdit edit_options(std::string_view fstype,
                        std::string_view list,
                        std::span<const WantedValue> wanted,
                        const MountFacts& facts);

// The edit after which `list` means none of the forbidden values: the words go, and where the default itself is
// forbidden an explicit off comes in their place.
OptionEdit avoid_option(std::string_view fstype,
                        std::string_view list,
                        const ForbiddenOption& forbidden,
                        const MountFacts& facts);

// True where the value is one of those that are forbidden.
bool is_forbidden(const ForbiddenOption& forbidden, std::string_view value);

// The text after an edit, by the rule above: what field_edit makes of the field.
std::string edited_list(std::string_view list, const OptionEdit& edit);

// A parameter of fsconfig(2): a flag, or a key with a value.
struct SuperParameter {
    std::string key;
    std::optional<std::string> value;
    bool operator==(const SuperParameter&) const = default;
};

std::string to_text(const SuperParameter& parameter);  // "commit=300", "nodiscard"

// One change of a running mount. Names only what changes, and what the filesystem would otherwise lose (xfs inode32,
// every option of f2fs).
struct RemountPlan {
    std::vector<SuperParameter> super;  // one reconfigure of the superblock; empty: none needed
    std::vector<std::string>
        set_attributes;  // of this mount alone: "noatime", "nosuid", ...; atime modes replace each other
    std::vector<std::string> clear_attributes;
    std::map<std::string, std::string, std::less<>> next_mount;  // property -> why only a new mount changes it
    std::vector<std::string> side_effects;                       // "datacow: off to on"

    bool changes() const { return !super.empty() || !set_attributes.empty() || !clear_attributes.empty(); }

    bool operator==(const RemountPlan&) const = default;
};

RemountPlan plan_remount(std::string_view fstype,
                         const OptionSet& live,
                         std::span<const WantedValue> wanted,
                         const MountFacts& facts);

// What the mount holds after a reconfigure of the superblock that the kernel accepted: ignored parameters change
// nothing, an xfs that is not told inode32 becomes inode64.
OptionSet after_reconfigure(std::string_view fstype,
                            const OptionSet& live,
                            std::span<const SuperParameter> parameters,
                            std::optional<KernelVersion> kernel = {});

}  // namespace storpol
