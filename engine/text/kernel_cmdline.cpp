// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/kernel_cmdline.h"

#include <algorithm>

namespace storpol {
namespace {

// isspace() of the kernel, without its non-breaking space (0xA0): a byte of UTF-8 text would be cut in two by it, and
// the boot tools that build the line do not cut there.
constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string unquoted_value(std::string_view value) {
    if (value.empty() || value.front() != '"') return std::string(value);
    value.remove_prefix(1);
    if (!value.empty() && value.back() == '"') value.remove_suffix(1);
    return std::string(value);
}

// BOOT_IMAGE=/vmlinuz root=UUID=9c1f rootflags="subvol=@,commit=300" "dyndbg=file a.c +p" quiet
KernelArgument parse_word(std::string_view text, std::size_t begin, std::size_t end) {
    std::string_view word = text.substr(begin, end - begin);
    if (word.front() == '"') {  // the whole word is quoted
        word.remove_prefix(1);
        if (!word.empty() && word.back() == '"') word.remove_suffix(1);
    }
    const std::size_t equals = word.find('=');
    KernelArgument argument;
    argument.begin = begin;
    argument.end = end;
    // A word that starts with '=' has no name; the kernel takes it whole.
    if (equals == std::string_view::npos || equals == 0) {
        argument.name = word;
    } else {
        argument.name = word.substr(0, equals);
        argument.value = unquoted_value(word.substr(equals + 1));
    }
    return argument;
}

}  // namespace

KernelCommandLine KernelCommandLine::parse(std::string_view text) {
    KernelCommandLine line;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && is_space(text[at])) ++at;
        if (at == text.size()) return line;
        const std::size_t begin = at;
        bool quoted = false;
        for (; at < text.size() && (quoted || !is_space(text[at])); ++at) {
            if (text[at] == '"') quoted = !quoted;
        }
        line.arguments_.push_back(parse_word(text, begin, at));
    }
}

bool same_argument(std::string_view a, std::string_view b) {
    const auto same = [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

const KernelArgument* KernelCommandLine::last(std::string_view name) const {
    for (auto it = arguments_.rbegin(); it != arguments_.rend(); ++it) {
        if (same_argument(it->name, name)) return &*it;
    }
    return nullptr;
}

std::vector<std::string> KernelCommandLine::values(std::string_view name) const {
    std::vector<std::string> found;
    for (const KernelArgument& argument : arguments_) {
        if (argument.value && same_argument(argument.name, name)) found.push_back(*argument.value);
    }
    return found;
}

namespace {

std::optional<std::string> last_value(const KernelCommandLine& line, std::string_view name) {
    const KernelArgument* const argument = line.last(name);
    return argument == nullptr ? std::nullopt : argument->value;
}

}  // namespace

std::optional<std::string> KernelCommandLine::root() const {
    return last_value(*this, "root");
}

std::optional<std::string> KernelCommandLine::rootflags() const {
    return last_value(*this, "rootflags");
}

std::optional<std::string> KernelCommandLine::rootfstype() const {
    return last_value(*this, "rootfstype");
}

std::optional<bool> KernelCommandLine::read_only() const {
    std::optional<bool> found;
    for (const KernelArgument& argument : arguments_) {
        if (argument.value) continue;
        if (argument.name == "ro") found = true;
        if (argument.name == "rw") found = false;
    }
    return found;
}

std::optional<std::string> render_argument(std::string_view name, const std::optional<std::string>& value) {
    std::string word(name);
    if (!value) return word;
    if (value->find('"') != std::string::npos) return std::nullopt;
    const bool quote = std::any_of(value->begin(), value->end(), is_space);
    word += quote ? "=\"" : "=";
    word += *value;
    if (quote) word += '"';
    return word;
}

}  // namespace storpol
