// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/mountinfo.h"

#include <charconv>
#include <optional>

#include "engine/base/text.h"
#include "engine/text/fstab.h"

namespace storpol {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end;
}

class Fields {
  public:
    explicit Fields(std::string_view line) : rest_(line) {}

    // The kernel writes one blank between fields; people who indent or align a copy write more.
    std::optional<std::string_view> next() {
        const std::size_t begin = rest_.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return std::nullopt;
        rest_.remove_prefix(begin);
        return next_after_one_blank();
    }

    // Where a field may be empty, as a source may, blanks count: two in a row have nothing between them.
    std::optional<std::string_view> next_after_one_blank() {
        if (done_) return std::nullopt;
        const std::size_t blank = rest_.find_first_of(" \t");
        const std::string_view field = rest_.substr(0, blank);
        done_ = blank == std::string_view::npos;
        rest_.remove_prefix(done_ ? rest_.size() : blank + 1);
        return field;
    }

  private:
    std::string_view rest_;
    bool done_ = false;
};

bool parse_device(std::string_view text, MountInfo& mount) {
    const std::size_t colon = text.find(':');
    return colon != std::string_view::npos && parse_number(text.substr(0, colon), mount.major) &&
           parse_number(text.substr(colon + 1), mount.minor);
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
std::optional<MountInfo> parse_line(std::string_view line) {
    MountInfo mount;
    Fields fields(line);
    const auto id = fields.next(), parent = fields.next(), device = fields.next();
    const auto root = fields.next(), target = fields.next(), options = fields.next();
    if (!options || !parse_number(*id, mount.id) || !parse_number(*parent, mount.parent)) return std::nullopt;
    if (!parse_device(*device, mount) || root->empty() || target->empty()) return std::nullopt;
    mount.root = unescape_fstab_field(*root);
    mount.target = unescape_fstab_field(*target);
    mount.mount_options = *options;
    auto field = fields.next();
    for (; field && *field != "-"; field = fields.next()) mount.tags.push_back(unescape_fstab_field(*field));
    const auto fstype = fields.next(), source = fields.next_after_one_blank();
    const auto super_options = fields.next_after_one_blank();
    if (!fstype || fstype->empty() || !source) return std::nullopt;
    mount.fstype = unescape_fstab_field(*fstype);
    mount.source = unescape_fstab_field(*source);
    // The kernel escapes blanks here; a filesystem that does not would put the rest of its options after one.
    if (super_options) mount.super_options = line.substr(static_cast<std::size_t>(super_options->data() - line.data()));
    return mount;
}

}  // namespace

std::string MountInfo::device_number() const {
    return std::to_string(major) + ":" + std::to_string(minor);
}

MountInfoTable parse_mountinfo(std::string_view text) {
    MountInfoTable table;
    int number = 0;
    for (std::string_view line : split_lines(text)) {
        ++number;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (trim(line).empty()) continue;
        if (auto mount = parse_line(line)) {
            table.mounts.push_back(std::move(*mount));
        } else {
            table.rejected.push_back(number);
        }
    }
    return table;
}

}  // namespace storpol
