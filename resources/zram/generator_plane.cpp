// SPDX-License-Identifier: GPL-3.0-or-later
// zram-generator's files (man 5 zram-generator.conf). Ours: /etc/systemd/zram-generator.conf.d/50-storpol.conf, as a
// main file in /etc would hide the whole one of the distribution.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/text/own_file.h"
#include "engine/text/zram_generator.h"
#include "resources/zram/generator_files.h"
#include "resources/zram/plane.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;

std::string_view key_for(std::string_view property) {
    if (property == "size") return "zram-size";
    if (property == "algorithm" || property == "level") return "compression-algorithm";
    if (property == "priority") return "swap-priority";
    if (property == "resident-limit") return "zram-resident-limit";
    if (property == "discard") return "options";
    return property;  // fs-type, mount-point
}

// Of swapon's options: "discard" alone is both kinds.
std::string discard_in(std::string_view options) {
    std::string found = "off";
    for (const auto option : split(options, ',')) {
        const auto word = trim(option);
        if (word == "discard") found = "on";
        if (word == "discard=once" || word == "discard=pages") found = word.substr(8);
    }
    return found;
}

std::string with_discard(std::string_view options, std::string_view wanted) {
    std::vector<std::string> words;
    if (wanted != "off") words.push_back(wanted == "on" ? "discard" : "discard=" + std::string(wanted));
    for (const auto option : split(options, ',')) {
        const auto word = trim(option);
        if (!word.empty() && word != "discard" && !word.starts_with("discard=")) words.emplace_back(word);
    }
    return join(words, ",");
}

// The algorithms' line with the first one's name and level changed; what else stands there stays.
std::string with_algorithm(std::string_view line, const std::string& name, std::optional<std::int64_t> level) {
    std::vector<std::string> parameters;
    if (level) parameters.push_back("level=" + std::to_string(*level));
    std::string rest;
    bool is_first = true;
    for (const auto word : split_words(line)) {
        const auto open = word.find('(');
        if (open == 0 || !is_first) {
            rest += " " + std::string(word);
            continue;
        }
        is_first = false;
        if (word.substr(0, open) != name || open == std::string_view::npos) continue;
        auto inner = word.substr(open + 1);
        if (inner.ends_with(')')) inner.remove_suffix(1);
        for (const auto parameter : split(inner, ',')) {  // a dictionary, say
            if (!parameter.empty() && !parameter.starts_with("level=")) parameters.emplace_back(parameter);
        }
    }
    return name + (parameters.empty() ? "" : "(" + join(parameters, ",") + ")") + rest;
}

struct Lines {
    std::vector<std::string> lines;
    std::vector<ZramWish> serves;
    std::string says;
};

class GeneratorPlane final : public ZramPlane {
  public:
    GeneratorPlane(Host& host, ZramBootLine boot)
        : files_(read_zram_generator_files(host)), memory_kib_(zram_memory_kib(host)), boot_(std::move(boot)) {
        for (const std::string_view name : {"systemd-zram-generator", "zram-generator"}) {
            const auto version = host.package(name);
            if (!version) continue;
            version_ = *version;
            break;
        }
        const auto own = host.read_file(zram_drop_in);
        digest_ = own ? digest_of(*own) : std::string(no_file_digest);
        if (own) own_ = *own;
        config_ = config_of(files_);
    }

    Reading read(const std::string& device, std::string_view property) const override {
        return read_in(config_, device, property);
    }

    std::vector<std::string> devices() const override {
        std::vector<std::string> names;
        for (const auto& [name, device] : config_.devices) names.push_back(name);
        return names;
    }

    void find(std::span<const std::string> devices, std::vector<Finding>& findings) const override {
        if (config_.kernel_switch == false) {
            findings.push_back(zram_finding("zram-switched-off",
                                            "systemd.zram=0 on the kernel command line switches zram-generator off: no "
                                            "zram device is made at boot, whatever its files say; take the word out",
                                            boot_.source));
        }
        if (config_.stop) {
            findings.push_back(zram_finding(
                "zram-generator-gives-up",
                "zram-generator cannot take this and gives up, so that no zram device at all is made at boot: " +
                    config_.stop->why,
                config_.stop->place.where()));
        } else if (config_.kernel_switch != false) {
            for (const auto& device : devices) {
                const auto made = config_.devices.find(device);
                const auto why = made == config_.devices.end() ? "" : config_.why_not_made(device);
                if (why.empty()) continue;
                findings.push_back(
                    zram_finding("zram-not-made", device + ": " + why, source_of_absence(config_, device)));
            }
        }
        for (const auto& warning : config_.warnings) {
            auto finding = zram_finding("zram-generator-line", warning.why, warning.place.where());
            if (warning.why.find(" MiB; write ") == std::string::npos) finding.severity = Severity::info;
            findings.push_back(std::move(finding));
        }
        for (const auto& [name, device] : config_.devices) {
            if (device.algorithm.find_first_of(" (") == std::string::npos) continue;
            findings.push_back(zram_finding("zram-level-ignored",
                                            "zram-generator " + version_ + " takes the whole of \"" +
                                                printable(device.algorithm) +
                                                "\" for the name of an algorithm (1.2.0 knows levels): the kernel "
                                                "refuses it and keeps its default",
                                            device.find("compression-algorithm")->place.where()));
        }
    }

    Remedy remedy(std::span<const ZramWish> wishes) const override {
        Remedy remedy;
        std::map<std::string, Lines> entries;  // by address
        for (const auto& wish : wishes) add_wish(wish, entries, remedy);
        auto text = OwnFile::parse(own_);
        for (const auto& [address, entry] : entries) {
            const auto set = text.set("[" + entry.serves.front().device + "]", address, entry.lines);
            if (!set) STORPOL_BUG("lines that cannot stand in an own file: " + set.error().what);
        }
        const auto files = files_.with_own(text.render());
        const auto after = config_of(files);
        for (auto& [address, entry] : entries) judge(address, entry, after, remedy);
        return remedy;
    }

  private:
    ZramGeneratorConfig config_of(const ZramGeneratorFiles& files) const {
        ZramGeneratorInput input;
        input.files = files.in_order();
        input.memory_kib = memory_kib_.value_or(std::uint64_t{8} << 20U);  // no size of it is told then
        input.kernel_command_line = boot_.words;
        input.version = version_;
        return read_zram_generator(input);
    }

    // Where it stands that the device is not made.
    std::string source_of_absence(const ZramGeneratorConfig& config, const std::string& name) const {
        if (config.kernel_switch == false) return boot_.source;
        if (config.stop) return config.stop->place.where();
        const auto found = config.devices.find(name);
        if (found == config.devices.end()) return {};
        const auto* limit = found->second.find("host-memory-limit");
        if (found->second.is_over_memory_limit) return limit->place.where();
        if (!found->second.is_swap() && found->second.mount_point.empty())
            return found->second.find("fs-type")->place.where();
        const auto* size = found->second.size_key();
        return size != nullptr ? size->place.where() : std::string();
    }

    Reading read_in(const ZramGeneratorConfig& config, const std::string& name, std::string_view property) const {
        if (!files_.unreadable.empty()) return zram_unknown(files_.unreadable);
        if (!config.why_not_made(name).empty()) return zram_unset({}, "", source_of_absence(config, name));
        const auto& device = config.devices.at(name);
        const auto* key = property == "size" ? device.size_key() : device.find(key_for(property));
        auto reading = value_of(device, property, key != nullptr);
        if (key == nullptr) {
            if (device.section) reading.source = device.section->where();
            return reading;
        }
        reading.source = key->place.where();
        for (const auto& place : key->shadows) reading.shadows.push_back(place.where());
        if (auto* found = std::get_if<Found>(&reading.state)) {
            if (to_text(found->value) != key->value) found->raw = key->value;
        }
        return reading;
    }

    // Of a device that is made; `is_set`: by a line.
    Reading value_of(const ZramGeneratorDevice& device, std::string_view property, bool is_set) const {
        const auto found = [is_set](Value value) {
            return is_set ? zram_found(std::move(value), "", "")
                          : zram_unset(std::move(value), "zram-generator's default", "");
        };
        const auto size = [&found](const ZramSize& bytes) {
            return bytes.bytes ? found(Value{*bytes.bytes}) : zram_unknown(bytes.unknown);
        };
        if ((property == "size" || property == "resident-limit") && !memory_kib_) {
            return zram_unknown("the memory that sizes depend on is not known (MemTotal in /proc/meminfo)");
        }
        if (property == "size") return size(device.size);
        if (property == "resident-limit") return size(device.resident_limit);
        if (property == "priority") return found(Value{std::int64_t{device.priority}});
        if (property == "discard") return found(Value{discard_in(device.options)});
        if (property == "fs-type") return found(Value{device.fs_type});
        if (property == "mount-point") return found(Value{device.mount_point});
        if (!device.algorithm_unknown.empty()) return zram_unknown(device.algorithm_unknown);
        if (property == "level") {
            if (device.level) return zram_found(Value{*device.level}, "", "");
            return zram_unset(zram_default_level(device.algorithm), "the algorithm's default");
        }
        return is_set && !device.algorithm.empty() ? zram_found(Value{device.algorithm}, "", "")
                                                   : zram_unset({}, "kernel default");
    }

    // The device as it is now, for what stays of its lines.
    ZramGeneratorDevice device(const std::string& name) const {
        const auto found = config_.devices.find(name);
        return found == config_.devices.end() ? ZramGeneratorDevice{} : found->second;
    }

    std::string why_not(const ZramWish& wish) const {
        if (wish.property != "level" && wish.property != "resident-limit") return {};
        const auto has = zram_generator_has_levels(version_);
        if (has == true) return {};
        const std::string what = wish.property == "level" ? "levels" : "resident limits";
        if (has == false) return "zram-generator " + version_ + " knows no " + what + "; 1.2.0 and newer do";
        return what + " need zram-generator 1.2.0, and which version is installed cannot be told";
    }

    void add_wish(const ZramWish& wish, std::map<std::string, Lines>& entries, Remedy& remedy) const {
        if (const auto why = why_not(wish); !why.empty()) {
            remedy.gaps.push_back(zram_gap(wish, why));
            return;
        }
        // Algorithm and level are one line.
        const auto property = wish.property == "level" ? "algorithm" : wish.property;
        auto& entry = entries[make_address("zram", wish.device, property)];
        entry.serves.push_back(wish);
        entry.lines = lines_for(entry.serves);
        if (entry.lines.empty()) {
            remedy.gaps.push_back(zram_gap(wish, "no line of zram-generator says that"));
            entries.erase(make_address("zram", wish.device, property));
            return;
        }
        entry.says = "have zram-generator set up " + wish.device + " with " + join(entry.lines, ", ");
    }

    std::vector<std::string> lines_for(const std::vector<ZramWish>& wishes) const {
        const auto& wish = wishes.front();
        const auto now = device(wish.device);
        if (wish.property == "size") return size_lines(wish, now);
        if (wish.property == "resident-limit") return {"zram-resident-limit = " + render_zram_mib(wish.number)};
        if (wish.property == "priority") return {"swap-priority = " + std::to_string(wish.number)};
        if (wish.property == "discard") {
            const auto options = with_discard(now.options, wish.text);
            return {options.empty() ? "options =" : "options = " + options};
        }
        if (wish.property != "algorithm" && wish.property != "level") {
            return {std::string(key_for(wish.property)) + " = " + wish.text};
        }
        std::string name = now.algorithm_unknown.empty() ? now.algorithm : std::string();
        auto level = now.level;
        for (const auto& each : wishes) {
            if (each.property == "algorithm") name = each.text;
            if (each.property == "level") level = each.number;
        }
        if (name.empty()) return {};  // a level of what the kernel chooses
        const auto* key = now.find("compression-algorithm");
        const bool keeps_rest = key != nullptr && zram_generator_has_levels(version_) == true;
        return {"compression-algorithm = " + with_algorithm(keeps_rest ? key->value : "", name, level)};
    }

    static std::vector<std::string> size_lines(const ZramWish& wish, const ZramGeneratorDevice& now) {
        std::vector<std::string> lines;
        if (now.is_over_memory_limit) lines.emplace_back("host-memory-limit = none");
        const auto percent = parse_percent(wish.text);
        const bool is_obsolete = now.find("zram-fraction") != nullptr || now.find("max-zram-size") != nullptr;
        if (!is_obsolete) {
            lines.push_back("zram-size = " + (percent ? render_zram_percent(*percent) : render_zram_mib(wish.number)));
            return lines;
        }
        // Once a file has one of these keys, zram-size means nothing, and no later file can take that back.
        if (percent) {
            const auto hundredths = std::to_string(*percent % 100);
            lines.push_back("zram-fraction = " + std::to_string(*percent / 100) + "." +
                            (hundredths.size() == 1 ? "0" : "") + hundredths);
            lines.emplace_back("max-zram-size = none");
        } else {
            lines.emplace_back("zram-fraction = 1000000");
            lines.push_back("max-zram-size = " + std::to_string((wish.number + mib / 2) / mib));
        }
        return lines;
    }

    void judge(const std::string& address, Lines& entry, const ZramGeneratorConfig& after, Remedy& remedy) const {
        Action action;
        for (const auto& wish : entry.serves) {
            const auto reading = read_in(after, wish.device, wish.property);
            if (fulfils(reading, wish)) {
                action.serves.push_back(wish.of);
            } else {
                remedy.gaps.push_back(zram_gap(wish, why_still_not(wish, reading, after)));
            }
        }
        if (action.serves.empty()) return;
        action.verb = Verb::drop_in;
        action.target = zram_drop_in;
        action.when = When::next_boot;
        action.says = std::move(entry.says);
        action.step = EditFile{action.target, digest_,
                               OwnLines{address, "[" + entry.serves.front().device + "]", std::move(entry.lines)}};
        remedy.actions.push_back(std::move(action));
    }

    std::string why_still_not(const ZramWish& wish, const Reading& reading, const ZramGeneratorConfig& after) const {
        const auto not_made = after.why_not_made(wish.device);
        if (!not_made.empty()) return not_made;
        if (const auto hidden = files_.hides_own(); !hidden.empty()) {
            return hidden + " has the name of our own " + std::string(zram_drop_in) + " and hides it";
        }
        if (const auto* unknown = std::get_if<Unknown>(&reading.state)) return unknown->why;
        if (!reading.source.starts_with(zram_drop_in)) return "overridden by " + reading.source;
        return "zram-generator makes " + to_text(std::get<Found>(reading.state).value) + " of it";
    }

    ZramGeneratorFiles files_;
    std::optional<std::uint64_t> memory_kib_;
    ZramBootLine boot_;
    std::string version_;
    std::string own_;
    std::string digest_;
    ZramGeneratorConfig config_;
};

}  // namespace

std::unique_ptr<ZramPlane> make_zram_generator_plane(Host& host, const ZramBootLine& boot) {
    return std::make_unique<GeneratorPlane>(host, boot);
}

}  // namespace storpol
