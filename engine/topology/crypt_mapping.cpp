// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/crypt_mapping.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/block_device.h"
#include "engine/topology/boot_image.h"
#include "engine/topology/next_boot.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

// "CRYPT-LUKS2-6d0c0f5e2b8f5a0c9d4e7f1a2b3c4d5e-root" (cryptsetup lib/utils_dm.h)
std::string type_of_dm_uuid(std::string_view uuid) {
    if (!uuid.starts_with("CRYPT-")) return {};
    uuid.remove_prefix(6);
    return std::string(uuid.substr(0, uuid.find('-')));
}

std::string header_uuid_of_dm_uuid(std::string_view uuid) {
    const auto type = type_of_dm_uuid(uuid);
    if (!type.starts_with("LUKS")) return {};
    const auto rest = uuid.substr(std::min(uuid.size(), 6 + type.size() + 1));
    const auto digits = rest.substr(0, rest.find('-'));
    if (digits.size() != 32) return {};
    std::string out;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at == 8 || at == 12 || at == 16 || at == 20) out += '-';
        out += digits[at];
    }
    return luks_uuid(out);
}

std::string path_of(const Layer& layer) {
    return layer.is_dm() ? "/dev/mapper/" + layer.name : "/dev/" + layer.device.name;
}

// What holds the data, and with them the header: below a mapping with integrity lies another device-mapper device.
const Layer* data_device(const Layer& mapping) {
    const auto* at = &mapping;
    do {
        if (at->below.size() != 1) return nullptr;
        at = at->below.front();
    } while (at->kind == LayerKind::integrity);
    return at;
}

// "/dev/nvme0n1p3" of /dev/disk/by-uuid/...; the path itself where there is no link.
std::string device_of_source(Host& host, std::string_view source) {
    const auto path = path_of_tag(source);
    if (const auto target = host.read_link(path)) {
        const auto name = target->substr(target->rfind('/') + 1);
        if (!path.starts_with("/dev/mapper/") && !name.empty()) return "/dev/" + name;
    }
    return path;
}

struct TabFile {
    Crypttab table;
    std::string path;
    std::string unknown;  // why it cannot be read
    bool is_there = false;
};

TabFile read_tab(Host& host, std::string_view path) {
    TabFile tab;
    tab.path = path;
    auto file = host.read_file_resolved(path);
    if (file) {
        tab.table = parse_crypttab(file->bytes);
        tab.path = file->path;
        tab.is_there = true;
    } else if (file.error().kind != ErrorKind::no_such_file) {
        tab.unknown = to_text(file.error());
    }
    return tab;
}

}  // namespace

// Everything that names a mapping, and then how each is opened.
class CryptCollector {
  public:
    CryptCollector(const Topology& topology, Host& host, CryptMappings& out)
        : topology_(topology),
          host_(host),
          boot_(next_boot(topology, host)),
          image_(boot_image(topology, host)),
          out_(out) {}

    void collect() {
        tab_ = read_tab(host_, "/etc/crypttab");
        source_tab_ =
            image_.crypttab_source() == "/etc/crypttab.initramfs" ? read_tab(host_, image_.crypttab_source()) : tab_;
        read_image_tab();
        add_live();
        for (const auto* tab : {&tab_, &source_tab_, &image_tab_}) add_lines(*tab);
        add_arguments(boot_.sources.arguments);
        add_arguments(boot_.command_line.arguments);
        find_root_layers();
        for (auto& [name, mapping] : found_) {
            find_opening(mapping);
            out_.all_.push_back(std::move(mapping));
        }
        out_.crypttab_ = std::move(tab_.table);
        out_.crypttab_path_ = tab_.path;
        const auto blocks = host_.list("/sys/block");
        if (!blocks && blocks.error().kind != ErrorKind::no_such_file && !tab_.unknown.empty())
            out_.unknown_ = to_text(blocks.error());
    }

  private:
    CryptMapping& mapping(const std::string& name) {
        auto& found = found_[name];
        found.name = name;
        return found;
    }

    void read_image_tab() {
        image_tab_.path = image_.path;
        image_tab_.unknown = image_.unknown;
        if (image_.crypttab_member().empty() || !image_.unknown.empty()) return;
        const auto bytes = read_image_member(topology_, host_, image_.crypttab_member());
        if (bytes) {
            image_tab_.table = parse_crypttab(*bytes);
            image_tab_.is_there = true;
        } else if (bytes.error().kind != ErrorKind::no_such_file) {
            image_tab_.unknown = to_text(bytes.error());
        }
        if (image_.opens == CryptReader::dracut_scripts) read_baked_arguments();
    }

    // dracut writes a part of the command line into the image.
    void read_baked_arguments() {
        for (const auto* name : {"etc/cmdline.d/90crypt.conf", "etc/cmdline.d/20-crypt.conf"}) {
            const auto bytes = read_image_member(topology_, host_, name);
            if (!bytes) continue;
            auto placed = place_arguments(*bytes, {image_.path, 0, 0}, std::nullopt);
            baked_.insert(baked_.end(), placed.begin(), placed.end());
        }
        baked_.insert(baked_.end(), boot_.command_line.arguments.begin(), boot_.command_line.arguments.end());
    }

    void add_live() {
        for (const auto* layer : stacks(topology_, host_).mappings()) {
            if (layer->kind != LayerKind::dm_crypt) continue;
            auto& live = mapping(layer->name);
            live.live = layer;
            live.uuid = header_uuid_of_dm_uuid(layer->dm_uuid);
            if (const auto* device = data_device(*layer)) live.device = path_of(*device);
        }
    }

    void add_lines(const TabFile& tab) {
        for (const auto& entry : tab.table.entries) {
            auto& named = mapping(entry.name);
            const auto path = path_of_tag(entry.source);
            constexpr std::string_view by_uuid = "/dev/disk/by-uuid/";
            if (named.uuid.empty() && path.starts_with(by_uuid))
                named.uuid = luks_uuid(std::string_view(path).substr(by_uuid.size()));
            if (named.device.empty()) named.device = device_of_source(host_, entry.source);
            if (named.random_key.empty() && entry.has_random_key()) {
                named.random_key = tab.path + ":" + std::to_string(entry.line) + " gives it a new key at each boot";
            }
            if (named.line || &tab == &image_tab_) continue;
            named.line = entry;
            named.line_place = {tab.path, entry.line, 0};
        }
    }

    void add_arguments(const PlacedArguments& arguments) {
        for (const auto& disk : read_luks_arguments(arguments, true).disks) {
            if (!disk.is_created) continue;
            if (names_line(disk.uuid)) continue;  // the line names it
            name_by_uuid(disk.name.empty() ? "luks-" + disk.uuid : disk.name, disk.uuid);
        }
        if (image_.opens != CryptReader::arch_encrypt) return;
        const auto device = read_cryptdevice(arguments);
        if (!device) return;
        auto& named = mapping(device->name);
        if (device->source.starts_with("UUID=") && named.uuid.empty()) named.uuid = luks_uuid(device->source.substr(5));
        if (named.device.empty()) named.device = device_of_source(host_, device->source);
    }

    bool names_line(const std::string& uuid) const {
        return std::ranges::any_of(found_, [&](const auto& known) { return same_uuid(known.second.uuid, uuid); });
    }

    void name_by_uuid(const std::string& name, const std::string& uuid) {
        auto& named = mapping(name);
        if (named.uuid.empty()) named.uuid = uuid;
        if (named.device.empty()) named.device = device_of_source(host_, "UUID=" + uuid);
    }

    // The layers that the root filesystem and /usr need: opened before anything else.
    void find_root_layers() {
        const auto& mounts = topology_.mounts();
        if (!mounts) return;
        for (const auto* target : {"/", "/usr"}) {
            const auto at = mounts->at(target);
            const auto* superblock = at ? mounts->superblock_of(*at) : nullptr;
            if (superblock == nullptr) continue;
            for (const auto* layer : layers_below(stacks(topology_, host_).of(*superblock).tops)) root_.insert(layer);
        }
    }

    bool is_early(const CryptMapping& of) const {
        if (of.live != nullptr && root_.contains(of.live)) return true;
        return of.line &&
               (of.line->has("initramfs") || of.line->has("x-initrd.attach") || of.line->has("x-initrd.force"));
    }

    CryptStage system_stage() const {
        CryptStage stage;
        stage.reader = has_systemd_ || !has_cryptdisks_ ? CryptReader::systemd : CryptReader::debian_scripts;
        stage.crypttab = &tab_.table;
        stage.crypttab_path = tab_.path;
        stage.crypttab_unknown = tab_.unknown;
        stage.arguments = &boot_.sources.arguments;
        stage.arguments_unknown = boot_.sources.unknown;
        return stage;
    }

    // What the next initramfs will be made of.
    CryptStage source_stage() const {
        auto stage = system_stage();
        stage.reader = image_.opens.value_or(CryptReader::systemd);
        stage.in_initramfs = true;
        stage.crypttab = image_.opens == CryptReader::arch_encrypt ? nullptr : &source_tab_.table;
        stage.crypttab_path = source_tab_.path;
        stage.crypttab_unknown = source_tab_.unknown;
        return stage;
    }

    // What is in the one that the next boot uses.
    CryptStage image_stage() const {
        CryptStage stage;
        stage.reader = *image_.opens;
        stage.in_initramfs = true;
        stage.crypttab = &image_tab_.table;
        stage.crypttab_path = image_.path;
        stage.has_lines = false;
        stage.crypttab_unknown = image_tab_.unknown;
        stage.arguments = image_.opens == CryptReader::dracut_scripts ? &baked_ : &boot_.command_line.arguments;
        stage.arguments_unknown = boot_.command_line.unknown;
        return stage;
    }

    void find_opening(CryptMapping& of) const {
        const bool early = is_early(of);
        if (!image_.unknown.empty()) {
            const auto from_sources = opening_in(source_stage(), of.name, of.uuid);
            const bool on_command_line = from_sources.is_opened && from_sources.deciding() != nullptr &&
                                         from_sources.deciding()->kind == CryptSource::Kind::command_line;
            // In an image no mount tells what lies below the root.
            of.in_initramfs = early || on_command_line || !topology_.mounts();
            of.initramfs_unknown = of.in_initramfs ? image_.unknown : std::string();
            of.boot.unknown = of.initramfs_unknown;
        } else {
            if (image_.opens) of.boot = opening_in(image_stage(), of.name, of.uuid);
            of.in_initramfs = of.boot.is_opened || (early && !image_.path.empty());
            if (of.in_initramfs && !of.boot.is_opened && of.boot.unknown.empty()) {
                of.boot.unknown =
                    "it is needed before the root is there, and nothing that is read in " + image_.path + " opens it";
            }
        }
        if (of.in_initramfs) of.persisted = opening_in(source_stage(), of.name, of.uuid);
        if (of.persisted.is_opened) return;
        auto later = opening_in(system_stage(), of.name, of.uuid);
        if (later.is_opened || !of.in_initramfs) of.persisted = std::move(later);
    }

    const Topology& topology_;
    Host& host_;
    const NextBoot& boot_;
    const BootImage& image_;
    CryptMappings& out_;
    bool has_systemd_ =
        host_.stat("/usr/lib/systemd/systemd").has_value() || host_.stat("/lib/systemd/systemd").has_value();
    bool has_cryptdisks_ = host_.stat("/etc/init.d/cryptdisks").has_value();
    TabFile tab_;
    TabFile source_tab_;
    TabFile image_tab_;
    PlacedArguments baked_;
    std::map<std::string, CryptMapping> found_;
    std::set<const Layer*> root_;
};

CryptMappings::CryptMappings(const Topology& topology, Host& host) : host_(&host) {
    CryptCollector(topology, host, *this).collect();
}

const CryptMapping* CryptMappings::find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(all_, name, {}, &CryptMapping::name);
    return at == all_.end() || at->name != name ? nullptr : &*at;
}

std::vector<CryptSource> CryptMappings::sources_of(const CryptMapping& mapping, const CryptOpening& opening) const {
    auto sources = opening.sources;
    const auto& header = header_of(mapping);
    if (header.version != 2) return sources;
    CryptSource source;
    source.kind = CryptSource::Kind::header;
    source.where = header.where();
    source.read_by = "whatever opens it";
    source.words.assign(header.flags.begin(), header.flags.end());
    source.flags = header.flags;
    source.decides = true;
    sources.push_back(std::move(source));
    return sources;
}

std::string LuksHeader::where() const {
    return "LUKS" + (version > 0 ? std::to_string(version) : std::string()) + " header of " + device;
}

const CryptMappings& crypt_mappings(const Topology& topology, Host& host) {
    return topology.derived<CryptMappings>([&] { return CryptMappings(topology, host); });
}

}  // namespace storpol
