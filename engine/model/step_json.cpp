// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/model/json_fields.h"

namespace storpol {

namespace {

void add_edit(Json& json, const OwnLines& own) {
    json["address"] = address_text(own.address);
    if (!own.section.empty()) json["section"] = escape_bytes(own.section);
    json["lines"] = json_list(own.lines);
}

void add_edit(Json& json, const FieldWords& words) {
    json["line"] = words.line;
    json["field"] = words.field;
    json["take-out"] = json_list(words.take_out);
    json["put-in"] = json_list(words.put_in);
}

void add_edit(Json& json, const NewLine& line) {
    json["new-line"] = escape_bytes(line.text);
}

std::string octal(unsigned mode) {
    std::string text;
    for (unsigned rest = mode; rest != 0; rest >>= 3) text.insert(text.begin(), static_cast<char>('0' + (rest & 7)));
    return "0" + text;
}

struct KeyJson {
    Json operator()(const KeyFile& file) const {
        return Json{
            {"from", "key-file"}, {"path", escape_bytes(file.path)}, {"offset", file.offset}, {"size", file.size}};
    }

    Json operator()(const LuksToken&) const { return Json{{"from", "token"}}; }

    Json operator()(const LinkedVolumeKey& key) const {
        return Json{{"from", "volume-key"}, {"description", escape_bytes(key.description)}};
    }

    Json operator()(const AskedPassphrase&) const { return Json{{"from", "passphrase"}}; }
};

struct StepJson {
    Json operator()(const EditFile& edit) const {
        Json json{{"step", "edit-file"}, {"path", escape_bytes(edit.path)}, {"digest", escape_bytes(edit.digest)}};
        std::visit([&json](const auto& what) { add_edit(json, what); }, edit.edit);
        return json;
    }

    Json operator()(const ReplaceFile& replace) const {
        return Json{{"step", "replace-file"},
                    {"path", escape_bytes(replace.path)},
                    {"before", escape_bytes(replace.before)},
                    {"mode", octal(replace.mode)},
                    {"bytes", escape_bytes(replace.bytes)}};
    }

    Json operator()(const DeleteFile& file) const {
        return Json{{"step", "delete-file"}, {"path", escape_bytes(file.path)}, {"before", escape_bytes(file.before)}};
    }

    Json operator()(const SetLink& link) const {
        return Json{{"step", "set-link"},
                    {"path", escape_bytes(link.path)},
                    {"before", escape_bytes(link.before)},
                    {"target", escape_bytes(link.target)}};
    }

    Json operator()(const StartUnit& start) const {
        return Json{{"step", start.stop ? "stop-unit" : "start-unit"}, {"unit", escape_bytes(start.unit)}};
    }

    Json operator()(const WriteAttribute& write) const {
        return Json{
            {"step", "write-attribute"}, {"path", escape_bytes(write.path)}, {"value", escape_bytes(write.value)}};
    }

    Json operator()(const Remount& remount) const {
        return Json{{"step", "remount"},
                    {"target", escape_bytes(remount.target)},
                    {"mount-id", escape_bytes(remount.mount_id)},
                    {"flags", json_list(remount.flags)},
                    {"parameters", json_list(remount.parameters)}};
    }

    Json operator()(const DaemonReload&) const { return Json{{"step", "daemon-reload"}}; }

    Json operator()(const SetLuksFlags& flags) const {
        return Json{{"step", "set-luks-flags"},
                    {"mapping", escape_bytes(flags.mapping)},
                    {"device", escape_bytes(flags.device)},
                    {"uuid", escape_bytes(flags.uuid)},
                    {"put-in", json_list(flags.put_in)},
                    {"take-out", json_list(flags.take_out)}};
    }

    Json operator()(const RefreshMapping& refresh) const {
        return Json{{"step", "refresh-mapping"},
                    {"mapping", escape_bytes(refresh.mapping)},
                    {"dm-uuid", escape_bytes(refresh.dm_uuid)},
                    {"put-in", json_list(refresh.put_in)},
                    {"take-out", json_list(refresh.take_out)},
                    {"key", std::visit(KeyJson{}, refresh.key)}};
    }

    Json operator()(const ReloadTable& reload) const {
        return Json{{"step", "reload-table"},
                    {"mapping", escape_bytes(reload.mapping)},
                    {"dm-uuid", escape_bytes(reload.dm_uuid)}};
    }

    Json operator()(const ChangeThinPool& change) const {
        return Json{{"step", "change-thin-pool"},
                    {"pool", escape_bytes(change.pool)},
                    {"discards", escape_bytes(change.discards)}};
    }

    Json operator()(const SetUpZram& zram) const {
        return Json{{"step", "set-up-zram"},
                    {"device", escape_bytes(zram.device)},
                    {"size", zram.size},
                    {"algorithm", escape_bytes(zram.algorithm)},
                    {"parameters", escape_bytes(zram.parameters)},
                    {"resident-limit", zram.resident_limit},
                    {"is-swap", zram.is_swap},
                    {"priority", zram.priority},
                    {"discard", escape_bytes(zram.discard)},
                    {"unit", escape_bytes(zram.unit)}};
    }

    Json operator()(const UseSwap& swap) const {
        return Json{{"step", swap.off ? "swap-off" : "swap-on"},
                    {"device", escape_bytes(swap.device)},
                    {"priority", swap.priority},
                    {"discard", escape_bytes(swap.discard)}};
    }

    Json operator()(const RunGenerator& run) const {
        return Json{{"step", "run-generator"},
                    {"program", escape_bytes(run.program)},
                    {"options", json_list(run.options)},
                    {"target", escape_bytes(run.target)}};
    }
};

// Reads members one after the other and keeps the first Error, so that a reader is a list of names.
class Members {
  public:
    explicit Members(const Json& json) : json_(json) {}

    std::string text(std::string_view key) { return keep(text_member(json_, key)); }

    std::string text_or_empty(std::string_view key) { return keep(text_member_or_empty(json_, key)); }

    int position(std::string_view key) {
        const std::int64_t number = keep(int_member(json_, key));
        constexpr std::int64_t most = 1 << 30;
        if (!error_ && (number < 1 || number > most)) {
            error_ = Error{ErrorKind::invalid, "\"" + std::string(key) + "\" is out of range", {}, {}, 0};
        }
        return error_ ? 0 : static_cast<int>(number);
    }

    std::vector<std::string> texts(std::string_view key) {
        std::vector<std::string> out;
        const Json* list = keep(array_member(json_, key));
        if (list == nullptr) return out;
        for (const Json& element : *list) {
            const Json wrapped{{"element", element}};
            out.push_back(keep(text_member(wrapped, "element")));
        }
        return out;
    }

    std::uint64_t bytes(std::string_view key) {
        const std::int64_t number = keep(int_member(json_, key));
        if (!error_ && number < 0) {
            error_ = Error{ErrorKind::invalid, "\"" + std::string(key) + "\" is out of range", {}, {}, 0};
        }
        return error_ ? 0 : static_cast<std::uint64_t>(number);
    }

    // Of a swap area: the kernel takes 15 bits, and a negative one is none.
    int priority(std::string_view key) {
        const std::int64_t number = keep(int_member(json_, key));
        constexpr std::int64_t most = 32767;
        if (!error_ && (number < -1 || number > most)) {
            error_ = Error{ErrorKind::invalid, "\"" + std::string(key) + "\" is out of range", {}, {}, 0};
        }
        return error_ ? -1 : static_cast<int>(number);
    }

    bool flag(std::string_view key) {
        if (json_.contains(key) && json_[key].is_boolean()) return json_[key].get<bool>();
        if (!error_) error_ = Error{ErrorKind::invalid, "\"" + std::string(key) + "\" is missing", {}, {}, 0};
        return false;
    }

    KeySource key(std::string_view key) {
        if (!json_.contains(key) || !json_[key].is_object()) return give_up("\"" + std::string(key) + "\" is missing");
        Members members(json_[key]);
        const std::string from = members.text("from");
        KeySource source = AskedPassphrase{};
        if (from == "key-file") {
            KeyFile file{members.text("path"), members.bytes("offset"), members.bytes("size")};
            source = std::move(file);
        } else if (from == "token") {
            source = LuksToken{};
        } else if (from == "volume-key") {
            source = LinkedVolumeKey{members.text("description")};
        } else if (from != "passphrase" && !members.error_) {
            return give_up("no key comes from \"" + printable(from) + "\"");
        }
        if (members.error_ && !error_) error_ = std::move(members.error_);
        return source;
    }

    // 0 to 07777, as octal() writes it.
    unsigned mode(std::string_view key) {
        const std::string digits = text(key);
        unsigned value = 0;
        bool good = !digits.empty() && digits.size() <= 5 && digits.front() == '0';
        for (const char digit : digits) {
            good = good && digit >= '0' && digit <= '7';
            value = value * 8 + static_cast<unsigned>(digit - '0');
        }
        if (!good && !error_) error_ = Error{ErrorKind::invalid, "\"mode\" is not an octal file mode", {}, {}, 0};
        return good ? value : 0;
    }

    template <class Made>
    Result<Step> finish(Made made) {
        if (error_) return tl::unexpected<Error>(std::move(*error_));
        return Step{std::move(made)};
    }

  private:
    KeySource give_up(std::string why) {
        if (!error_) error_ = Error{ErrorKind::invalid, std::move(why), {}, {}, 0};
        return AskedPassphrase{};
    }

    template <class T>
    T keep(Result<T> result) {
        if (result) return std::move(*result);
        if (!error_) error_ = std::move(result.error());
        return T{};
    }

    const Json& json_;
    std::optional<Error> error_;
};

Result<Step> edit_from_json(const Json& json) {
    Members members(json);
    EditFile edit;
    edit.path = members.text("path");
    edit.digest = members.text("digest");
    if (json.contains("address")) {
        OwnLines own;
        own.address = json["address"].is_string() ? json["address"].get<std::string>() : members.text("address");
        own.section = members.text_or_empty("section");
        own.lines = members.texts("lines");
        edit.edit = std::move(own);
    } else if (json.contains("new-line")) {
        edit.edit = NewLine{members.text("new-line")};
    } else {
        FieldWords words;
        words.line = members.position("line");
        words.field = members.position("field");
        words.take_out = members.texts("take-out");
        words.put_in = members.texts("put-in");
        edit.edit = std::move(words);
    }
    return members.finish(std::move(edit));
}

Result<Step> replace_from_json(const Json& json) {
    Members members(json);
    ReplaceFile replace;
    replace.path = members.text("path");
    replace.before = members.text("before");
    replace.mode = members.mode("mode");
    replace.bytes = members.text("bytes");
    return members.finish(std::move(replace));
}

Result<Step> remount_from_json(const Json& json) {
    Members members(json);
    Remount remount;
    remount.target = members.text("target");
    remount.mount_id = members.text("mount-id");
    remount.flags = members.texts("flags");
    remount.parameters = members.texts("parameters");
    return members.finish(std::move(remount));
}

Result<Step> luks_flags_from_json(const Json& json) {
    Members members(json);
    SetLuksFlags flags;
    flags.mapping = members.text("mapping");
    flags.device = members.text("device");
    flags.uuid = members.text("uuid");
    flags.put_in = members.texts("put-in");
    flags.take_out = members.texts("take-out");
    return members.finish(std::move(flags));
}

Result<Step> refresh_from_json(const Json& json) {
    Members members(json);
    RefreshMapping refresh;
    refresh.mapping = members.text("mapping");
    refresh.dm_uuid = members.text("dm-uuid");
    refresh.put_in = members.texts("put-in");
    refresh.take_out = members.texts("take-out");
    refresh.key = members.key("key");
    return members.finish(std::move(refresh));
}

Result<Step> reload_from_json(const Json& json) {
    Members members(json);
    ReloadTable reload;
    reload.mapping = members.text("mapping");
    reload.dm_uuid = members.text("dm-uuid");
    return members.finish(std::move(reload));
}

Result<Step> thin_pool_from_json(const Json& json) {
    Members members(json);
    ChangeThinPool change;
    change.pool = members.text("pool");
    change.discards = members.text("discards");
    return members.finish(std::move(change));
}

Result<Step> zram_from_json(const Json& json) {
    Members members(json);
    SetUpZram zram;
    zram.device = members.text("device");
    zram.size = members.bytes("size");
    zram.algorithm = members.text_or_empty("algorithm");
    zram.parameters = members.text_or_empty("parameters");
    zram.resident_limit = members.bytes("resident-limit");
    zram.is_swap = members.flag("is-swap");
    zram.priority = members.priority("priority");
    zram.discard = members.text_or_empty("discard");
    zram.unit = members.text_or_empty("unit");
    return members.finish(std::move(zram));
}

Result<Step> swap_from_json(const Json& json) {
    Members members(json);
    UseSwap swap;
    swap.device = members.text("device");
    swap.priority = members.priority("priority");
    swap.discard = members.text_or_empty("discard");
    swap.off = members.text("step") == "swap-off";
    return members.finish(std::move(swap));
}

Result<Step> generator_from_json(const Json& json) {
    Members members(json);
    RunGenerator run;
    run.program = members.text("program");
    run.options = members.texts("options");
    run.target = members.text("target");
    return members.finish(std::move(run));
}

Result<Step> delete_from_json(const Json& json) {
    Members members(json);
    DeleteFile file;
    file.path = members.text("path");
    file.before = members.text("before");
    return members.finish(std::move(file));
}

Result<Step> write_from_json(const Json& json) {
    Members members(json);
    WriteAttribute write;
    write.path = members.text("path");
    write.value = members.text("value");
    return members.finish(std::move(write));
}

Result<Step> link_from_json(const Json& json) {
    Members members(json);
    SetLink link;
    link.path = members.text("path");
    link.before = members.text("before");
    link.target = members.text_or_empty("target");
    return members.finish(std::move(link));
}

Result<Step> start_from_json(const Json& json) {
    Members members(json);
    return members.finish(StartUnit{members.text("unit"), false});
}

Result<Step> stop_from_json(const Json& json) {
    Members members(json);
    return members.finish(StartUnit{members.text("unit"), true});
}

struct StepReader {
    std::string_view kind;
    Result<Step> (*read)(const Json&);
};

constexpr std::array<StepReader, 16> step_readers{{
    {"edit-file", edit_from_json},
    {"replace-file", replace_from_json},
    {"delete-file", delete_from_json},
    {"set-link", link_from_json},
    {"start-unit", start_from_json},
    {"stop-unit", stop_from_json},
    {"write-attribute", write_from_json},
    {"remount", remount_from_json},
    {"set-luks-flags", luks_flags_from_json},
    {"refresh-mapping", refresh_from_json},
    {"reload-table", reload_from_json},
    {"change-thin-pool", thin_pool_from_json},
    {"set-up-zram", zram_from_json},
    {"swap-on", swap_from_json},
    {"swap-off", swap_from_json},
    {"run-generator", generator_from_json},
}};

}  // namespace

Json to_json(const Step& step) {
    return std::visit(StepJson{}, step);
}

Result<Step> step_from_json(const Json& json) {
    const auto kind = text_member(json, "step");
    if (!kind) return tl::unexpected<Error>(kind.error());
    if (*kind == "daemon-reload") return Step{DaemonReload{}};
    const auto reader = std::ranges::find(step_readers, *kind, &StepReader::kind);
    if (reader != step_readers.end()) return reader->read(json);
    return fail(ErrorKind::invalid, "unknown step \"" + printable(*kind) + "\"");
}

}  // namespace storpol
