// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::string_view fstab = "/etc/fstab";
constexpr std::string_view mountinfo = "/proc/self/mountinfo";

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// util-linux strtosize: "1M" and "1MiB" are 2^20, "1MB" is 10^6.
std::optional<Bytes> parse_floor(std::string_view text) {
    std::size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
    const auto number = parse_int(text.substr(0, digits));
    const auto unit = text.substr(digits);
    if (!number || *number < 0) return std::nullopt;
    if (unit.empty()) return number;
    const auto power =
        std::string_view("KMGT").find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    const auto rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "iB" && rest != "B")) return std::nullopt;
    Bytes bytes = *number;
    for (std::size_t step = 0; step <= power; ++step) {
        const Bytes base = rest == "B" ? 1000 : 1024;
        if (bytes > std::numeric_limits<Bytes>::max() / base) return std::nullopt;
        bytes *= base;
    }
    return bytes;
}

// What an option means, and whether it takes a value.
struct Option {
    char letter;
    std::string_view word;
    bool has_value;
};

constexpr std::array<Option, 12> options{{{'a', "all", false},
                                          {'A', "fstab", false},
                                          {'I', "listed-in", true},
                                          {'l', "length", true},
                                          {'m', "minimum", true},
                                          {'n', "dry-run", false},
                                          {'o', "offset", true},
                                          {'t', "types", true},
                                          {'v', "verbose", false},
                                          {'q', "quiet", false},
                                          {'\1', "quiet-unsupported", false},
                                          {'\2', "listed", true}}};

const Option* by_word(std::string_view word) {
    const auto at = std::ranges::find(options, word, &Option::word);
    return at == options.end() ? nullptr : &*at;
}

const Option* by_letter(char letter) {
    const auto at = std::ranges::find(options, letter, &Option::letter);
    return at == options.end() ? nullptr : &*at;
}

void take(TrimCommand& command, const Option& option, std::string_view value) {
    const auto add = [](std::vector<std::string>& to, std::string_view text, char separator) {
        for (const auto part : split(text, separator)) to.emplace_back(part);
    };
    switch (option.letter) {
        case 'a':
            command.lists = {std::string(mountinfo)};
            break;
        case 'A':
            command.lists = {std::string(fstab)};
            break;
        case 'I':
            command.lists.clear();
            add(command.lists, value, ':');
            break;
        case 'm':
            command.minimum = parse_floor(value);
            break;
        case 'n':
            command.is_dry = true;
            break;
        case 't':
            add(command.types, value, ',');
            break;
        case 'q':
            command.is_old = true;  // renamed in util-linux 2.36
            break;
        default:
            break;
    }
}

// getopt_long's ways: --word value, --word=value, -m value, -m1M, -av.
void parse_options(TrimCommand& command, const std::vector<std::string>& words) {
    for (std::size_t at = 1; at < words.size(); ++at) {
        const std::string_view word = words[at];
        const auto value_behind = [&]() {
            return at + 1 < words.size() ? std::string_view(words[++at]) : std::string_view();
        };
        if (word.starts_with("--")) {
            const auto equals = word.find('=');
            const auto* option = by_word(word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
            if (option == nullptr) continue;
            const auto value = !option->has_value                 ? std::string_view()
                               : equals != std::string_view::npos ? word.substr(equals + 1)
                                                                  : value_behind();
            take(command, *option, value);
        } else if (word.starts_with('-') && word.size() > 1) {
            for (std::size_t letter = 1; letter < word.size(); ++letter) {
                const auto* option = by_letter(word[letter]);
                if (option == nullptr) break;
                if (!option->has_value) {
                    take(command, *option, {});
                    continue;
                }
                const auto attached = word.substr(letter + 1);
                take(command, *option, attached.empty() ? value_behind() : attached);
                break;
            }
        } else {
            command.targets.push_back(unescape_exec_word(word));
        }
    }
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (auto word : split_words(text)) {
        if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
            word = word.substr(1, word.size() - 2);
        words.emplace_back(word);
    }
    return words;
}

}  // namespace

std::string escape_exec_word(std::string_view word) {
    static constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '%' || c == '$') {
            out += {c, c};
        } else if (std::isalnum(byte) != 0 || std::string_view("/_.@:+-,=").find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += "\\x";
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        }
    }
    return out;
}

std::string unescape_exec_word(std::string_view word) {
    const auto bytes = unescape_bytes(word);
    const std::string escaped = bytes ? *bytes : std::string(word);
    std::string out;
    for (std::size_t at = 0; at < escaped.size(); ++at) {
        out += escaped[at];
        const bool is_double = at + 1 < escaped.size() && escaped[at + 1] == escaped[at];
        if (is_double && (escaped[at] == '%' || escaped[at] == '$')) ++at;
    }
    return out;
}

TrimCommand parse_trim_command(std::string_view text) {
    TrimCommand command;
    command.text = std::string(text);
    auto words = words_of(text);
    if (words.empty()) return command;
    // man 5 systemd.service: prefixes of the executable.
    const auto prefix = words[0].find_first_not_of("@-:+!|");
    command.path = prefix == std::string::npos ? "" : words[0].substr(prefix);
    const auto name = base_name(command.path);
    if (name == "storpol" && words.size() >= 2 && words[1] == "trim") command.program = TrimCommand::Program::storpol;
    if (name != "fstrim") return command;
    command.program = TrimCommand::Program::fstrim;
    parse_options(command, words);
    return command;
}

std::string with_minimum(const TrimCommand& command, std::optional<Bytes> minimum) {
    std::string text;
    const auto words = split_words(command.text);
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (words[at] == "-m" || words[at] == "--minimum") {
            ++at;  // with its value
            continue;
        }
        if (words[at].starts_with("--minimum=")) continue;
        if (at > 0 && words[at].starts_with("-m") && words[at].size() > 2 && words[at][2] != '-') continue;
        text += (text.empty() ? "" : " ") + std::string(words[at]);
        if (at == 0 && minimum && *minimum > 0) text += " --minimum " + std::to_string(*minimum);
    }
    return text;
}

}  // namespace storpol
