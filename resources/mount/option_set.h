// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "resources/mount/options.h"

// What an options text means on a filesystem: a map from property to value, in the one spelling of options.h, so that
// order, repetition, synonyms and the kernel's own rewriting never count as a difference. Pure.
namespace storpol {

enum class Origin {
    written,        // a word of the text says so
    implied,        // another word brought it along
    shown,          // the running kernel shows it
    default_value,  // nothing says so; it is the default
};

struct OptionValue {
    std::string value;
    Origin origin = Origin::written;
    std::string word;  // the word as it stands there; for a default, where that comes from ("kernel default", ...)
    bool operator==(const OptionValue&) const = default;
};

struct OptionProblem {
    std::string word;
    std::string why;  // "commit needs a number", "xfs has no barrier since 4.19", "data=journal excludes delalloc"
    bool operator==(const OptionProblem&) const = default;
};

struct OptionSet {
    std::map<std::string, OptionValue, std::less<>> settings;
    std::map<std::string, std::string, std::less<>> unknown_settings;  // property -> why its value is not known
    std::vector<std::string> userspace;
    std::vector<std::string> selectors;
    std::vector<std::string> unknown;     // words the table does not have; opaque
    std::vector<OptionProblem> problems;  // what this kernel would refuse the whole mount for

    // The value of a property; null where it is neither said nor known.
    const OptionValue* find(std::string_view property) const;
    bool operator==(const OptionSet&) const = default;
};

// What else is known of the host and decides defaults. Everything may be missing.
struct MountFacts {
    std::optional<KernelVersion> kernel;
    std::optional<bool> device_discards;  // of the device right below; of several, any
    std::optional<bool> rotational;       // of several, any
    // ext4: the defaults in the superblock as options words: "user_xattr,acl,discard,commit=60,errors=remount-ro".
    std::optional<std::string> superblock_options;
};

// The words of a comma list; commas inside double quotes separate nothing (libmount, mnt_optstr_next_option). No word
// is empty. Views into `list`.
std::vector<std::string_view> split_options(std::string_view list);

// The meaning of words as fstab or a policy has them: only what they say, no defaults. The last of two wins where the
// filesystem has it so.
OptionSet parse_options(std::string_view fstype, std::string_view list, std::optional<KernelVersion> kernel = {});

// The same words put on top of what already holds, as a remount puts them; parse_options() starts from nothing.
OptionSet apply_options(OptionSet base,
                        std::string_view fstype,
                        std::string_view list,
                        std::optional<KernelVersion> kernel = {});

// Why the kernel refuses a word while the set holds, by the table's conflicts ("data=ordered"); empty where it does
// not.
std::string conflict_with(const OptionSet& set, std::string_view fstype, std::string_view word);

// Adds the default of every property that is not set, or says in `unknown_settings` why it is not known.
void add_defaults(OptionSet& set, std::string_view fstype, const MountFacts& facts);

// The default of one property: its value, or none with the reason.
struct OptionDefault {
    std::optional<std::string> value;
    std::string from;  // "kernel default", "superblock default", "device default"; where there is no value, why not
};

OptionDefault default_of(std::string_view fstype, std::string_view property, const MountFacts& facts);

// What a new mount with these words would show: defaults added, and what the kernel drops by itself dropped (discard on
// a device without it).
OptionSet expected_live(std::string_view fstype, std::string_view list, const MountFacts& facts);

// The running kernel's view of a mount.
struct LiveText {
    std::string_view mount_options;  // mountinfo field 6
    std::string_view super_options;  // mountinfo last field
    std::optional<std::string_view>
        ext4_options;  // /proc/fs/ext4/DEV/options; mountinfo alone hides superblock defaults
};

OptionSet live_options(std::string_view fstype, const LiveText& text, const MountFacts& facts);

// tune2fs -l "Default mount options" ("user_xattr acl journal_data_writeback") and "Mount options" as options
// words.
std::string ext4_superblock_options(std::string_view default_mount_opts, std::string_view mount_opts = {});

// What a policy's word wants: one property and its value. An Error where the word is no setting of the filesystem or
// its value means nothing.
Result<std::pair<std::string, std::string>> wanted_option(std::string_view fstype,
                                                          std::string_view word,
                                                          std::optional<KernelVersion> kernel = {});

// What a policy's word forbids: these values of the property; none listed: every value but off, so that nothing may set
// it.
struct ForbiddenOption {
    std::string property;
    std::vector<std::string> values;
};

Result<ForbiddenOption> forbidden_option(std::string_view fstype, std::string_view word);

}  // namespace storpol
