// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/option_reference.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/text.h"
#include "resources/mount/options.h"

namespace storpol {
namespace {

// A cell of a Markdown table: what would end it is escaped.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out.empty() ? "-" : out;
}

std::string value_form(const OptionSpec& option) {
    switch (option.form) {
        case ValueForm::flag:
            return std::string(option.word);
        case ValueForm::number:
            return std::string(option.word) + "=N";
        case ValueForm::truth:
            return std::string(option.word) + "=0/1";
        case ValueForm::size:
            return std::string(option.word) + "=SIZE";
        case ValueForm::octal:
            return std::string(option.word) + "=OCTAL";
        case ValueForm::choice: {
            std::string choices(option.choices);
            std::ranges::replace(choices, '|', '/');
            return std::string(option.word) + "=" + choices;
        }
        case ValueForm::special:
        case ValueForm::text:
            return std::string(option.word) + "=...";
    }
    return {};
}

std::string kernels(const OptionSpec& option) {
    const auto name = [](KernelVersion version) {
        return std::to_string(version.major) + "." + std::to_string(version.minor);
    };
    std::string text;
    if (option.since != KernelVersion{}) text += " (since " + name(option.since) + ")";
    if (option.removed != KernelVersion{}) text += " (until " + name(option.removed) + ")";
    return text;
}

std::string words_of(const std::vector<const OptionSpec*>& options, std::string_view property) {
    std::vector<std::string> words;
    for (const auto* option : options) {
        if (option->kind == OptionClass::setting && option->property == property)
            words.push_back("`" + value_form(*option) + "`" + kernels(*option));
    }
    return join(words, ", ");
}

std::string default_of_property(const PropertySpec& property) {
    switch (property.from) {
        case DefaultFrom::constant:
            return std::string(property.default_value) +
                   (property.unit.empty() ? "" : " " + std::string(property.unit));
        case DefaultFrom::kernel:
            return "by kernel";
        case DefaultFrom::superblock:
            return "by superblock" +
                   (property.default_value.empty() ? "" : ", else " + std::string(property.default_value));
        case DefaultFrom::device:
            return "by device";
    }
    return {};
}

std::string remount_of(const PropertySpec& property) {
    switch (property.remount) {
        case AtRemount::yes:
            return "yes";
        case AtRemount::only_on:
            return "on only; off at the next mount";
        case AtRemount::refused:
            return "refused: next mount";
        case AtRemount::ignored:
            return "ignored: next mount";
    }
    return {};
}

// `skip` are properties that another chapter has.
std::string table_of(std::string_view fstype, const std::vector<const PropertySpec*>& skip) {
    std::string text = "| setting | words | default | by remount | note |\n| --- | --- | --- | --- | --- |\n";
    const auto options = options_of(fstype);
    for (const auto* property : properties_of(fstype)) {
        if (std::ranges::find(skip, property) != skip.end()) continue;
        text += "| `." + std::string(property->name) + "` | " + cell(words_of(options, property->name)) + " | " +
                cell(default_of_property(*property)) + " | " + remount_of(*property) + " | " + cell(property->note) +
                " |\n";
    }
    return text;
}

}  // namespace

std::string render_option_reference() {
    std::string text =
        "## Mount options\n\n"
        "What `[[mount]] options` and `forbid` know. Words that exclude each other are one setting, and order, "
        "repetition and spelling "
        "never count as a difference. Options that are not in these tables are reported as unknown and left alone. "
        "Words that never "
        "reach the kernel (`nofail`, `noauto`, `x-...`, `_netdev`, `user`) are compared with fstab or the unit "
        "alone.\n\n"
        "### Every filesystem\n\n";
    const auto common = properties_of("");
    text += table_of("", {});
    static constexpr std::array filesystems{"ext4", "xfs", "btrfs", "f2fs", "vfat"};
    for (const std::string_view fstype : filesystems) {
        text += "\n### " + std::string(fstype) + "\n\n" + table_of(fstype, common);
    }
    return text;
}

}  // namespace storpol
