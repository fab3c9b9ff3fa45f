// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/memory_mounts.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <vector>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr const char* mountinfo_path = "/proc/self/mountinfo";

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
    const auto parts = split(text, ',');
    return {parts.begin(), parts.end()};
}

// One line of mountinfo in its parts, with what stands between them kept.
struct Line {
    std::size_t number = 0;
    std::vector<std::string> fields;  // all, split at single blanks
    std::size_t separator = 0;        // the field that is "-"

    const std::string& id() const { return fields[0]; }

    const std::string& device() const { return fields[2]; }

    std::string& flags() { return fields[5]; }

    const std::string& fstype() const { return fields[separator + 1]; }

    std::string& options() { return fields[separator + 3]; }
};

std::vector<std::string> lines_of(const MemoryHost& host) {
    const auto at = host.files().find(mountinfo_path);
    std::vector<std::string> lines;
    if (at == host.files().end()) return lines;
    for (const auto line : split_lines(at->second)) lines.emplace_back(line);
    return lines;
}

std::optional<Line> parse_line(const std::string& text, std::size_t number) {
    Line line;
    line.number = number;
    for (const auto field : split(text, ' ')) line.fields.emplace_back(field);
    const auto dash = std::ranges::find(line.fields, "-");
    line.separator = static_cast<std::size_t>(dash - line.fields.begin());
    if (line.separator < 6 || line.separator + 3 >= line.fields.size()) return std::nullopt;
    return line;
}

// The last one at a target lies on top.
Result<Line> find_line(const MemoryHost& host, const Remount& step) {
    std::optional<Line> found;
    const auto lines = lines_of(host);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (auto line = parse_line(lines[i], i); line && line->fields[4] == step.target) found = std::move(line);
    }
    if (!found) return fail(ErrorKind::no_such_file, "nothing is mounted there", step.target);
    if (found->id() != step.mount_id) return fail(ErrorKind::changed, "another mount lies there", step.target);
    return *found;
}

// "noatime" and its like are one field; of the other flags each has the word that is not shown.
const std::set<std::string> atime_words{"noatime", "relatime", "strictatime"};
const std::set<std::string> shown_flags{"ro", "nosuid", "nodev", "noexec", "nodiratime", "nosymfollow"};

std::string counterpart(const std::string& flag) {
    if (flag == "ro") return "rw";
    if (flag == "rw") return "ro";
    return flag.starts_with("no") ? flag.substr(2) : "no" + flag;
}

bool has(const Words& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

// Puts `word` in the place of the one it is against, else at the end.
void put(Words& words, const std::set<std::string>& against, const std::string& word) {
    const auto old = std::ranges::find_if(words, [&](const std::string& one) { return against.contains(one); });
    if (old == words.end()) {
        words.push_back(word);
    } else {
        *old = word;
    }
}

Result<void> set_flag(Words& flags, const std::string& flag) {
    const auto other = counterpart(flag);
    if (atime_words.contains(flag)) {
        put(flags, atime_words, flag);
    } else if (flag == "ro" || flag == "rw") {
        put(flags, {"ro", "rw"}, flag);
    } else if (shown_flags.contains(flag)) {
        if (!has(flags, flag)) flags.insert(flags.begin() + 1, flag);
    } else if (shown_flags.contains(other)) {
        std::erase(flags, other);
    } else {
        return fail(ErrorKind::invalid, "no flag of a mount: " + flag);
    }
    return {};
}

// fs/ext4/super.c, _ext4_show_options.
const std::set<std::string> on_by_default{"barrier",        "delalloc",   "auto_da_alloc",
                                          "block_validity", "user_xattr", "acl"};
const std::set<std::string> off_by_default{"discard", "lazytime", "journal_checksum", "dioread_nolock", "i_version"};
const std::set<std::string> with_value{"commit", "errors", "data", "stripe", "max_batch_time", "min_batch_time"};

Result<void> set_parameter(Words& options, const std::string& parameter) {
    const auto key = parameter.substr(0, parameter.find('='));
    if (key != parameter) {
        if (!with_value.contains(key)) return fail_errno(EINVAL, "ext4: Unknown parameter", parameter);
        const auto old = std::ranges::find_if(options, [&](const auto& one) { return one.starts_with(key + "="); });
        if (parameter == "commit=5") {
            if (old != options.end()) options.erase(old);
        } else if (old != options.end()) {
            *old = parameter;
        } else {
            options.push_back(parameter);
        }
        return {};
    }
    const bool is_no =
        key.starts_with("no") && (on_by_default.contains(key.substr(2)) || off_by_default.contains(key.substr(2)));
    const auto name = is_no ? key.substr(2) : key;
    if (!on_by_default.contains(name) && !off_by_default.contains(name))
        return fail_errno(EINVAL, "ext4: Unknown parameter", parameter);
    std::erase(options, name);
    std::erase(options, "no" + name);
    if (on_by_default.contains(name) == is_no) options.push_back(key);
    return {};
}

// /proc/fs/ext4/sda1/options lists what is in force, defaults included, a line each.
void change_ext4_file(MemoryHost& host, const Line& line, const Words& parameters) {
    const auto& source = line.fields[line.separator + 2];
    const auto path = "/proc/fs/ext4/" + source.substr(source.rfind('/') + 1) + "/options";
    const auto file = host.files().find(path);
    if (file == host.files().end()) return;
    Words shown;
    for (const auto one : split_lines(file->second)) shown.emplace_back(one);
    for (const auto& parameter : parameters) {
        const auto key = parameter.substr(0, parameter.find('='));
        const auto is_same = [&](const std::string& one) {
            return one.substr(0, one.find('=')) == key || one == counterpart(key);
        };
        const auto old = std::ranges::find_if(shown, is_same);
        if (old == shown.end()) {
            shown.push_back(parameter);
        } else {
            *old = parameter;
        }
    }
    host.put_file(path, join(shown, "\n") + "\n");
}

}  // namespace

Result<std::string> memory_mount_state(const MemoryHost& host, const Remount& step) {
    auto line = find_line(host, step);
    if (!line) return tl::make_unexpected(line.error());
    return line->id() + " " + line->flags() + " " + line->options();
}

Result<Remount> memory_mount_undo(const MemoryHost& host, const Remount& step) {
    auto line = find_line(host, step);
    if (!line) return tl::make_unexpected(line.error());
    Remount undo{step.target, step.mount_id, {}, {}};
    const auto flags = words_of(line->flags());
    for (const auto& flag : step.flags) {
        if (atime_words.contains(flag)) {
            const auto old = std::ranges::find_if(flags, [](const auto& one) { return atime_words.contains(one); });
            undo.flags.push_back(old == flags.end() ? "strictatime" : *old);
        } else {
            undo.flags.push_back(has(flags, flag) ? flag : counterpart(flag));
        }
    }
    const auto options = words_of(line->options());
    for (const auto& parameter : step.parameters) {
        const auto key = parameter.substr(0, parameter.find('='));
        const auto old =
            std::ranges::find_if(options, [&](const auto& one) { return one.substr(0, one.find('=')) == key; });
        if (old != options.end()) {
            undo.parameters.push_back(*old);
        } else if (key == parameter) {
            undo.parameters.push_back(counterpart(parameter));
        } else if (key == "commit") {
            undo.parameters.emplace_back("commit=5");
        } else {
            return fail(ErrorKind::unsupported, "the kernel does not show the old value of " + parameter, step.target);
        }
    }
    return undo;
}

Result<void> memory_remount(MemoryHost& host, const Remount& step) {
    auto line = find_line(host, step);
    if (!line) return tl::make_unexpected(line.error());
    auto options = words_of(line->options());
    for (const auto& parameter : step.parameters) {
        if (auto set = set_parameter(options, parameter); !set) return set;
    }
    auto flags = words_of(line->flags());
    for (const auto& flag : step.flags) {
        if (auto set = set_flag(flags, flag); !set) return set;
    }
    line->flags() = join(flags, ",");
    auto lines = lines_of(host);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto other = parse_line(lines[i], i);
        if (!other || other->device() != line->device()) continue;
        if (i == line->number) other = *line;
        other->options() = join(options, ",");  // all mounts of a superblock show its options
        lines[i] = join(other->fields, " ");
    }
    host.put_file(mountinfo_path, join(lines, "\n") + "\n");
    if (line->fstype() == "ext4" && !step.parameters.empty()) change_ext4_file(host, *line, step.parameters);
    return {};
}

}  // namespace storpol
