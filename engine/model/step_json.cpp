// SPDX-License-Identifier: GPL-3.0-or-later
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

std::string octal(unsigned mode) {
    std::string text;
    for (unsigned rest = mode; rest != 0; rest >>= 3) text.insert(text.begin(), static_cast<char>('0' + (rest & 7)));
    return "0" + text;
}

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

}  // namespace

Json to_json(const Step& step) {
    return std::visit(StepJson{}, step);
}

Result<Step> step_from_json(const Json& json) {
    const auto kind = text_member(json, "step");
    if (!kind) return tl::unexpected<Error>(kind.error());
    Members members(json);
    if (*kind == "daemon-reload") return Step{DaemonReload{}};
    if (*kind == "edit-file") return edit_from_json(json);
    if (*kind == "replace-file") return replace_from_json(json);
    if (*kind == "delete-file") {
        DeleteFile file;
        file.path = members.text("path");
        file.before = members.text("before");
        return members.finish(std::move(file));
    }
    if (*kind == "remount") {
        Remount remount;
        remount.target = members.text("target");
        remount.mount_id = members.text("mount-id");
        remount.flags = members.texts("flags");
        remount.parameters = members.texts("parameters");
        return members.finish(std::move(remount));
    }
    if (*kind == "write-attribute") {
        WriteAttribute write;
        write.path = members.text("path");
        write.value = members.text("value");
        return members.finish(std::move(write));
    }
    return fail(ErrorKind::invalid, "unknown step \"" + printable(*kind) + "\"");
}

}  // namespace storpol
