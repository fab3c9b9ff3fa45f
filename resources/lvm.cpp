// SPDX-License-Identifier: GPL-3.0-or-later
// lvm.issue-discards: whether LVM discards the extents that lvremove and lvreduce release. It says nothing about
// fstrim, whose discards pass through a volume either way.
//   persisted  /etc/lvm/lvmlocal.conf, then /etc/lvm/lvm.conf (lvm.conf(5), "Config cascade"); every LVM command reads
//              them, so there is no live plane. Profiles cannot hold it; a host tag's file beats both
#include "resources/lvm.h"

#include <algorithm>
#include <array>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/lvm_config.h"
#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::string_view option = "devices/issue_discards";
constexpr std::string_view local_file = "/etc/lvm/lvmlocal.conf";
constexpr std::string_view main_file = "/etc/lvm/lvm.conf";

struct File {
    std::string path;  // after links; as asked for where there is none
    std::string digest{no_file_digest};
    LvmConfig config;
    std::string unreadable;

    bool is_there() const { return digest != no_file_digest; }

    std::string line_of(const LvmAssignment& assignment) const { return path + ":" + std::to_string(assignment.line); }
};

File read_config(Host& host, std::string_view path) {
    File file;
    file.path = path;
    const auto text = host.read_file_resolved(path);
    if (!text) {
        if (text.error().kind != ErrorKind::no_such_file) file.unreadable = text.error().what;
        return file;
    }
    file.path = text->path;
    file.digest = digest_of(text->bytes);
    file.config = parse_lvm_config(text->bytes);
    if (file.config.broken_line != 0) {
        file.unreadable = "LVM refuses " + file.path + ": line " + std::to_string(file.config.broken_line) +
                          " is no configuration it knows";
    }
    return file;
}

// dm_config_find_bool (libdm/libdm-config.c): numbers, and a few words in quotes or without.
std::optional<bool> bool_of(std::string_view value) {
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    static constexpr std::array<std::string_view, 4> yes{"y", "yes", "on", "true"};
    static constexpr std::array<std::string_view, 4> no{"n", "no", "off", "false"};
    if (const auto number = parse_int(value)) return *number != 0;
    if (std::ranges::find(yes, value) != yes.end()) return true;
    if (std::ranges::find(no, value) != no.end()) return false;
    return std::nullopt;
}

std::string word_of(bool on) {
    return on ? "on" : "off";
}

// The file of a host tag that sets it too, "" where none does: which tags this host has LVM alone evaluates.
std::string tag_file_with_option(Host& host, const File& local, const File& main) {
    const auto has_tags = [](const File& file) {
        return std::ranges::any_of(file.config.assignments,
                                   [](const LvmAssignment& one) { return one.name.starts_with("tags/"); });
    };
    if (!has_tags(local) && !has_tags(main)) return {};
    const auto names = host.list("/etc/lvm");
    if (!names) return {};
    for (const auto& name : *names) {
        if (!name.starts_with("lvm_") || !name.ends_with(".conf")) continue;
        const auto file = read_config(host, "/etc/lvm/" + name);
        if (const auto* found = file.config.find(option)) return file.line_of(*found);
    }
    return {};
}

bool has_lvm(Host& host, const File& local, const File& main) {
    for (const auto* file : {&local, &main}) {
        if (file->is_there() || !file->unreadable.empty()) return true;
    }
    for (const char* path : {"/usr/sbin/lvm", "/sbin/lvm"}) {
        const auto there = host.ask({QueryKind::program_exists, {path}});
        if (!there.refusal && there.text == "yes") return true;
    }
    return false;
}

Reading read_persisted(Host& host) {
    Reading reading;
    const auto local = read_config(host, local_file);
    const auto main = read_config(host, main_file);
    if (!has_lvm(host, local, main)) {
        reading.state = Absent{"LVM is not installed here"};
        return reading;
    }
    for (const auto* file : {&local, &main}) {
        if (file->unreadable.empty()) continue;
        reading.state = Unknown{file->unreadable};
        reading.source = file->path;
        return reading;
    }
    if (const auto tagged = tag_file_with_option(host, local, main); !tagged.empty()) {
        reading.state = Unknown{tagged + " sets it for a host tag, which this host may have"};
        reading.source = tagged;
        return reading;
    }
    const auto* in_local = local.config.find(option);
    const auto* in_main = main.config.find(option);
    const auto* found = in_local != nullptr ? in_local : in_main;
    if (found == nullptr) {
        reading.state = Unset{Value{word_of(false)}, "LVM's default"};
        return reading;
    }
    const auto& file = in_local != nullptr ? local : main;
    reading.source = file.line_of(*found);
    if (in_local != nullptr && in_main != nullptr) reading.shadows.push_back(main.line_of(*in_main));
    const auto on = bool_of(found->value);
    if (on) {
        reading.state = Found{Value{word_of(*on)}, found->value};
    } else {
        reading.state = Unknown{"LVM's words for it are 0 and 1, and this is " + printable(found->value)};
    }
    return reading;
}

Action edit_action(const Difference& difference, Host& host) {
    const auto local = read_config(host, local_file);
    const auto main = read_config(host, main_file);
    const bool on = difference.wanted() == Condition{Is{Value{word_of(true)}}};
    const std::string value = on ? "1" : "0";
    const bool is_local = local.config.find(option) != nullptr;
    const auto* found = is_local ? local.config.find(option) : main.config.find(option);
    // Nothing sets it: the file for this host's own settings, which no package replaces.
    const auto& file = found == nullptr || is_local ? local : main;
    Action action;
    action.verb = file.is_there() ? Verb::edit : Verb::create;
    action.target = file.path;
    EditFile edit{file.path, file.digest, NewLine{std::string(option) + " = " + value}};
    if (found != nullptr) {
        auto word = found->word;
        word.replace(found->offset, found->value.size(), value);
        edit.edit = FieldWords{found->line, found->field, {found->word}, {word}};
    }
    action.step = std::move(edit);
    action.serves = {{difference.setting->address, difference.plane}};
    action.says = on ? "let lvremove and lvreduce discard what they release; vgcfgrestore cannot bring it back then"
                     : "keep what lvremove and lvreduce release, so that vgcfgrestore can still bring it back";
    return action;
}

class LvmResource final : public Resource {
  public:
    std::string_view domain() const override { return "lvm"; }

    PolicyKeys keys() const override {
        return discard_keys(key_of(
            "lvm-issue-discards", KeyType::boolean,
            "Whether LVM discards what lvremove and lvreduce release (devices/issue_discards). fstrim does not need "
            "it: "
            "its discards pass through logical volumes either way. With it, vgcfgrestore cannot bring a volume back."));
    }

    std::vector<Setting> settings(const Policy& policy, const Topology&, Host&, Notes&) const override {
        const auto* node = find_discard_key(policy, "lvm-issue-discards");
        if (node == nullptr) return {};
        Setting setting;
        setting.address = make_address("lvm", "", "issue-discards");
        setting.policy = {node->place};
        if (policy.is_unmanaged(setting.address, setting.policy)) return {};
        setting.wanted = node->text;
        setting.condition = Is{Value{word_of(node->text == "true")}};
        return {setting};
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology&,
                                     Host& host,
                                     Notes&) const override {
        std::vector<Observation> observations;
        for (std::size_t i = 0; i < settings.size(); ++i)
            observations.push_back({{Plane::persisted, read_persisted(host)}});
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology&, Host& host) const override {
        Remedy remedy;
        for (const auto& difference : differences) remedy.actions.push_back(edit_action(difference, host));
        return remedy;
    }

    std::vector<std::string> own_files(Host&) const override { return {}; }

    void survey(Host& host) const override { read_persisted(host); }
};

}  // namespace

std::unique_ptr<Resource> make_lvm_resource() {
    return std::make_unique<LvmResource>();
}

}  // namespace storpol
