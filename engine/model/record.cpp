// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/record.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/model/json_fields.h"

namespace storpol {

namespace {

constexpr int record_format = 1;

Json head_of(const SettingPlane& of, const Condition& condition) {
    return Json{{"address", address_text(of.address)},
                {"plane", std::string(to_text(of.plane))},
                {"wanted", to_json(condition)}};
}

void add_text(Json& json, const char* key, const std::string& text) {
    if (!text.empty()) json[key] = escape_bytes(text);
}

Json entry_json(const AppliedEntry& entry) {
    Json json = head_of(entry.of, entry.condition);
    add_text(json, "value", entry.value);
    add_text(json, "device", entry.device);
    return json;
}

Json entry_json(const WaitingEntry& entry) {
    Json json = head_of(entry.of, entry.condition);
    json["waits"] = std::string(to_text(entry.waits));
    add_text(json, "boot-id", entry.boot_id);
    add_text(json, "mount-id", entry.mount_id);
    add_text(json, "device", entry.device);
    return json;
}

Json entry_json(const TriedEntry& entry) {
    Json json = head_of(entry.of, entry.condition);
    add_text(json, "boot-id", entry.boot_id);
    add_text(json, "at", entry.at);
    add_text(json, "found", entry.found);
    return json;
}

template <class Entry>
Json list_json(const std::vector<Entry>& entries) {
    Json list = Json::array();
    for (const Entry& entry : entries) list.push_back(entry_json(entry));
    return list;
}

// Takes `result` into `place`, or answers false with the Error kept.
template <class T>
bool take(Result<T> result, T& place, Error& error) {
    if (result) {
        place = std::move(*result);
        return true;
    }
    error = std::move(result.error());
    return false;
}

bool read_head(const Json& json, SettingPlane& of, Condition& condition, Error& error) {
    return take(setting_plane_from_json(json), of, error) && take(condition_member(json, "wanted"), condition, error);
}

bool read_entry(const Json& json, AppliedEntry& entry, Error& error) {
    return read_head(json, entry.of, entry.condition, error) &&
           take(text_member_or_empty(json, "value"), entry.value, error) &&
           take(text_member_or_empty(json, "device"), entry.device, error);
}

bool read_entry(const Json& json, WaitingEntry& entry, Error& error) {
    std::string waits;
    const bool read = read_head(json, entry.of, entry.condition, error) &&
                      take(text_member(json, "waits"), waits, error) &&
                      take(text_member_or_empty(json, "boot-id"), entry.boot_id, error) &&
                      take(text_member_or_empty(json, "mount-id"), entry.mount_id, error) &&
                      take(text_member_or_empty(json, "device"), entry.device, error);
    if (!read) return false;
    const auto when = parse_when(waits);
    if (!when || *when == When::now || *when == When::in_image) {
        error = Error{ErrorKind::invalid, "nothing waits for \"" + printable(waits) + "\"", {}, {}, 0};
        return false;
    }
    entry.waits = *when;
    return true;
}

bool read_entry(const Json& json, TriedEntry& entry, Error& error) {
    return read_head(json, entry.of, entry.condition, error) &&
           take(text_member_or_empty(json, "boot-id"), entry.boot_id, error) &&
           take(text_member_or_empty(json, "at"), entry.at, error) &&
           take(text_member_or_empty(json, "found"), entry.found, error);
}

template <class Entry>
bool read_list(const Json& json, const char* key, std::vector<Entry>& entries, Error& error) {
    const Json* list = nullptr;
    if (!take(array_member(json, key), list, error)) return false;
    for (const Json& element : *list) {
        Entry entry;
        if (!read_entry(element, entry, error)) {
            error.where = key + ("[" + std::to_string(entries.size()) + "]");
            return false;
        }
        entries.push_back(std::move(entry));
    }
    return true;
}

}  // namespace

std::string render_record(const Record& record) {
    Json json{{"format", record_format},
              {"policy-digest", escape_bytes(record.policy_digest)},
              {"applied-at", escape_bytes(record.applied_at)}};
    json["applied"] = list_json(record.applied);
    json["waiting"] = list_json(record.waiting);
    json["tried"] = list_json(record.tried);
    return json.dump(1) + "\n";
}

Result<Record> parse_record(std::string_view text) {
    const auto json = parse_json(text, {});
    if (!json) return tl::unexpected<Error>(json.error());
    const auto format = int_member(*json, "format");
    if (!format) return tl::unexpected<Error>(format.error());
    if (*format != record_format) {
        return fail(ErrorKind::unsupported,
                    "record format " + std::to_string(*format) + " is not known to this version", {},
                    "use the version of storpol that wrote it, or a newer one");
    }
    Record record;
    Error error;
    const bool read = take(text_member_or_empty(*json, "policy-digest"), record.policy_digest, error) &&
                      take(text_member_or_empty(*json, "applied-at"), record.applied_at, error) &&
                      read_list(*json, "applied", record.applied, error) &&
                      read_list(*json, "waiting", record.waiting, error) &&
                      read_list(*json, "tried", record.tried, error);
    if (!read) return tl::unexpected<Error>(std::move(error));
    return record;
}

}  // namespace storpol
