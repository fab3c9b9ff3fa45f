// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/persisted.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/swaps.h"
#include "engine/text/fstab.h"
#include "engine/topology/next_boot.h"
#include "resources/zram/plane.h"

namespace storpol {

struct ZramPersisted::State {
    ZramOwnership ownership;
    std::unique_ptr<ZramPlane> plane;                           // none where storpol does not configure the owner
    std::string unknown;                                        // why nothing can be told
    std::vector<std::pair<std::string, std::string>> in_fstab;  // device and FILE:LINE
};

namespace {

std::unique_ptr<ZramPlane> plane_of(ZramOwnerKind kind, Host& host, const ZramBootLine& boot) {
    switch (kind) {
        case ZramOwnerKind::generator:
            return make_zram_generator_plane(host, boot);
        case ZramOwnerKind::zram_tools:
        case ZramOwnerKind::zram_init:
            return make_zram_script_plane(host, kind);
        case ZramOwnerKind::own_unit:
            return make_zram_unit_plane(host);
        case ZramOwnerKind::zram_config:
        case ZramOwnerKind::pop:
        case ZramOwnerKind::declarative:
        case ZramOwnerKind::udev_rule:
        case ZramOwnerKind::foreign:
            break;
    }
    return nullptr;
}

// What people do about an owner that storpol does not configure.
std::string advice_of(ZramOwnerKind kind) {
    if (kind == ZramOwnerKind::declarative) return "set zramSwap in the system's own configuration";
    if (kind == ZramOwnerKind::zram_config)
        return "it has no configuration and takes half of the memory; install "
               "systemd-zram-generator in its place";
    if (kind == ZramOwnerKind::pop)
        return "its file is /etc/default/pop-zram; it sets vm.swappiness and vm.page-cluster "
               "after sysctl.d, too";
    if (kind == ZramOwnerKind::udev_rule) return "take the rule out, so that zram-generator or storpol can set zram up";
    return "storpol does not know its configuration";
}

// The running kernel's where no entry of a boot loader can be told. zram-generator alone takes a word of it.
ZramBootLine next_boot_line(const Topology& topology, Host& host) {
    auto running = running_boot_line(host);
    if (!has_zram_generator(host)) return running;
    const auto& boot = next_boot(topology, host);
    const bool is_known = boot.loader != NextBoot::Loader::none && boot.unknown.empty() &&
                          boot.command_line.unknown.empty() && !boot.command_line.arguments.empty();
    if (!is_known) return running;
    ZramBootLine line;
    line.source = to_text(boot.command_line.place);
    for (const auto& argument : boot.command_line.arguments) line.words += argument.word + " ";
    return line;
}

}  // namespace

ZramPersisted::ZramPersisted(const Topology& topology, Host& host)
    : ZramPersisted(host, next_boot_line(topology, host)) {}

ZramPersisted::ZramPersisted(Host& host, const ZramBootLine& boot) : state_(std::make_unique<State>()) {
    if (const auto fstab = host.read_file_resolved("/etc/fstab")) {
        for (const auto& entry : parse_fstab(fstab->bytes).entries) {
            if (!entry.source.starts_with("/dev/zram")) continue;
            state_->in_fstab.emplace_back(entry.source.substr(5), fstab->path + ":" + std::to_string(entry.line));
        }
    }
    state_->ownership = read_zram_ownership(host, boot);
    const auto& ownership = state_->ownership;
    const auto kind = ownership.kind();
    if (const auto conflict = ownership.conflict(); !conflict.empty()) {
        state_->unknown = "several programs set up zram on this host, and which one wins cannot be told: " + conflict;
    } else if (!ownership.unreadable.empty()) {
        state_->unknown = "what sets up zram here cannot be told: " + ownership.unreadable;
    } else if (!kind) {
        state_->unknown = "nothing that storpol knows sets up zram on this host, and there is no systemd to do it with";
    } else if (!is_configured_here(*kind)) {
        const auto* owner = ownership.owner();
        state_->unknown = owner->name + " (" + owner->where + ") sets up zram here: " + advice_of(*kind);
    } else {
        state_->plane = plane_of(*kind, host, boot);
    }
}

ZramPersisted::~ZramPersisted() = default;

const ZramOwnership& ZramPersisted::ownership() const {
    return state_->ownership;
}

Reading ZramPersisted::read(std::string_view device, std::string_view property) const {
    if (!state_->plane) return zram_unknown(state_->unknown);
    return state_->plane->read(std::string(device), property);
}

std::vector<Finding> ZramPersisted::findings(std::span<const std::string> devices) const {
    std::vector<Finding> findings;
    const auto& ownership = state_->ownership;
    if (const auto conflict = ownership.conflict(); !conflict.empty()) {
        findings.push_back(
            zram_finding("zram-several-owners",
                         "several programs set up zram here, and each fails on the device of the other: " + conflict +
                             "; disable all but one",
                         ownership.owners.front().where));
    } else if (const auto* owner = ownership.owner(); owner != nullptr && !is_configured_here(owner->kind)) {
        findings.push_back(
            zram_finding("zram-owner-not-managed",
                         "zram is set up by " + owner->name + ", which storpol leaves alone: " + advice_of(owner->kind),
                         owner->where));
    }
    if (!ownership.stray_configuration.empty()) {
        findings.push_back(zram_finding("zram-configuration-unread",
                                        "nothing reads this, as zram-generator is not installed (Debian: "
                                        "systemd-zram-generator)",
                                        ownership.stray_configuration));
    }
    for (const auto& [name, where] : state_->in_fstab) {
        if (std::ranges::find(devices, name) == devices.end()) continue;
        findings.push_back(zram_finding("zram-in-fstab",
                                        "this line takes /dev/" + printable(name) +
                                            " into use whether it is set up by then or not, in the way of the unit of "
                                            "what sets it up; take it out",
                                        where));
    }
    if (state_->plane) state_->plane->find(devices, findings);
    return findings;
}

Remedy ZramPersisted::remedy(std::span<const ZramWish> wishes) const {
    if (state_->plane) return state_->plane->remedy(wishes);
    Remedy remedy;
    for (const auto& wish : wishes) remedy.gaps.push_back(zram_gap(wish, state_->unknown));
    return remedy;
}

std::vector<std::string> ZramPersisted::devices() const {
    return state_->plane ? state_->plane->devices() : std::vector<std::string>{};
}

Gap zram_gap(const ZramWish& wish, std::string why) {
    Gap gap;
    gap.of = wish.of;
    gap.cannot = std::move(why);
    return gap;
}

Reading zram_found(Value value, std::string raw, std::string source) {
    Reading reading;
    reading.state = Found{std::move(value), std::move(raw)};
    reading.source = std::move(source);
    return reading;
}

Reading zram_unset(std::optional<Value> default_value, std::string from, std::string source) {
    Reading reading;
    reading.state = Unset{std::move(default_value), std::move(from)};
    reading.source = std::move(source);
    return reading;
}

Reading zram_unknown(std::string why, std::string source) {
    Reading reading;
    reading.state = Unknown{std::move(why)};
    reading.source = std::move(source);
    return reading;
}

Finding zram_finding(std::string code, std::string says, std::string where) {
    Finding finding;
    finding.code = std::move(code);
    finding.says = std::move(says);
    finding.where = std::move(where);
    return finding;
}

bool fulfils(const Reading& reading, const ZramWish& wish) {
    constexpr std::int64_t mib = std::int64_t{1} << 20U;
    const auto* found = std::get_if<Found>(&reading.state);
    const auto* unset = std::get_if<Unset>(&reading.state);
    const Value* value = found != nullptr ? &found->value : nullptr;
    if (unset != nullptr && unset->default_value) value = &*unset->default_value;
    if (value == nullptr) return false;
    const auto* number = std::get_if<std::int64_t>(value);
    if (number == nullptr) return std::get<std::string>(*value) == wish.text;
    const bool is_size = wish.property == "size" || wish.property == "resident-limit";
    const auto slack = is_size ? std::max(wish.slack, mib) : 0;
    return *number >= wish.number - slack && *number <= wish.number + slack;
}

std::optional<Value> zram_default_level(std::string_view algorithm) {
    // ZSTD_defaultCLevel(), LZ4_ACCELERATION_DEFAULT, LZ4HC_DEFAULT_CLEVEL (kernel drivers/block/zram/backend_*.c).
    if (algorithm == "zstd") return Value{std::int64_t{3}};
    if (algorithm == "lz4") return Value{std::int64_t{1}};
    if (algorithm == "lz4hc") return Value{std::int64_t{9}};
    return std::nullopt;
}

std::optional<std::uint64_t> zram_memory_kib(Host& host) {
    const auto text = host.read_file("/proc/meminfo");
    const auto total = text ? meminfo_kib(*text, "MemTotal") : std::nullopt;
    return total && *total > 0 ? std::optional(static_cast<std::uint64_t>(*total)) : std::nullopt;
}

}  // namespace storpol
