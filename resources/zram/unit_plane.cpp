// SPDX-License-Identifier: GPL-3.0-or-later
// Where nothing else sets up zram: /etc/systemd/system/storpol-zram0.service, and its link in swap.target.wants. No
// shell is in it; each value is a variable of the unit's environment, and what is not set drops out of the command
// (systemd.service(5), "Command lines": $FOO becomes no word at all).
#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/text/unit_file.h"
#include "resources/zram/generator_files.h"
#include "resources/zram/plane.h"

namespace storpol {
namespace {

// One device: zram0 is made with the module, another one would have to be added by reading a file.
constexpr std::string_view own_device = "zram0";
constexpr std::string_view unit_name = "storpol-zram0.service";
constexpr std::string_view unit_path = "/etc/systemd/system/storpol-zram0.service";
constexpr std::string_view link_path = "/etc/systemd/system/swap.target.wants/storpol-zram0.service";
constexpr std::string_view install_hint =
    "install zram-generator 1.2.0 or newer (Debian 13: systemd-zram-generator), which does";

struct Variable {
    std::string_view property;
    std::string_view name;    // of the environment
    std::string_view prefix;  // of its value
};

constexpr Variable variables[]{{"size", "ZRAM_SIZE", ""},
                               {"algorithm", "ZRAM_ALGORITHM", "--algorithm="},
                               {"priority", "ZRAM_PRIORITY", "--priority="},
                               {"discard", "ZRAM_DISCARD", "--discard"}};

const Variable* variable_of(std::string_view property) {
    for (const auto& variable : variables) {
        if (variable.property == property) return &variable;
    }
    return nullptr;
}

class UnitPlane final : public ZramPlane {
  public:
    explicit UnitPlane(Host& host) {
        const auto text = host.read_file(unit_path);
        if (!text && text.error().kind != ErrorKind::no_such_file) unreadable_ = text.error().what;
        digest_ = text ? digest_of(*text) : std::string(no_file_digest);
        if (text) unit_ = parse_unit_file(*text);
        is_there_ = text.has_value();
        const auto link = host.read_link(link_path);
        link_ = link ? *link : std::string(no_file_digest);
        if (!link && link.error().kind != ErrorKind::no_such_file) unreadable_ = link.error().what;
    }

    Reading read(const std::string& device, std::string_view property) const override {
        if (!unreadable_.empty()) return zram_unknown(unreadable_);
        const bool is_enabled = is_there_ && link_ != no_file_digest;
        if (device != own_device || !is_enabled) return zram_unset({}, "");
        if (property == "level") return zram_unset({}, "the algorithm's default");
        if (property == "resident-limit") return zram_unset(Value{std::int64_t{0}}, "no limit", std::string(unit_path));
        if (property == "fs-type") return zram_unset(Value{std::string("swap")}, "", std::string(unit_path));
        const auto* variable = variable_of(property);
        const auto* line = variable == nullptr ? nullptr : find(*variable);
        if (line == nullptr) {
            std::optional<Value> by_default;
            if (property == "priority") by_default = Value{std::int64_t{-1}};
            if (property == "discard") by_default = Value{std::string("off")};
            return zram_unset(by_default, "swapon's default", std::string(unit_path));
        }
        const auto where = std::string(unit_path) + ":" + std::to_string(line->line);
        std::string text = line->value.substr(variable->name.size() + 1);
        if (!text.starts_with(variable->prefix)) return zram_unknown("no value that storpol wrote", where);
        text.erase(0, variable->prefix.size());
        if (property == "algorithm") return zram_found(Value{text}, "", where);
        if (property == "discard") return zram_found(Value{text.empty() ? "on" : text.substr(1)}, "", where);
        const auto number = parse_int(text);
        return number ? zram_found(Value{*number}, "", where) : zram_unknown("no number that storpol wrote", where);
    }

    std::vector<std::string> devices() const override {
        return is_there_ ? std::vector<std::string>{std::string(own_device)} : std::vector<std::string>{};
    }

    void find(std::span<const std::string> devices, std::vector<Finding>& findings) const override {
        if (devices.empty() || is_there_) return;
        auto finding = zram_finding("zram-own-unit",
                                    "nothing on this host sets up zram, so storpol writes a unit of its own, which has "
                                    "neither levels nor limits: " +
                                        std::string(install_hint),
                                    std::string(unit_path));
        finding.severity = Severity::info;
        findings.push_back(std::move(finding));
    }

    Remedy remedy(std::span<const ZramWish> wishes) const override {
        Remedy remedy;
        const bool has_size = is_there_ || std::ranges::any_of(wishes, [](const ZramWish& wish) {
                                  return wish.device == own_device && wish.property == "size";
                              });
        for (const auto& wish : wishes) {
            const auto why = why_not(wish, has_size);
            if (!why.empty()) {
                remedy.gaps.push_back(zram_gap(wish, why));
                continue;
            }
            if (wish.property == "discard" && wish.text == "off") {
                add(remedy, wish, "[Service]", {});
                continue;
            }
            const auto line = "Environment=" + std::string(variable_of(wish.property)->name) + "=" + value_of(wish);
            if (!is_there_ && wish.property == "size") {
                add(remedy, wish, "[Unit]", unit_lines());
                add(remedy, wish, "[Service]", service_lines(line));
            } else {
                add(remedy, wish, "[Service]", wish.property == "size" ? service_lines(line) : std::vector{line});
            }
        }
        if (link_ == no_file_digest && !remedy.actions.empty()) enable(remedy);
        return remedy;
    }

  private:
    const UnitAssignment* find(const Variable& variable) const {
        const UnitAssignment* found = nullptr;
        for (const auto& line : unit_.assignments) {
            if (line.key == "Environment" && line.value.starts_with(std::string(variable.name) + "=")) found = &line;
        }
        return found;
    }

    static std::string why_not(const ZramWish& wish, bool has_size) {
        if (wish.device != own_device) {
            return "storpol's own unit sets up zram0 alone; " + std::string(install_hint) + " others";
        }
        if (variable_of(wish.property) == nullptr) {
            return "nothing on this host sets it: storpol's own unit has no " + wish.property + "; " +
                   std::string(install_hint);
        }
        constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyz0123456789-_";
        if (wish.property == "algorithm" && wish.text.find_first_not_of(plain) != std::string::npos) {
            return "no name of an algorithm";
        }
        return has_size ? "" : "nothing sets up zram on this host; name a size, and storpol will";
    }

    static std::string value_of(const ZramWish& wish) {
        const std::string prefix(variable_of(wish.property)->prefix);
        if (wish.property == "algorithm") return prefix + wish.text;
        if (wish.property != "discard") return prefix + std::to_string(wish.number);
        return wish.text == "on" ? prefix : prefix + "=" + wish.text;
    }

    static std::vector<std::string> unit_lines() {
        return {"Description=Compressed swap on /dev/zram0", "DefaultDependencies=no",
                "After=systemd-modules-load.service",        "Conflicts=umount.target",
                "Before=swap.target umount.target",          "ConditionVirtualization=!container"};
    }

    // zramctl resets the device before it sets its size. It does not stand behind swapoff: `zramctl --reset` removes
    // the device itself, and modprobe would not bring it back.
    static std::vector<std::string> service_lines(const std::string& size) {
        return {"Type=oneshot",
                "RemainAfterExit=yes",
                size,
                "ExecStart=-/sbin/modprobe zram",
                "ExecStart=/sbin/zramctl $ZRAM_ALGORITHM --size ${ZRAM_SIZE} /dev/zram0",
                "ExecStart=/sbin/mkswap /dev/zram0",
                "ExecStart=/sbin/swapon $ZRAM_PRIORITY $ZRAM_DISCARD /dev/zram0",
                "ExecStop=/sbin/swapoff /dev/zram0"};
    }

    void add(Remedy& remedy, const ZramWish& wish, std::string section, std::vector<std::string> lines) const {
        Action action;
        action.verb = Verb::drop_in;
        action.target = unit_path;
        action.when = When::next_boot;
        action.serves = {wish.of};
        action.says = "have a unit of storpol's own set up zram0, as nothing else on this host does";
        action.step = EditFile{action.target, digest_, OwnLines{wish.of.address, std::move(section), std::move(lines)}};
        remedy.actions.push_back(std::move(action));
    }

    void enable(Remedy& remedy) const {
        Action action;
        action.verb = Verb::enable_unit;
        action.target = unit_name;
        action.when = When::next_boot;
        for (const auto& other : remedy.actions) {
            for (const auto& served : other.serves) {
                if (std::ranges::find(action.serves, served) == action.serves.end()) action.serves.push_back(served);
            }
        }
        action.says = "have swap.target want " + std::string(unit_name);
        action.step = SetLink{std::string(link_path), std::string(no_file_digest), std::string(unit_path)};
        remedy.actions.push_back(std::move(action));
    }

    UnitFile unit_;
    bool is_there_ = false;
    std::string digest_;
    std::string link_;
    std::string unreadable_;
};

}  // namespace

std::unique_ptr<ZramPlane> make_zram_unit_plane(Host& host) {
    return std::make_unique<UnitPlane>(host);
}

std::vector<std::string> zram_own_files(Host&) {
    return {std::string(zram_drop_in), std::string(unit_path)};
}

}  // namespace storpol
