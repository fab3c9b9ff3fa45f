// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/grub_cfg.h"

#include <algorithm>
#include <optional>

#include "engine/base/text.h"

namespace storpol {
namespace {

// Nobody nests menus deeper; a made-up file must not use up the program's stack.
constexpr std::size_t deepest = 16;

// The words of one line: blanks separate, quotes of both kinds and backslashes keep together. A brace of its own is a
// word; '#' at the beginning of a word ends the line.
std::vector<std::string> shell_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    const auto finish = [&] {
        if (in_word) words.push_back(std::move(word));
        word.clear();
        in_word = false;
    };
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else if (c == '\\' && quote == '"' && at + 1 < line.size()) {
                word += line[++at];
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            finish();
        } else if (c == '#' && !in_word) {
            break;
        } else if (c == ';') {
            finish();
            words.emplace_back(";");
        } else {
            if (c == '\\' && at + 1 < line.size()) ++at;
            word += line[at];
            in_word = true;
        }
    }
    finish();
    return words;
}

bool is_linux_command(std::string_view word) {
    return word == "linux" || word == "linux16" || word == "linuxefi";
}

bool is_initrd_command(std::string_view word) {
    return word == "initrd" || word == "initrd16" || word == "initrdefi";
}

class MenuReader {
  public:
    GrubConfig read(std::string_view text) {
        int number = 0;
        for (const auto line : split_lines(text)) {
            ++number;
            const auto words = shell_words(line);
            if (!words.empty()) take(words, number);
        }
        while (!open_.empty()) close();
        return std::move(config_);
    }

  private:
    struct Open {
        GrubMenuItem item;
        int braces = 1;  // that are open within it
    };

    void take(const std::vector<std::string>& words, int number) {
        const auto& first = words.front();
        if ((first == "menuentry" || first == "submenu") && words.size() > 1 && open_.size() < deepest) {
            return begin(words, number, first == "submenu");
        }
        if (first == "blscfg") config_.reads_bls = true;
        if (first == "set" && words.size() > 1) take_default(words[1]);
        if (!open_.empty() && !open_.back().item.is_submenu) take_command(words, number);
        for (const auto& word : words) {
            if (word == "{" && !open_.empty()) ++open_.back().braces;
            if (word == "}" && !open_.empty() && --open_.back().braces == 0) close();
        }
    }

    // menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1b2c' {
    void begin(const std::vector<std::string>& words, int number, bool is_submenu) {
        Open open;
        open.item.is_submenu = is_submenu;
        open.item.title = words[1];
        for (std::size_t at = 2; at < words.size(); ++at) {
            const auto& word = words[at];
            if ((word == "$menuentry_id_option" || word == "--id") && at + 1 < words.size())
                open.item.id = words[++at];
            else if (word.starts_with("--id="))
                open.item.id = word.substr(5);
        }
        open.item.entry.line = number;
        open.item.entry.title = open.item.title;
        open.item.entry.id = open.item.id;
        const bool closes = words.back() == "}";
        open_.push_back(std::move(open));
        if (closes) close();
    }

    void close() {
        auto item = std::move(open_.back().item);
        open_.pop_back();
        (open_.empty() ? config_.menu : open_.back().item.children).push_back(std::move(item));
    }

    // set default="0", set default="${saved_entry}"
    void take_default(std::string_view word) {
        if (!word.starts_with("default=")) return;
        word.remove_prefix(8);
        if (word.find('$') == std::string_view::npos) {
            config_.default_entry = word;
        } else if (word.find("saved_entry") != std::string_view::npos) {
            config_.uses_saved_entry = true;
        }
    }

    void take_command(const std::vector<std::string>& words, int number) {
        auto& entry = open_.back().item.entry;
        if (is_linux_command(words.front()) && words.size() > 1) {
            entry.linux_line = number;
            entry.kernel = words[1];
            entry.arguments = join(std::span(words).subspan(2), " ");
        } else if (is_initrd_command(words.front())) {
            entry.initrds.insert(entry.initrds.end(), words.begin() + 1, words.end());
        }
    }

    GrubConfig config_;
    std::vector<Open> open_;
};

const GrubMenuItem* find_item(const std::vector<GrubMenuItem>& menu, std::string_view which) {
    if (const auto number = parse_int(which)) {
        if (*number >= 0 && static_cast<std::size_t>(*number) < menu.size()) {
            return &menu[static_cast<std::size_t>(*number)];
        }
    }
    const auto at =
        std::ranges::find_if(menu, [&](const GrubMenuItem& item) { return item.id == which || item.title == which; });
    return at == menu.end() ? nullptr : &*at;
}

}  // namespace

GrubConfig parse_grub_cfg(std::string_view text) {
    return MenuReader().read(text);
}

const GrubEntry* find_grub_entry(const GrubConfig& config, std::string_view which) {
    const auto* menu = &config.menu;
    // A title may hold a '>' of its own.
    if (const auto* item = find_item(*menu, which)) {
        if (!item->is_submenu) return &item->entry;
    }
    const GrubMenuItem* item = nullptr;
    for (const auto part : split(which, '>')) {
        if (menu == nullptr) return nullptr;
        item = find_item(*menu, part);
        if (item == nullptr) return nullptr;
        menu = item->is_submenu ? &item->children : nullptr;
    }
    // A submenu alone: GRUB opens it and takes its first entry.
    while (item != nullptr && item->is_submenu) item = item->children.empty() ? nullptr : &item->children.front();
    return item == nullptr ? nullptr : &item->entry;
}

std::map<std::string, std::string> parse_grub_environment(std::string_view text) {
    std::map<std::string, std::string> values;
    for (const auto line : split_lines(text)) {
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos) continue;
        std::string value;
        const auto raw = line.substr(equals + 1);
        for (std::size_t at = 0; at < raw.size(); ++at) {
            if (raw[at] == '\\' && at + 1 < raw.size()) ++at;
            value += raw[at];
        }
        values[std::string(line.substr(0, equals))] = std::move(value);
    }
    return values;
}

}  // namespace storpol
