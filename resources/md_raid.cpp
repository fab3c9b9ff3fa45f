// SPDX-License-Identifier: GPL-3.0-or-later
// md-raid.raid456-discard: whether RAID 4, 5 and 6 arrays may pass discards on, which is right only over drives that
// read zeros after one (kernel drivers/md/raid5.c). One parameter for all arrays, read when an array is assembled.
//   live       /sys/module/raid456/parameters/devices_handle_discard_safely
//   persisted  options of modprobe.d(5) and raid456.devices_handle_discard_safely= on the kernel command line
// Our own line: /etc/modprobe.d/storpol.conf. The module is mostly loaded in the initramfs, which is made anew with it.
#include "resources/md_raid.h"

#include <algorithm>
#include <array>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/modprobe_d.h"
#include "engine/topology/boot_image.h"
#include "engine/topology/config_files.h"
#include "engine/topology/disk.h"
#include "engine/topology/next_boot.h"
#include "engine/topology/stack.h"
#include "engine/topology/topology.h"
#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::string_view own_file = "/etc/modprobe.d/storpol.conf";
constexpr std::string_view parameter = "devices_handle_discard_safely";
constexpr std::string_view live_file = "/sys/module/raid456/parameters/devices_handle_discard_safely";

std::string address() {
    return make_address("md-raid", "", "raid456-discard");
}

std::string word_of(bool on) {
    return on ? "Y" : "N";
}

// kernel param_set_bool: y, Y, 1, on (and "o" followed by n).
std::optional<bool> bool_of(std::string_view value) {
    if (value == "Y" || value == "y" || value == "1" || value == "on" || value == "On" || value == "ON") return true;
    if (value == "N" || value == "n" || value == "0" || value == "off" || value == "Off" || value == "OFF")
        return false;
    return std::nullopt;
}

struct Wanted {
    std::vector<std::string> models;  // globs
    Place place;
    std::string text;
};

std::optional<Wanted> read_wanted(const Policy& policy) {
    const auto* node = find_discard_key(policy, "md-raid456-discard");
    if (node == nullptr || node->list() == nullptr) return std::nullopt;
    Wanted wanted;
    wanted.place = node->place;
    for (const auto& item : *node->list()) {
        wanted.models.push_back(item.text);
        wanted.text += (wanted.text.empty() ? "" : ", ") + item.text;
    }
    return wanted;
}

// The drives below the parity arrays of this host that no listed model covers, with the array each is in.
struct Members {
    bool has_arrays = false;
    std::vector<std::string> not_vouched;  // "sdc (WDC WD40EFRX) in md0"
};

Members look_at_members(const std::vector<std::string>& models, const Topology& topology, Host& host) {
    Members members;
    for (const auto& device : list_disks(host)) {
        if (!device.name.starts_with("md")) continue;
        const auto* array = stacks(topology, host).find(device);
        if (array == nullptr) continue;
        const auto& level = array->level;
        if (level != "raid4" && level != "raid5" && level != "raid6") continue;
        members.has_arrays = true;
        for (const auto* layer : layers_below({array})) {
            if (layer->kind != LayerKind::disk) continue;
            const auto model = read_disk(host, layer->device).model;
            const bool vouched =
                std::ranges::any_of(models, [&](const std::string& glob) { return glob_match(glob, model); });
            if (!vouched) members.not_vouched.push_back(layer->name + " (" + model + ") in " + array->name);
        }
        if (!array->unknown.empty())
            members.not_vouched.push_back("a member of " + array->name + " that is not in sysfs");
    }
    return members;
}

struct Source {
    std::string name;  // of the file
    std::string where;
    std::string value;
};

// Every place that sets it, the one that holds last: files by their names over all directories, then the command line.
struct Sources {
    std::vector<Source> found;
    std::string unknown;
    bool on_command_line = false;

    // The place that holds over our file whatever that says; empty for none.
    std::string behind_own_file() const {
        const auto own_name = own_file.substr(own_file.rfind('/') + 1);
        return !found.empty() && found.back().name > own_name ? found.back().where : std::string();
    }
};

void add_modprobe_sources(Host& host, Sources& sources) {
    static constexpr std::array<std::string_view, 5> folders{
        "/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"};
    const auto files = list_config_files(host, folders, is_conf_name);
    if (!files.unreadable.empty()) sources.unknown = files.unreadable.front();
    for (const auto& [name, path] : files.paths) {
        const auto text = host.read_file_resolved(path);
        if (!text) {
            sources.unknown = text.error().what;
            continue;
        }
        for (const auto& option : parse_module_options(text->bytes)) {
            if (option.module != "raid456" || option.name != parameter) continue;
            sources.found.push_back({name, text->path + ":" + std::to_string(option.line), option.value});
        }
    }
}

void add_command_line(const Topology& topology, Host& host, Sources& sources) {
    for (const auto& placed : next_boot(topology, host).sources.arguments) {
        if (module_name(placed.name) != "raid456." + std::string(parameter)) continue;
        sources.found.push_back({{}, to_text(placed.place), placed.value.value_or("Y")});
        sources.on_command_line = true;
    }
}

Sources read_sources(const Topology& topology, Host& host) {
    Sources sources;
    add_modprobe_sources(host, sources);
    add_command_line(topology, host, sources);
    return sources;
}

Reading read_persisted(const Topology& topology, Host& host) {
    const auto sources = read_sources(topology, host);
    Reading reading;
    if (!sources.unknown.empty()) {
        reading.state = Unknown{sources.unknown};
        return reading;
    }
    if (sources.found.empty()) {
        reading.state = Unset{Value{word_of(false)}, "kernel default"};
        return reading;
    }
    const auto& winner = sources.found.back();
    reading.source = winner.where;
    for (auto other = sources.found.rbegin() + 1; other != sources.found.rend(); ++other)
        reading.shadows.push_back(other->where);
    const auto on = bool_of(winner.value);
    if (on) {
        reading.state = Found{Value{word_of(*on)}, winner.value};
    } else {
        reading.state = Unknown{"the kernel does not know the value " + printable(winner.value)};
    }
    return reading;
}

Reading read_live(Host& host) {
    Reading reading;
    reading.source = live_file;
    const auto text = host.read_file(live_file);
    if (!text && text.error().kind == ErrorKind::no_such_file) {
        reading.state = Absent{"the module raid456 is not loaded"};
    } else if (!text) {
        reading.state = Unknown{text.error().what};
    } else {
        reading.state = Found{Value{std::string(trim(*text))}, {}};
    }
    return reading;
}

class MdRaidResource final : public Resource {
  public:
    std::string_view domain() const override { return "md-raid"; }

    PolicyKeys keys() const override {
        return discard_keys(key_of(
            "md-raid456-discard", KeyType::word_list,
            "Models of drives that surely read zeros after a discard, as globs: RAID 4, 5 and 6 arrays pass discards "
            "on "
            "when every drive below every such array is one of them, and not otherwise. Over a drive that does not, "
            "parity is wrong, and data is lost at the next failure."));
    }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        const auto wanted = read_wanted(policy);
        if (!wanted) return {};
        const auto members = look_at_members(wanted->models, topology, host);
        if (!members.has_arrays) return {};
        for (const auto& member : members.not_vouched) {
            Finding finding;
            finding.code = "md-raid456-not-vouched";
            finding.says = member +
                           " is no model that the policy vouches for, so discards stay off for all RAID 4, 5 and 6 "
                           "arrays: the kernel has one switch for them";
            finding.where = to_text(wanted->place);
            notes.add(std::move(finding));
        }
        Setting setting;
        setting.address = address();
        setting.policy = {wanted->place};
        if (policy.is_unmanaged(setting.address, setting.policy)) return {};
        setting.wanted = wanted->text.empty() ? "off" : wanted->text;
        setting.condition = Is{Value{word_of(members.not_vouched.empty() && !wanted->models.empty())}};
        return {setting};
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes&) const override {
        std::vector<Observation> observations;
        for (std::size_t at = 0; at < settings.size(); ++at) {
            observations.push_back(
                {{Plane::live, read_live(host)}, {Plane::persisted, read_persisted(topology, host)}});
        }
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        Remedy remedy;
        for (const auto& difference : differences) {
            const bool on = difference.wanted() == Condition{Is{Value{word_of(true)}}};
            if (difference.plane == Plane::live) {
                remedy.actions.push_back(write_live(difference, on));
            } else {
                persist(difference, on, topology, host, remedy);
            }
        }
        return remedy;
    }

    std::vector<std::string> own_files(Host&) const override { return {std::string(own_file)}; }

    void survey(Host& host) const override {
        const Topology topology(host);
        look_at_members({}, topology, host);
        read_live(host);
        read_persisted(topology, host);
        host.read_file(own_file);
        boot_image(topology, host);
    }

  private:
    static Action write_live(const Difference& difference, bool on) {
        Action action;
        action.verb = Verb::write;
        action.target = live_file;
        action.step = WriteAttribute{action.target, word_of(on)};
        action.serves = {{difference.setting->address, difference.plane}};
        action.says = on ? "let arrays that are assembled from now on pass discards; those that run keep what they have"
                         : "keep discards from arrays that are assembled from now on";
        return action;
    }

    static void persist(const Difference& difference, bool on, const Topology& topology, Host& host, Remedy& remedy) {
        const SettingPlane served{difference.setting->address, difference.plane};
        const auto sources = read_sources(topology, host);
        if (sources.on_command_line) {
            remedy.gaps.push_back({served, std::nullopt,
                                   "overridden by " + sources.found.back().where +
                                       ", the kernel command line, which holds over modprobe.d"});
            return;
        }
        if (const auto winner = sources.behind_own_file(); !winner.empty()) {
            remedy.gaps.push_back({served, std::nullopt,
                                   "overridden by " + winner + ", whose name sorts after ours: the last line wins"});
            return;
        }
        const auto text = host.read_file(own_file);
        Action edit;
        edit.verb = Verb::drop_in;
        edit.target = own_file;
        edit.step =
            EditFile{edit.target, text ? digest_of(*text) : std::string(no_file_digest),
                     OwnLines{address(), "", {"options raid456 " + std::string(parameter) + "=" + word_of(on)}}};
        edit.serves = {served};
        edit.when = When::next_boot;
        edit.says = on ? "load raid456 so that parity arrays pass discards on" : "load raid456 without discards";
        remedy.actions.push_back(std::move(edit));
        const auto& rebuild = boot_image(topology, host).rebuild;
        if (rebuild.program.empty()) return;
        Action image;
        image.verb = Verb::rebuild_initramfs;
        image.target = rebuild.target;
        image.step = rebuild;
        image.serves = {served};
        image.when = When::next_boot;
        image.reads = {std::string(own_file)};
        image.says = "make the initramfs anew, where raid456 is loaded with " + std::string(own_file);
        remedy.actions.push_back(std::move(image));
    }
};

}  // namespace

bool raid456_passes_at_boot(const Topology& topology, Host& host) {
    const auto reading = read_persisted(topology, host);
    const auto* found = std::get_if<Found>(&reading.state);
    return found != nullptr && found->value == Value{word_of(true)};
}

std::unique_ptr<Resource> make_md_raid_resource() {
    return std::make_unique<MdRaidResource>();
}

}  // namespace storpol
