// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/dm_crypt/rule.h"

#include <algorithm>
#include <array>

#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::array properties{
    CryptProperty{"discard", "allow-discards", "allow", "block"},
    CryptProperty{"no-read-workqueue", "no-read-workqueue", "on", "off"},
    CryptProperty{"no-write-workqueue", "no-write-workqueue", "on", "off"},
    CryptProperty{"same-cpu-crypt", "same-cpu-crypt", "on", "off"},
    CryptProperty{"submit-from-crypt-cpus", "submit-from-crypt-cpus", "on", "off"},
};

CryptWish wish_of(const CryptProperty& property, const PolicyNode& node) {
    return {&property, node.text == "allow" || node.text == "true", node.text, node.place};
}

CryptRule read_rule(const PolicyNode& node, const Policy& policy, Notes& notes) {
    CryptRule rule;
    rule.place = node.place;
    rule.is_builtin = policy.is_builtin(node.place);
    for (const auto& [key, place, value] : node.table()->entries) {
        if (const auto* property = find_crypt_property(key)) rule.wishes.push_back(wish_of(*property, value));
        if (key != "match") continue;
        if (const auto* name = value.table()->find("name")) rule.name = name->text;
    }
    if (!rule.name) {
        PolicyError error;
        error.where = node.place;
        error.says = "this [[dm-crypt]] rule has no match, so it would mean every mapping";
        error.fix = "say which mappings it is for, such as match = { name = \"data*\" }";
        notes.add(error);
    }
    return rule;
}

// cryptsetup(8), --allow-discards: the warning is the same.
void check_leak(const CryptWish& wish, bool is_accepted, Notes& notes) {
    if (wish.property->name != "discard" || !wish.is_on || is_accepted) return;
    PolicyError error;
    error.where = wish.place;
    error.says =
        "discards through dm-crypt show anyone who sees the raw device (a thief, the host of a virtual machine, "
        "whoever "
        "copies the disk) which of its blocks are unused: how full it is, when space is freed, what filesystem it may "
        "hold, and that no hidden volume lies there; never contents or keys";
    error.fix = "write accept-dm-crypt-leak = true under [discard] if that is acceptable here, or \"block\"";
    error.width = static_cast<int>(wish.text.size()) + 2;
    notes.add(error);
}

Key word_key(std::string name, std::string doc, std::vector<std::string> choices) {
    Key key = key_of(std::move(name), KeyType::word, std::move(doc));
    key.choices = std::move(choices);
    return key;
}

Key discard_table() {
    Key accept =
        key_of("accept-dm-crypt-leak", KeyType::boolean,
               "That whoever sees the raw device may tell which blocks of it are unused. Nothing allows discards "
               "through dm-crypt without it.");
    accept.default_text = "false";
    Key persist =
        word_key("dm-crypt-persist",
                 "Where an allowed discard is kept: in the LUKS2 header, which needs neither a secret nor a new "
                 "initramfs and holds for every program that opens the device; or in the options of crypttab, the "
                 "only way for LUKS1 and plain. What is blocked is taken out of both.",
                 {"luks2-header", "crypttab"});
    persist.default_text = "luks2-header for LUKS2, else crypttab or the command line that opens it";
    Key discard = key_of("discard", KeyType::table, "Discards (TRIM), layer by layer.");
    discard.keys = {
        word_key(
            "dm-crypt",
            "Whether encrypted mappings pass discards. `allow`: those below a mounted filesystem that is to be "
            "trimmed; `block`: every one. Mappings with a new key at each boot (swap, temporary space) are left alone.",
            {"allow", "block"}),
        persist,
        accept,
    };
    return discard;
}

}  // namespace

std::span<const CryptProperty> crypt_properties() {
    return properties;
}

const CryptProperty* find_crypt_property(std::string_view name) {
    const auto found = std::ranges::find(properties, name, &CryptProperty::name);
    return found == properties.end() ? nullptr : &*found;
}

CryptPolicy read_crypt_policy(const Policy& policy, Notes& notes) {
    CryptPolicy read;
    bool is_accepted = false;
    const auto* discard = policy.find("discard");
    if (discard != nullptr && discard->table() != nullptr) {
        const auto& table = *discard->table();
        if (const auto* accept = table.find("accept-dm-crypt-leak")) is_accepted = accept->boolean().value_or(false);
        if (const auto* persist = table.find("dm-crypt-persist")) read.prefers_crypttab = persist->text == "crypttab";
        if (const auto* wanted = table.find("dm-crypt")) read.discard = wish_of(properties[0], *wanted);
    }
    if (read.discard) check_leak(*read.discard, is_accepted, notes);
    const auto* rules = policy.find("dm-crypt");
    if (rules == nullptr || rules->list() == nullptr) return read;
    for (const auto& element : *rules->list()) {
        read.rules.push_back(read_rule(element, policy, notes));
        for (const auto& wish : read.rules.back().wishes) check_leak(wish, is_accepted, notes);
    }
    return read;
}

PolicyKeys crypt_keys() {
    Key match = key_of("match", KeyType::table, "Which mappings. Required.");
    match.keys = {key_of("name", KeyType::word, "The name of the mapping, as below /dev/mapper; a glob.")};
    Key rule =
        key_of("dm-crypt", KeyType::rule_array,
               "Options of encrypted mappings. All matching rules apply, key by key; the later one wins, and each "
               "beats [discard] dm-crypt. A flag that nothing here names stays as it is.");
    rule.keys = {
        match,
        word_key("discard", "Whether these mappings pass discards, whatever lies on them.", {"allow", "block"}),
        key_of("no-read-workqueue", KeyType::boolean,
               "Decrypt where the read completes, without a queue of its own (kernel 5.9): less latency on fast NVMe, "
               "more "
               "on slow processors."),
        key_of("no-write-workqueue", KeyType::boolean, "The same for writes."),
        key_of("same-cpu-crypt", KeyType::boolean,
               "Encrypt on the processor that submitted the request, instead of spreading the work."),
        key_of("submit-from-crypt-cpus", KeyType::boolean,
               "Submit writes from the processors that encrypted them, instead of one thread that sorts them."),
    };
    return {{rule, discard_table()}};
}

}  // namespace storpol
