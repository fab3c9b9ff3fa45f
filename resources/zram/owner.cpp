// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/owner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/udev_rules.h"
#include "resources/fstrim/init_system.h"
#include "resources/zram/generator_files.h"

namespace storpol {
namespace {

// A service that multi-user.target wants is enabled; a dangling link is one of a package that was removed.
struct Service {
    ZramOwnerKind kind;
    std::string_view unit;
    std::string_view program;  // that tells services of one name apart; empty: the name is enough
    std::string_view name;
};

constexpr std::array services{
    Service{ZramOwnerKind::zram_tools, "zramswap.service", "/usr/sbin/zramswap", "zram-tools"},
    Service{ZramOwnerKind::zram_config, "zram-config.service", "", "zram-config"},
    Service{ZramOwnerKind::pop, "pop-default-settings-zram.service", "", "Pop!_OS's pop-zram-config"},
    Service{ZramOwnerKind::foreign, "armbian-zram-config.service", "", "armbian-zram-config"},
};

constexpr std::array<std::string_view, 2> programs{"/usr/lib/systemd/system-generators/zram-generator",
                                                   "/usr/local/lib/systemd/system-generators/zram-generator"};

class Search {
  public:
    Search(Host& host, const ZramBootLine& boot) : host_(host), boot_(boot) {}

    ZramOwnership run() {
        const auto init = foreign_init(host_);
        found_.is_systemd = init.empty();
        if (exists("/etc/NIXOS")) add(ZramOwnerKind::declarative, "NixOS", "/etc/NIXOS");
        if (init == "Shepherd") add(ZramOwnerKind::declarative, "Guix", "/run/shepherd");
        if (found_.is_systemd) {
            look_for_generator();
            for (const auto& service : services) look_for(service);
            look_for_own_units();
        } else if (init == "OpenRC") {
            look_for_zram_init();
        } else if (init == "runit" && exists("/var/service/zramen")) {
            add(ZramOwnerKind::foreign, "zramen", "/var/service/zramen");
        }
        look_for_rules();
        return std::move(found_);
    }

  private:
    void add(ZramOwnerKind kind, std::string name, std::string where) {
        found_.owners.push_back({kind, std::move(name), std::move(where)});
    }

    bool exists(std::string_view path) {
        const auto stat = host_.stat(path);
        if (!stat && stat.error().kind != ErrorKind::no_such_file) note(stat.error());
        return stat.has_value();
    }

    void note(const Error& error) {
        if (found_.unreadable.empty()) found_.unreadable = error.what;
    }

    // A link to /dev/null of the same name hides a generator and a unit.
    bool is_masked(const std::string& path) {
        const auto link = host_.read_link(path);
        return link && *link == "/dev/null";
    }

    void look_for_generator() {
        found_.generator_installed = has_zram_generator(host_);
        if (!found_.generator_installed) {
            for (const auto program : programs) exists(program);  // notes what cannot be read
        }
        const auto files = read_zram_generator_files(host_);
        if (!files.unreadable.empty() && found_.unreadable.empty()) found_.unreadable = files.unreadable;
        ZramGeneratorInput input;
        input.files = files.in_order();
        input.memory_kib = std::uint64_t{1} << 20U;
        if (found_.generator_installed) input.kernel_command_line = boot_.words;
        const auto config = read_zram_generator(input);
        std::string where;
        for (const auto& [name, device] : config.devices) {
            if (where.empty()) where = device.section ? device.section->path : boot_.source;
        }
        if (where.empty() && config.stop) where = config.stop->place.path;
        if (where.empty()) return;
        if (found_.generator_installed) {
            add(ZramOwnerKind::generator, "zram-generator", where);
        } else {
            found_.stray_configuration = where;
        }
    }

    void look_for(const Service& service) {
        const auto link = "/etc/systemd/system/multi-user.target.wants/" + std::string(service.unit);
        if (!exists(link) || is_masked("/etc/systemd/system/" + std::string(service.unit))) return;
        if (service.program.empty() || exists(service.program)) {
            add(service.kind, std::string(service.name), link);
        } else {
            add(ZramOwnerKind::foreign, std::string(service.unit), link);
        }
    }

    void look_for_own_units() {
        const auto names = host_.list("/etc/systemd/system/swap.target.wants");
        if (!names && names.error().kind != ErrorKind::no_such_file) note(names.error());
        for (const auto& name : names ? *names : std::vector<std::string>{}) {
            if (!name.starts_with("storpol-zram") || !name.ends_with(".service")) continue;
            return add(ZramOwnerKind::own_unit, name, "/etc/systemd/system/" + name);
        }
    }

    void look_for_zram_init() {
        for (const std::string_view level : {"boot", "default", "sysinit"}) {
            const auto link = "/etc/runlevels/" + std::string(level) + "/zram-init";
            if (exists(link)) return add(ZramOwnerKind::zram_init, "zram-init", link);
        }
    }

    // Rules of the machine's owner all, those of packages where their name says what they are for.
    void look_for_rules() {
        static constexpr std::array<std::pair<std::string_view, bool>, 3> folders{
            {{"/etc/udev/rules.d", true}, {"/run/udev/rules.d", true}, {"/usr/lib/udev/rules.d", false}}};
        for (const auto& [folder, all] : folders) {
            const auto names = host_.list(folder);
            if (!names && names.error().kind != ErrorKind::no_such_file) note(names.error());
            for (const auto& name : names ? *names : std::vector<std::string>{}) {
                if (!name.ends_with(".rules") || !(all || name.find("zram") != std::string::npos)) continue;
                if (look_into(std::string(folder) + "/" + name)) return;
            }
        }
    }

    bool look_into(const std::string& path) {
        const auto text = host_.read_file_resolved(path);
        if (!text && text.error().kind != ErrorKind::no_such_file) note(text.error());
        if (!text || text->bytes.find("disksize") == std::string::npos) return false;
        for (const auto& rule : parse_udev_rules(text->bytes).rules) {
            bool sets_size = false;
            bool is_zram = false;
            for (const auto& token : rule.tokens) {
                sets_size = sets_size || (token.key == "ATTR" && token.attribute == "disksize" && !token.is_match());
                is_zram = is_zram || (token.key == "KERNEL" && token.op == "==" && token.value.starts_with("zram"));
            }
            if (!sets_size || !is_zram) continue;
            const auto where = text->path + ":" + std::to_string(rule.line);
            add(ZramOwnerKind::udev_rule, "a udev rule", where);
            return true;
        }
        return false;
    }

    Host& host_;
    const ZramBootLine& boot_;
    ZramOwnership found_;
};

}  // namespace

std::optional<ZramOwnerKind> ZramOwnership::kind() const {
    if (!unreadable.empty() || owners.size() > 1) return std::nullopt;
    if (owners.size() == 1) return owners.front().kind;
    if (generator_installed) return ZramOwnerKind::generator;
    return is_systemd ? std::optional(ZramOwnerKind::own_unit) : std::nullopt;
}

std::string ZramOwnership::conflict() const {
    if (owners.size() < 2) return {};
    std::string text;
    for (std::size_t at = 0; at < owners.size(); ++at) {
        if (at > 0) text += at + 1 == owners.size() ? " and " : ", ";
        text += owners[at].name + " (" + owners[at].where + ")";
    }
    return text;
}

ZramOwnership read_zram_ownership(Host& host, const ZramBootLine& boot) {
    return Search(host, boot).run();
}

ZramBootLine running_boot_line(Host& host) {
    const auto text = host.read_file("/proc/cmdline");
    return {text ? *text : std::string(), "/proc/cmdline"};
}

bool has_zram_generator(Host& host) {
    const auto mask = host.read_link("/etc/systemd/system-generators/zram-generator");
    if (mask && *mask == "/dev/null") return false;
    return std::ranges::any_of(programs, [&host](std::string_view path) { return host.stat(path).has_value(); });
}

bool is_configured_here(ZramOwnerKind kind) {
    switch (kind) {
        case ZramOwnerKind::generator:
        case ZramOwnerKind::zram_tools:
        case ZramOwnerKind::own_unit:
        case ZramOwnerKind::zram_init:
            return true;
        case ZramOwnerKind::zram_config:
        case ZramOwnerKind::pop:
        case ZramOwnerKind::declarative:
        case ZramOwnerKind::udev_rule:
        case ZramOwnerKind::foreign:
            break;
    }
    return false;
}

std::string zram_setup_unit(ZramOwnerKind kind, std::string_view device) {
    if (kind == ZramOwnerKind::generator) return "systemd-zram-setup@" + std::string(device) + ".service";
    if (kind == ZramOwnerKind::zram_tools) return device == "zram0" ? "zramswap.service" : std::string();
    if (kind == ZramOwnerKind::own_unit) return "storpol-" + std::string(device) + ".service";
    return {};
}

}  // namespace storpol
