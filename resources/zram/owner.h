// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which program sets up zram on this host at boot. Each distribution has its own, and two of them fail on each other.
namespace storpol {

class Host;

enum class ZramOwnerKind {
    generator,    // zram-generator: configured by storpol
    zram_tools,   // zramswap.service, /etc/default/zramswap: configured by storpol
    own_unit,     // storpol-zramN.service, where there is nothing else: configured by storpol
    zram_init,    // OpenRC's zram-init, /etc/conf.d/zram-init: configured by storpol
    zram_config,  // Ubuntu's zram-config: no settings at all, half of the memory
    pop,          // Pop!_OS: pop-zram-config
    declarative,  // NixOS, Guix
    udev_rule,    // ATTR{disksize}= in a rule
    foreign,      // another one that is known by name alone: Armbian's, openSUSE's, zramen
};

struct ZramOwner {
    ZramOwnerKind kind = ZramOwnerKind::generator;
    std::string name;   // for people: "zram-generator"
    std::string where;  // the file that tells: its configuration, link or rule, with :line where there is one
    bool operator==(const ZramOwner&) const = default;
};

struct ZramOwnership {
    std::vector<ZramOwner> owners;     // those that set up a device at boot; none, one, or too many
    bool generator_installed = false;  // its program is there, whether it sets up anything or not
    bool is_systemd = true;
    std::string stray_configuration;  // a file of zram-generator's that nothing reads, as the program is not there
    std::string unreadable;           // why it cannot be told

    // The one that there is or, where there is none, the one that would do it: zram-generator if it is installed, else
    // the own unit. None where there are several, where it cannot be told, and where nothing could.
    std::optional<ZramOwnerKind> kind() const;

    // The one owner there is.
    const ZramOwner* owner() const { return owners.size() == 1 ? &owners.front() : nullptr; }

    // "zram-generator (/etc/systemd/zram-generator.conf) and zram-tools (...)"; empty unless there are several.
    std::string conflict() const;
};

// The kernel command line of the next boot, of which zram-generator takes systemd.zram=.
struct ZramBootLine {
    std::string words;
    std::string source;  // where they are: "/proc/cmdline", the boot loader's entry
};

// That of the running kernel, as the next one most likely has it.
ZramBootLine running_boot_line(Host& host);

// Asks few questions, all about files. The generator counts as setting up zram when its configuration has a section of
// a zram device or the kernel command line asks for one.
ZramOwnership read_zram_ownership(Host& host, const ZramBootLine& boot);

// Whether zram-generator is there and not masked.
bool has_zram_generator(Host& host);

// Whether storpol writes the configuration of that one.
bool is_configured_here(ZramOwnerKind kind);

// The unit that sets up /dev/zramN at run time for that owner: "systemd-zram-setup@zram0.service", "zramswap.service",
// "storpol-zram0.service"; empty where there is none.
std::string zram_setup_unit(ZramOwnerKind kind, std::string_view device);

}  // namespace storpol
