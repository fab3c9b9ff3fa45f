// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/readings.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/topology.h"
#include "resources/mount/lookup.h"
#include "resources/mount/target_value.h"

namespace storpol {
namespace {

bool is_ext(std::string_view fstype) {
    return fstype == "ext2" || fstype == "ext3" || fstype == "ext4";
}

// The kernel leaves out of mountinfo what is as the superblock says, and its own file lists what is in force
// (fs/ext4/super.c, _ext4_show_options): together they tell the superblock's default without reading the device.
std::string infer_superblock_discard(std::string_view shown, std::string_view in_force) {
    const auto words = split_options(shown);
    const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    if (has("nodiscard")) return "discard";
    const auto lines = split_lines(in_force);
    const bool discards = std::ranges::find(lines, std::string_view("discard")) != lines.end();
    return discards && !has("discard") ? "discard" : "";
}

// What a remount cannot change is, for the root, as the initramfs mounted it: by the kernel command line, not by fstab.
const OptionSource* source_of(const ManagedMount& mount, std::string_view fstype, std::string_view property) {
    const auto* source = mount.persisted();
    if (source == nullptr || !mount.root_flags) return source;
    return is_set_at_first_mount(fstype, property) ? &*mount.root_flags : source;
}

// "nofail" and "x-systemd.device-timeout=10s" as they stand in a line; the last of a name counts.
std::optional<std::string> userspace_word(std::string_view options, std::string_view name) {
    std::optional<std::string> found;
    for (const auto option : split_options(options)) {
        if (option.substr(0, option.find('=')) == name) found = std::string(option);
    }
    return found;
}

}  // namespace

FilesystemReader::FilesystemReader(const ManagedFilesystem& filesystem,
                                   const MountTable* table,
                                   const MountHostFacts& host_facts,
                                   Host& host,
                                   LiveMeanings& meanings)
    : filesystem_(filesystem), table_(table), host_(host), meanings_(meanings) {
    facts_.kernel = host_facts.kernel;
    learn_device_facts();
    if (is_ext(filesystem.fstype)) learn_ext4_facts();
}

void FilesystemReader::learn_device_facts() {
    if (!filesystem_.device) return;
    if (const auto limit = queue_attribute(host_, *filesystem_.device, "discard_max_bytes"))
        facts_.device_discards = *limit != "0";
    if (const auto rotational = queue_attribute(host_, *filesystem_.device, "rotational"))
        facts_.rotational = *rotational == "1";
}

void FilesystemReader::learn_ext4_facts() {
    std::string device = filesystem_.device ? "/dev/" + filesystem_.device->name : "";
    if (filesystem_.device) {
        ext4_path_ = "/proc/fs/ext4/" + filesystem_.device->name + "/options";
        if (auto text = host_.read_file(ext4_path_)) ext4_text_ = std::move(*text);
    }
    if (!device.empty()) {
        if (const auto superblock = host_.ext4_super(device)) {
            const auto field = [&](const char* name) {
                const auto found = superblock->find(name);
                return found == superblock->end() ? std::string() : found->second;
            };
            facts_.superblock_options = ext4_superblock_options(field("default_mount_opts"), field("mount_opts"));
            return;
        }
    }
    for (const auto& mount : filesystem_.mounts) {
        if (!mount.live || table_ == nullptr || !ext4_text_) continue;
        facts_.superblock_options = infer_superblock_discard(table_->mounts()[*mount.live].super_options, *ext4_text_);
        return;
    }
    // Not mounted and not readable (an image, no root): mkfs writes no default that this table manages.
    facts_.superblock_options = "";
}

std::string FilesystemReader::live_source(const MountWish& wish) const {
    const auto* property = find_property(filesystem_.fstype, wish.property);
    const bool of_mount = property == nullptr || property->scope == Scope::per_mount;
    return ext4_text_ && !of_mount ? ext4_path_ : "/proc/self/mountinfo";
}

const OptionSet* FilesystemReader::live_set(const ManagedMount& mount) const {
    if (!mount.live || table_ == nullptr) return nullptr;
    const auto& entry = table_->mounts()[*mount.live];
    LiveText text;
    text.mount_options = entry.mount_options;
    text.super_options = entry.super_options;
    if (ext4_text_) text.ext4_options = *ext4_text_;
    const auto known = [](const std::optional<bool>& fact) { return !fact ? '?' : *fact ? '1' : '0'; };
    const std::string key = filesystem_.fstype + '\n' + entry.mount_options + '\n' + entry.super_options + '\n' +
                            ext4_text_.value_or("") + '\n' + facts_.superblock_options.value_or("") + '\n' +
                            known(facts_.device_discards) + known(facts_.rotational);
    const auto found = meanings_.find(key);
    if (found != meanings_.end()) return &found->second;
    return &meanings_.emplace(key, live_options(filesystem_.fstype, text, facts_)).first->second;
}

Reading FilesystemReader::live(const MountWish& wish, const ManagedMount& mount) const {
    const auto* set = live_set(mount);
    if (set == nullptr) return {Absent{mount.is_automount ? "mounted on first use" : mount.not_live}, "", {}};
    const auto source = live_source(wish);
    if (wish.kind == MountWish::Kind::unknown) return {Unknown{wish.why}, source, {}};
    if (wish.kind == MountWish::Kind::impossible) return {Unset{}, source, {}};
    if (const auto* value = set->find(wish.property)) {
        const bool is_said = value->origin == Origin::shown || value->origin == Origin::written;
        return {Found{option_value(value->value), is_said ? value->word : ""}, source, {}};
    }
    const auto why = set->unknown_settings.find(wish.property);
    return {Unknown{why == set->unknown_settings.end() ? "the kernel does not show it" : why->second}, source, {}};
}

Reading FilesystemReader::persisted(const MountWish& wish,
                                    const ManagedMount& mount,
                                    const std::string& inventory_unreadable) const {
    const auto* source = source_of(mount, filesystem_.fstype, wish.property);
    if (source == nullptr) {
        if (!inventory_unreadable.empty()) return {Unknown{inventory_unreadable}, "", {}};
        return {Absent{"no fstab line, mount unit or kernel command line makes this mount"}, "", {}};
    }
    std::vector<std::string> shadows;
    for (std::size_t i = 1; i < mount.sources.size(); ++i) shadows.push_back(mount.sources[i].describe());
    const auto where = source->describe();
    if (wish.kind == MountWish::Kind::unknown) return {Unknown{wish.why}, where, shadows};
    if (wish.kind == MountWish::Kind::impossible) return {Unset{}, where, shadows};
    if (wish.kind == MountWish::Kind::userspace) {
        const auto word = userspace_word(source->options, wish.property);
        if (!word) return {Unset{Value{std::string("off")}, "not given"}, where, shadows};
        return {Found{Value{*word}, ""}, where, shadows};
    }
    const auto set = parse_options(filesystem_.fstype, source->options, facts_.kernel);
    if (const auto* value = set.find(wish.property))
        return {Found{option_value(value->value), value->word}, where, shadows};
    const auto otherwise = default_of(filesystem_.fstype, wish.property, facts_);
    Unset unset;
    unset.default_from = otherwise.from;
    if (otherwise.value) unset.default_value = option_value(*otherwise.value);
    return {unset, where, shadows};
}

const FilesystemReader& MountReaders::of(const ManagedFilesystem& filesystem) const {
    const auto found = readers_.find(&filesystem);
    if (found != readers_.end()) return found->second;
    const auto& mounts = topology_.mounts();
    const FilesystemReader reader(filesystem, mounts ? &*mounts : nullptr, mount_host_facts(topology_, host_), host_,
                                  meanings_);
    return readers_.emplace(&filesystem, reader).first->second;
}

bool is_set_at_first_mount(std::string_view fstype, std::string_view property) {
    const auto* spec = find_property(fstype, property);
    return spec != nullptr && (spec->remount == AtRemount::refused || spec->remount == AtRemount::ignored);
}

}  // namespace storpol
