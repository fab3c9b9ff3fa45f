// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/modprobe_d.h"

#include <algorithm>

#include "engine/base/text.h"

namespace storpol {
namespace {

void add_options(std::string_view command, int line, std::vector<ModuleOption>& options) {
    const auto words = split_words(command);
    if (words.size() < 3 || words[0] != "options") return;
    for (std::size_t at = 2; at < words.size(); ++at) {
        const auto equals = words[at].find('=');
        ModuleOption option;
        option.module = module_name(words[1]);
        option.name = module_name(words[at].substr(0, equals));
        // A flag without a value switches a bool on (kernel param_set_bool).
        option.value = equals == std::string_view::npos ? "Y" : std::string(words[at].substr(equals + 1));
        option.line = line;
        options.push_back(std::move(option));
    }
}

}  // namespace

std::string module_name(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '-', '_');
    return text;
}

std::vector<ModuleOption> parse_module_options(std::string_view text) {
    std::vector<ModuleOption> options;
    std::string command;
    int number = 0;
    int begin = 0;
    for (auto line : split_lines(text)) {
        ++number;
        if (command.empty()) begin = number;
        const bool goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        command += std::string(line) + " ";
        if (goes_on) continue;
        if (!trim(command).starts_with('#')) add_options(command, begin, options);
        command.clear();
    }
    if (!trim(command).starts_with('#')) add_options(command, begin, options);
    return options;
}

}  // namespace storpol
