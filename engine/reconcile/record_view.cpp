// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/record_view.h"

#include <nlohmann/json.hpp>

#include "engine/model/json.h"

namespace storpol {
namespace {

template <class Entry>
const Entry* find_in(const std::unordered_map<std::string, const Entry*>& entries, const std::string& key) {
    const auto at = entries.find(key);
    return at == entries.end() ? nullptr : at->second;
}

}  // namespace

RecordView::RecordView(const Record* record) {
    if (record == nullptr) return;
    for (const auto& entry : record->applied) applied_.emplace(key_of(entry.of, entry.device), &entry);
    for (const auto& entry : record->waiting) waiting_.emplace(key_of(entry.of, entry.device), &entry);
    for (const auto& entry : record->tried) tried_.emplace(key_of(entry.of, {}), &entry);
}

std::string RecordView::key_of(const SettingPlane& of, std::string_view device) {
    std::string key = of.address;
    key += '\0';
    key += to_text(of.plane);
    key += '\0';
    key += device;
    return key;
}

const AppliedEntry* RecordView::applied(const Setting& setting, Plane plane) const {
    return find_in(applied_, key_of({setting.address, plane}, setting.device));
}

const WaitingEntry* RecordView::waiting(const Setting& setting, Plane plane) const {
    return find_in(waiting_, key_of({setting.address, plane}, setting.device));
}

const TriedEntry* RecordView::tried(const Setting& setting, Plane plane) const {
    return find_in(tried_, key_of({setting.address, plane}, {}));
}

bool same_condition(const Condition& one, const Condition& other) {
    return one == other || to_json(one) == to_json(other);
}

}  // namespace storpol
