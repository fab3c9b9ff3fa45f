// SPDX-License-Identifier: GPL-3.0-or-later
// zram-tools: /etc/default/zramswap; OpenRC's zram-init: /etc/conf.d/zram-init. Both are sourced by a shell and are
// edited by people too: a value is changed where it stands, or a line is added at the end.
#include <map>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/text/zram_scripts.h"
#include "resources/zram/plane.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;

// Plain in a shell's eyes, so that it needs no quotes.
bool is_plain(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
}

class ScriptPlane final : public ZramPlane {
  public:
    ScriptPlane(Host& host, ZramOwnerKind kind)
        : is_tools_(kind == ZramOwnerKind::zram_tools),
          path_(is_tools_ ? "/etc/default/zramswap" : "/etc/conf.d/zram-init"),
          name_(is_tools_ ? "zram-tools" : "zram-init") {
        const auto text = host.read_file_resolved(path_);
        if (!text && text.error().kind != ErrorKind::no_such_file) unreadable_ = text.error().what;
        if (text) {
            path_ = text->path;
            bytes_ = text->bytes;
        }
        digest_ = text ? digest_of(bytes_) : std::string(no_file_digest);
        const auto memory = zram_memory_kib(host);
        memory_known_ = memory.has_value();
        if (is_tools_) {
            devices_["zram0"] = read_zramswap(bytes_, memory.value_or(1));
        } else {
            auto init = read_zram_init(bytes_);
            devices_ = std::move(init.devices);
            if (!init.unknown.empty() && unreadable_.empty()) unreadable_ = path_ + ": " + init.unknown;
        }
    }

    Reading read(const std::string& device, std::string_view property) const override {
        if (!unreadable_.empty()) return zram_unknown(unreadable_, path_);
        const auto found = devices_.find(device);
        if (found == devices_.end()) return zram_unset({}, "");
        const auto& made = found->second;
        if (property == "level") return zram_unset(zram_default_level(made.algorithm.word), "the algorithm's default");
        if (property == "mount-point") return zram_unset({}, "");
        const auto& value = value_of(made, property);
        if (!value.unknown.empty()) return zram_unknown(value.unknown, where(value));
        if (property == "size" && value.variable == "PERCENT" && !memory_known_) {
            return zram_unknown("the memory that sizes depend on is not known (MemTotal in /proc/meminfo)",
                                where(value));
        }
        const bool is_word = property == "algorithm" || property == "discard" || property == "fs-type";
        std::optional<Value> stored;
        if (is_word && !value.word.empty()) stored = Value{value.word};
        if (!is_word && value.number) stored = Value{*value.number};
        if (!value.is_set() || !stored) return zram_unset(stored, name_ + "'s default");
        auto reading = zram_found(*stored, "", where(value));
        if (to_text(*stored) != value.raw) std::get<Found>(reading.state).raw = value.variable + "=" + value.raw;
        return reading;
    }

    std::vector<std::string> devices() const override {
        std::vector<std::string> names;
        for (const auto& [name, device] : devices_) names.push_back(name);
        return names;
    }

    void find(std::span<const std::string>, std::vector<Finding>&) const override {}

    Remedy remedy(std::span<const ZramWish> wishes) const override {
        Remedy remedy;
        for (const auto& wish : wishes) {
            const auto why = why_not(wish);
            if (!why.empty()) {
                remedy.gaps.push_back(zram_gap(wish, why));
                continue;
            }
            for (const auto& [variable, value] : assignments(wish)) {
                Action action;
                action.verb = digest_ == no_file_digest ? Verb::create : Verb::edit;
                action.target = path_;
                action.when = When::next_boot;
                action.serves = {wish.of};
                action.says = "have " + name_ + " set up " + wish.device + " with " + variable + "=" + value;
                action.step = EditFile{path_, digest_, edit_for(variable, value)};
                remedy.actions.push_back(std::move(action));
            }
        }
        return remedy;
    }

  private:
    static const ZramScriptValue& value_of(const ZramScriptDevice& device, std::string_view property) {
        if (property == "size") return device.size;
        if (property == "algorithm") return device.algorithm;
        if (property == "priority") return device.priority;
        if (property == "resident-limit") return device.resident_limit;
        return property == "discard" ? device.discard : device.use;
    }

    std::string where(const ZramScriptValue& value) const {
        return value.line == 0 ? path_ : path_ + ":" + std::to_string(value.line);
    }

    std::string why_not(const ZramWish& wish) const {
        if (!devices_.contains(wish.device)) {
            return is_tools_ ? "zram-tools sets up zram0 alone"
                             : path_ + " has no such device: give it its type, size and a higher num_devices there";
        }
        const auto& property = wish.property;
        const bool has_it = property == "size" || property == "algorithm" || property == "priority" ||
                            (!is_tools_ && (property == "resident-limit" || property == "discard"));
        if (!has_it) return name_ + " has no setting for it";
        if (property == "algorithm" && !is_plain(wish.text)) return "no name of an algorithm";
        if (property == "discard" && wish.text != "on" && wish.text != "off") {
            return name_ + " has both kinds of discard or none";
        }
        if (!is_tools_ && property == "priority" && devices_.at(wish.device).use.word != "swap") {
            return "this device is no swap area";
        }
        return {};
    }

    std::vector<std::pair<std::string, std::string>> assignments(const ZramWish& wish) const {
        const auto in_mib = std::to_string((wish.number + mib - 1) / mib);
        const auto percent = parse_percent(wish.text);
        if (is_tools_) {
            if (wish.property == "algorithm") return {{"ALGO", wish.text}};
            if (wish.property == "priority") return {{"PRIORITY", std::to_string(wish.number)}};
            if (percent) return {{"PERCENT", std::to_string(*percent)}};
            // PERCENT wins while it is not empty.
            std::vector<std::pair<std::string, std::string>> both{{"SIZE", in_mib}};
            if (devices_.at("zram0").size.variable == "PERCENT") both.emplace_back("PERCENT", "");
            return both;
        }
        const auto number = wish.device.substr(4);
        if (wish.property == "size") return {{"size" + number, in_mib}};
        if (wish.property == "algorithm") return {{"algo" + number, wish.text}};
        if (wish.property == "resident-limit") return {{"mlim" + number, in_mib}};
        if (wish.property == "discard") return {{"notr" + number, wish.text == "on" ? "" : "yes"}};
        return {{"flag" + number, wish.number < 0 ? "-" : std::to_string(wish.number)}};
    }

    // In place where the last assignment of the variable is a line that holds nothing before it; else a new line at the
    // end, which then is the last.
    std::variant<OwnLines, FieldWords, NewLine> edit_for(const std::string& variable, const std::string& value) const {
        const auto assignment = variable + "=" + value;
        int line = 0;
        int last = 0;
        std::string word;
        for (const auto text : split_lines(bytes_)) {
            ++line;
            if (text.find(variable + "=") == std::string_view::npos) continue;
            if (text.starts_with('#')) continue;
            last = line;
            const auto words = split_words(text);
            const bool is_alone = !words.empty() && words[0].starts_with(variable + "=") &&
                                  (words.size() == 1 || words[1].starts_with('#')) &&
                                  words[0].find_first_of(",;&|\\`$") == std::string_view::npos;
            word = is_alone ? std::string(words[0]) : std::string();
        }
        if (last != 0 && !word.empty()) return FieldWords{last, 1, {word}, {assignment}};
        return NewLine{assignment};
    }

    bool is_tools_;
    bool memory_known_ = false;
    std::string path_;
    std::string name_;
    std::string bytes_;
    std::string digest_;
    std::string unreadable_;
    std::map<std::string, ZramScriptDevice> devices_;
};

}  // namespace

std::unique_ptr<ZramPlane> make_zram_script_plane(Host& host, ZramOwnerKind kind) {
    return std::make_unique<ScriptPlane>(host, kind);
}

}  // namespace storpol
