// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policy_builder.h"

#include <cstddef>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

namespace storpol {
namespace {

bool is_bound(const PolicyTable& table) {
    return table.find("at-least") || table.find("at-most");
}

bool holds_rules(const std::vector<PolicyNode>& list) {
    return !list.empty() && list.front().table();
}

void merge_table(PolicyTable& into, PolicyTable from);

void merge_node(PolicyNode& into, PolicyNode from) {
    PolicyTable* table = std::get_if<PolicyTable>(&into.inner);
    PolicyTable* added = std::get_if<PolicyTable>(&from.inner);
    if (table && added && !is_bound(*table) && !is_bound(*added)) {
        merge_table(*table, std::move(*added));
        into.place = std::move(from.place);
        return;
    }
    auto* list = std::get_if<std::vector<PolicyNode>>(&into.inner);
    auto* more = std::get_if<std::vector<PolicyNode>>(&from.inner);
    if (list && more && (holds_rules(*list) || holds_rules(*more))) {
        list->insert(list->end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
        return;
    }
    into = std::move(from);
}

// By an index, as [sysctl] may be long and a nested search would be quadratic.
void merge_table(PolicyTable& into, PolicyTable from) {
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t at = 0; at < into.entries.size(); ++at) index.emplace(into.entries[at].key, at);
    for (PolicyEntry& entry : from.entries) {
        const auto same = index.find(entry.key);
        if (same == index.end()) {
            into.entries.push_back(std::move(entry));
        } else {
            PolicyEntry& existing = into.entries[same->second];
            existing.place = std::move(entry.place);
            merge_node(existing.value, std::move(entry.value));
        }
    }
}

}  // namespace

void PolicyBuilder::add(Policy::File file, CheckedFile checked) {
    merge_table(policy_.root_, std::move(checked.tree));
    for (Accept& accept : checked.accepts) policy_.accepts_.push_back(std::move(accept));
    for (PlacedWord& word : checked.unmanaged)
        policy_.unmanaged_.push_back({std::move(word.text), std::move(word.place)});
    policy_.files_.push_back(std::move(file));
}

}  // namespace storpol
