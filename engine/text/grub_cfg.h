// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// grub.cfg as grub-mkconfig writes it, and GRUB's environment block. Not GRUB's language: its menu entries, and what
// says which of them is the default. Pure; linear; any text is survived.
namespace storpol {

struct GrubEntry {
    int line = 0;  // of the menuentry, from 1
    std::string title;
    std::string id;         // --id or $menuentry_id_option; may be empty
    int linux_line = 0;     // 0: it starts something else than Linux
    std::string kernel;     // as written: "/vmlinuz-6.1.0-18-amd64"
    std::string arguments;  // what follows the kernel on its line, quotes undone
    std::vector<std::string> initrds;
    bool operator==(const GrubEntry&) const = default;
};

// The menu as it is shown: entries, and submenus with theirs.
struct GrubMenuItem {
    bool is_submenu = false;
    std::string title;
    std::string id;
    GrubEntry entry;                     // of an entry
    std::vector<GrubMenuItem> children;  // of a submenu
};

struct GrubConfig {
    std::vector<GrubMenuItem> menu;
    std::string default_entry = "0";  // the last literal `set default=`
    bool uses_saved_entry = false;    // `set default="${saved_entry}"` stands there
    bool reads_bls = false;           // `blscfg`: the entries are files of the boot loader specification
};

GrubConfig parse_grub_cfg(std::string_view text);

// By number, title or id, with '>' between the levels of a submenu: "1>0", "gnulinux-advanced-x>gnulinux-y". None where
// there is no such item; GRUB then takes the first.
const GrubEntry* find_grub_entry(const GrubConfig& config, std::string_view which);

// The block of 1024 bytes that grub-editenv writes: "name=value" lines behind a head line, '#' up to the end.
std::map<std::string, std::string> parse_grub_environment(std::string_view text);

}  // namespace storpol
