// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/remedy.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/host/swap_guard.h"
#include "engine/host/zram_state.h"
#include "engine/topology/topology.h"
#include "resources/zram/live.h"
#include "resources/zram/wishes.h"

namespace storpol {
namespace {

// Pages of every architecture divide it, so that the kernel rounds nothing.
constexpr std::uint64_t largest_page = 64U << 10U;

using Differences = std::map<std::string, const Difference*>;  // by property

SettingPlane plane_of(const Difference& difference) {
    return {difference.setting->address, difference.plane};
}

Gap cannot(const Difference& difference, std::string why) {
    return {plane_of(difference), std::nullopt, std::move(why)};
}

std::uint64_t whole_pages(std::int64_t bytes) {
    if (bytes <= 0) return 0;
    return (static_cast<std::uint64_t>(bytes) + largest_page - 1) / largest_page * largest_page;
}

ZramWish wish_of(const Difference& difference, const ZramAddress& address) {
    ZramWish wish;
    wish.device = address.device;
    wish.property = address.property;
    wish.text = difference.setting->wanted;
    wish.number = wanted_number(difference.wanted()).value_or(0);
    if (const auto* is = std::get_if<Is>(&difference.wanted())) wish.slack = is->slack;
    wish.of = plane_of(difference);
    return wish;
}

// All of one device.
class DeviceRemedy {
  public:
    DeviceRemedy(std::string name, Differences live, const Topology& topology, Host& host)
        : name_(std::move(name)),
          live_(std::move(live)),
          topology_(topology),
          host_(host),
          state_(read_zram_state(host, name_)) {}

    // `files`: what is done about the configuration of all devices.
    Remedy close(const Remedy& files) {
        take_files(files);
        drop_what_no_kernel_can();
        if (has_unit()) drop_what_no_unit_does();
        if (live_.empty()) return std::move(remedy_);
        const auto why = why_not();
        if (!why.empty()) {
            for (const auto& [property, difference] : live_) remedy_.gaps.push_back(cannot(*difference, why));
            return std::move(remedy_);
        }
        const bool only_limit = live_.size() == 1 && live_.contains("resident-limit") && state_.is_set_up();
        if (only_limit) {
            write_limit();
        } else if (!guard()) {
            change_device();
        }
        return std::move(remedy_);
    }

  private:
    const ZramPersisted& persisted() const { return zram_persisted(topology_, host_); }

    bool has_unit() const {
        // Others set a device up once, and let go of it.
        return persisted().ownership().kind() == ZramOwnerKind::generator;
    }

    void take_files(const Remedy& files) {
        const auto is_ours = [this](const SettingPlane& of) { return parse_zram_address(of.address).device == name_; };
        for (const auto& gap : files.gaps) {
            if (is_ours(gap.of)) unconfigured_[parse_zram_address(gap.of.address).property] = gap.cannot;
        }
        for (const auto& action : files.actions) {
            if (std::ranges::any_of(action.serves, is_ours)) files_.push_back(action.target);
        }
    }

    void drop_what_no_kernel_can() {
        const auto algorithm = live_.find("algorithm");
        if (algorithm != live_.end() && state_.algorithms) {
            const auto wanted = wanted_word(algorithm->second->wanted());
            const auto& known = state_.algorithms->known;
            if (std::ranges::find(known, wanted) == known.end()) {
                remedy_.gaps.push_back(
                    cannot(*algorithm->second, "this kernel has no " + wanted + ", only " + join(known, ", ")));
                live_.erase(algorithm);
                lacks_algorithm_ = true;
            }
        }
        const auto size = live_.find("size");
        if (size == live_.end()) return;
        const auto why = why_not_so_large(wanted_number(size->second->wanted()).value_or(0), host_);
        if (why.empty()) return;
        remedy_.gaps.push_back(cannot(*size->second, why));
        live_.erase(size);
    }

    void drop_what_no_unit_does() {
        for (const auto& [property, why] : unconfigured_) {
            const auto at = live_.find(property);
            if (at == live_.end()) continue;
            remedy_.gaps.push_back(cannot(*at->second, "zram-generator, which sets it up, will not do it so: " + why));
            live_.erase(at);
        }
    }

    std::string why_not() const {
        const auto& ownership = persisted().ownership();
        if (const auto conflict = ownership.conflict(); !conflict.empty())
            return "two programs set up zram here, " + conflict + ": each fails on the other; take one out";
        if (!ownership.unreadable.empty()) return "what sets up zram here cannot be told: " + ownership.unreadable;
        const auto mounted = zram_mounted_at(name_, topology_);
        if (!mounted.empty()) return "it holds a filesystem that is mounted at " + printable(mounted);
        if (has_unit() && !is_made_at_boot() && files_.empty())
            return "zram-generator, which sets it up, will not do it at all";
        return {};
    }

    bool is_made_at_boot() const {
        const auto size = persisted().read(name_, "size");
        const auto* found = std::get_if<Found>(&size.state);
        return found != nullptr && found->value != Value{std::int64_t{0}};
    }

    void write_limit() {
        const auto& difference = *live_.at("resident-limit");
        Action action;
        action.verb = Verb::write;
        action.target = zram_attribute(name_, "mem_limit");
        action.step =
            WriteAttribute{action.target, std::to_string(whole_pages(wanted_number(difference.wanted()).value_or(0)))};
        action.serves = {plane_of(difference)};
        action.says = "limit the memory that " + name_ + " takes";
        remedy_.actions.push_back(std::move(action));
    }

    // True where what is swapped out cannot come back into memory now.
    bool guard() {
        const auto why = why_not_swap_off(host_, state_.device);
        if (why.empty()) return false;
        for (const auto& [property, difference] : live_) {
            Gap gap = cannot(*difference, why);
            if (!unconfigured_.contains(property)) {
                gap.cannot.clear();
                gap.waits = When::next_boot;
            }
            remedy_.gaps.push_back(std::move(gap));
        }
        return true;
    }

    // What the device is to be in all: what is wanted, else what it is, else what the owner would make of it.
    std::optional<std::int64_t> number(const std::string& property, std::optional<std::int64_t> now) const {
        const auto wanted = live_.find(property);
        if (wanted != live_.end()) return wanted_number(wanted->second->wanted());
        return now ? now : configured_number(property);
    }

    std::optional<std::int64_t> configured_number(const std::string& property) const {
        const auto reading = persisted().read(name_, property);
        const auto* found = std::get_if<Found>(&reading.state);
        const auto* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
        return value == nullptr ? std::nullopt : std::optional<std::int64_t>(*value);
    }

    // A word, or the text of a number; empty where nothing says it.
    std::string configured_word(const std::string& property) const {
        const auto& unseen = zram_unseen(topology_);
        const auto device = unseen.find(name_);
        if (device != unseen.end() && device->second.contains(property)) return device->second.at(property);
        const auto reading = persisted().read(name_, property);
        const auto* found = std::get_if<Found>(&reading.state);
        return found == nullptr ? std::string() : to_text(found->value);
    }

    SetUpZram step() const {
        SetUpZram step;
        step.device = state_.device;
        const bool is_up = state_.is_set_up();
        using Known = std::optional<std::int64_t>;
        step.size = whole_pages(number("size", is_up ? Known(*state_.size) : std::nullopt).value_or(0));
        step.algorithm = algorithm();
        const auto level = configured_word("level");
        const bool takes_level =
            !level.empty() && !lacks_algorithm_ && !step.algorithm.empty() && zram_takes_levels(name_, host_);
        if (takes_level) step.parameters = "level=" + level;
        const auto limit = is_up && state_.memory ? Known(state_.memory->limit) : std::nullopt;
        step.resident_limit = whole_pages(number("resident-limit", limit).value_or(0));
        const auto* area = state_.swap();
        const auto priority = area != nullptr ? Known(area->priority < 0 ? -1 : area->priority) : std::nullopt;
        step.priority =
            static_cast<int>(std::clamp<std::int64_t>(number("priority", priority).value_or(-1), -1, 32767));
        step.discard = discard();
        if (has_unit()) step.unit = zram_setup_unit(ZramOwnerKind::generator, name_);
        return step;
    }

    std::string algorithm() const {
        const auto wanted = live_.find("algorithm");
        if (wanted != live_.end()) return wanted_word(wanted->second->wanted());
        if (state_.is_set_up() && state_.algorithms) return state_.algorithms->selected;
        const auto word = configured_word("algorithm");
        const bool is_known =
            !state_.algorithms || std::ranges::find(state_.algorithms->known, word) != state_.algorithms->known.end();
        return is_known ? word : state_.algorithms->selected;
    }

    std::string discard() const {
        const auto word = configured_word("discard");
        return word == "off" ? std::string() : word;
    }

    void change_device() {
        const bool only_flags = state_.swap() != nullptr &&
                                std::ranges::all_of(live_, [](const auto& one) { return one.first == "priority"; });
        if (only_flags && !has_unit()) return change_flags();
        const auto made = step();
        if (made.size == 0) {
            for (const auto& [property, difference] : live_)
                remedy_.gaps.push_back(cannot(*difference, "the device is not set up, and nothing says its size"));
            return;
        }
        Action action = action_for_all(Verb::set_up_zram);
        action.says = says(made);
        if (!made.unit.empty()) {
            reload(action);
            action.reads = files_;
            action.reads.emplace_back("systemd");
        }
        action.step = made;
        remedy_.actions.push_back(std::move(action));
    }

    void change_flags() {
        Action action = action_for_all(Verb::swap_on);
        UseSwap use;
        use.device = state_.device;
        const auto priority = wanted_number(live_.at("priority")->wanted()).value_or(-1);
        use.priority = static_cast<int>(std::clamp<std::int64_t>(priority, -1, 32767));
        use.discard = discard();
        action.step = use;
        action.says =
            "swap it off and on again with " +
            (use.priority < 0 ? std::string("no priority of its own") : "priority " + std::to_string(use.priority));
        remedy_.actions.push_back(std::move(action));
    }

    Action action_for_all(Verb verb) const {
        Action action;
        action.verb = verb;
        action.target = state_.device;
        action.risk = Risk::guarded;
        for (const auto& [property, difference] : live_) action.serves.push_back(plane_of(*difference));
        return action;
    }

    std::string says(const SetUpZram& made) const {
        const auto size = render_size(static_cast<Bytes>(made.size));
        const auto what = size + (made.algorithm.empty() ? "" : " of " + made.algorithm);
        const auto* area = state_.swap();
        if (!made.unit.empty()) return "have zram-generator set it up anew: " + what;
        if (!state_.is_set_up()) return "set it up as swap: " + what;
        if (area == nullptr) return "reset it and set it up as swap: " + what;
        return "take it out of use (" + std::to_string(area->used_kib / 1024) +
               " MiB come back into memory), reset it, "
               "and set it up anew: " +
               what;
    }

    void reload(const Action& for_what) {
        Action action;
        action.verb = Verb::daemon_reload;
        action.target = "systemd";
        action.step = DaemonReload{};
        action.says = "take up changed unit files";
        action.serves = for_what.serves;
        action.reads = files_;
        remedy_.actions.push_back(std::move(action));
    }

    std::string name_;
    Differences live_;
    const Topology& topology_;
    Host& host_;
    ZramState state_;
    bool lacks_algorithm_ = false;  // another one's level means nothing to the one that takes its place
    std::map<std::string, std::string> unconfigured_;  // why the owner cannot be told to, by property
    std::vector<std::string> files_;
    Remedy remedy_;
};

void append(Remedy& to, Remedy from) {
    for (auto& action : from.actions) to.actions.push_back(std::move(action));
    for (auto& gap : from.gaps) to.gaps.push_back(std::move(gap));
}

// A file that a step of this plan has read takes effect with it.
void show_now(Remedy& remedy) {
    for (auto& file : remedy.actions) {
        if (!is_file_step(file.step)) continue;
        const bool is_read = std::ranges::any_of(remedy.actions, [&](const Action& action) {
            return std::ranges::find(action.reads, file.target) != action.reads.end();
        });
        if (is_read) file.when = When::now;
    }
}

}  // namespace

Remedy zram_remedy(std::span<const Difference> differences, const Topology& topology, Host& host) {
    std::map<std::string, Differences> live;
    std::vector<ZramWish> wishes;
    Remedy remedy;
    for (const auto& difference : differences) {
        const auto address = parse_zram_address(difference.setting->address);
        if (difference.plane == Plane::live) {
            live[address.device][address.property] = &difference;
            continue;
        }
        auto wish = wish_of(difference, address);
        const auto why = address.property == "size" ? why_not_so_large(wish.number, host) : std::string();
        if (!why.empty()) {
            remedy.gaps.push_back(cannot(difference, why));
            continue;
        }
        wishes.push_back(std::move(wish));
    }
    const auto files = wishes.empty() ? Remedy{} : zram_persisted(topology, host).remedy(wishes);
    for (auto& [device, of_device] : live) {
        append(remedy, DeviceRemedy(device, std::move(of_device), topology, host).close(files));
    }
    append(remedy, files);
    show_now(remedy);
    return remedy;
}

const ZramPersisted& zram_persisted(const Topology& topology, Host& host) {
    using Kept = std::unique_ptr<ZramPersisted>;
    return *topology.derived<Kept>([&] { return std::make_unique<ZramPersisted>(topology, host); });
}

std::string why_not_so_large(std::int64_t bytes, Host& host) {
    const auto memory = memory_bytes(host);
    if (!memory || bytes <= 2 * *memory) return {};
    return render_size(bytes) + " is more than twice the memory (" + std::to_string(*memory >> 20U) +
           " MiB): managing it costs memory, and a machine that fills it has none left";
}

std::string zram_mounted_at(std::string_view name, const Topology& topology) {
    const auto& mounts = topology.mounts();
    if (!mounts) return {};
    const auto device = "/dev/" + std::string(name);
    for (const auto& mount : mounts->mounts()) {
        if (mount.source == device) return mount.target;
    }
    return {};
}

}  // namespace storpol
