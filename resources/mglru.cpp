// SPDX-License-Identifier: GPL-3.0-or-later
// mglru.enabled, mglru.min-ttl: the multi-generational LRU (kernel Documentation/admin-guide/mm/multigen_lru.rst).
//   live       /sys/kernel/mm/lru_gen/enabled (bits; bit 0 is the switch) and min_ttl_ms
//   persisted  the `w` line of tmpfiles.d that is first in the order of file names: later ones are dropped as
//   duplicates
// Our own file: /etc/tmpfiles.d/00-storpol.conf, named to be the first.
#include "resources/mglru.h"

#include <array>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/text/tmpfiles_d.h"
#include "engine/topology/config_files.h"
#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::string_view own_file = "/etc/tmpfiles.d/00-storpol.conf";
constexpr std::string_view folder = "/sys/kernel/mm/lru_gen";
constexpr std::string_view why_not = "this kernel is built without MGLRU (CONFIG_LRU_GEN)";

struct Attribute {
    std::string_view property;  // of the address, and the policy's key
    std::string_view file;      // below `folder`

    std::string path() const { return std::string(folder) + "/" + std::string(file); }
};

constexpr std::array attributes{Attribute{"enabled", "enabled"}, Attribute{"min-ttl", "min_ttl_ms"}};

const Attribute& attribute_of(const Setting& setting) {
    for (const auto& attribute : attributes) {
        if (setting.address == make_address("mglru", "", attribute.property)) return attribute;
    }
    STORPOL_BUG("no setting of mglru: " + setting.address);
}

// 0x0007 or 7 or y: kernel mm/vmscan.c, enabled_store() takes both.
std::optional<Value> value_of(const Attribute& attribute, std::string_view text) {
    text = trim(text);
    if (attribute.property == "min-ttl") {
        const auto number = parse_int(text);
        return number && *number >= 0 ? std::optional<Value>(*number) : std::nullopt;
    }
    if (text == "y" || text == "Y") return Value{std::string("on")};
    if (text == "n" || text == "N") return Value{std::string("off")};
    if (text.starts_with("0x")) {
        const auto last = text.back();
        const auto digit = std::string_view("0123456789abcdef").find(last);
        if (digit == std::string_view::npos) return std::nullopt;
        return Value{std::string((digit & 1U) != 0 ? "on" : "off")};
    }
    const auto number = parse_int(text);
    if (!number || *number < 0) return std::nullopt;
    return Value{std::string((*number & 1) != 0 ? "on" : "off")};
}

std::string text_to_write(const Attribute& attribute, const Condition& wanted) {
    const auto text = to_text(std::get<Is>(wanted).value);
    if (attribute.property == "min-ttl") return text;
    return text == "on" ? "y" : "n";
}

Reading read_live(const Attribute& attribute, Host& host) {
    Reading reading;
    reading.source = attribute.path();
    const auto text = host.read_file(reading.source);
    if (!text && text.error().kind == ErrorKind::no_such_file) {
        reading.state = Absent{std::string(why_not)};
        return reading;
    }
    const auto value = text ? value_of(attribute, *text) : std::nullopt;
    if (!text) {
        reading.state = Unknown{text.error().what};
    } else if (!value) {
        reading.state = Unknown{"the kernel's text is not a value: " + printable(trim(*text))};
    } else {
        reading.state = Found{*value, std::string(trim(*text))};
    }
    return reading;
}

struct PlacedWrite {
    std::string name;   // of the file, which gives it its place in the order
    std::string where;  // FILE:LINE
    TmpfilesWrite write;
};

// Every line for one path, the one that is applied first.
struct Lines {
    std::vector<PlacedWrite> lines;
    std::string unreadable;
};

Lines lines_for(const std::string& path, Host& host) {
    static constexpr std::array<std::string_view, 4> folders{"/etc/tmpfiles.d", "/run/tmpfiles.d",
                                                             "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d"};
    Lines found;
    const auto files = list_config_files(host, folders, is_conf_name);
    if (!files.unreadable.empty()) found.unreadable = files.unreadable.front();
    for (const auto& [name, file] : files.paths) {
        const auto text = host.read_file_resolved(file);
        if (!text) {
            if (text.error().kind != ErrorKind::no_such_file) found.unreadable = text.error().what;
            continue;
        }
        for (auto& write : parse_tmpfiles_writes(text->bytes)) {
            if (!glob_match(write.path, path)) continue;
            auto where = text->path + ":" + std::to_string(write.line);
            found.lines.push_back({name, std::move(where), std::move(write)});
        }
    }
    return found;
}

Reading read_persisted(const Attribute& attribute, Host& host) {
    Reading reading;
    const auto found = lines_for(attribute.path(), host);
    if (!found.unreadable.empty()) {
        reading.state = Unknown{found.unreadable};
        return reading;
    }
    if (found.lines.empty()) {
        // The kernel's own: off but for CONFIG_LRU_GEN_ENABLED, and no minimum.
        std::optional<Value> by_itself;
        if (attribute.property == "min-ttl") by_itself = Value{std::int64_t{0}};
        reading.state = Unset{by_itself, by_itself ? "kernel default" : ""};
        return reading;
    }
    const auto& first = found.lines.front().write;
    reading.source = found.lines.front().where;
    for (std::size_t at = 1; at < found.lines.size(); ++at) reading.shadows.push_back(found.lines[at].where);
    const auto value = first.argument ? value_of(attribute, *first.argument) : std::nullopt;
    if (value) {
        reading.state = Found{*value, first.written};
    } else {
        reading.state = Unknown{"what this line writes cannot be told: " + printable(first.written)};
    }
    return reading;
}

class MglruResource final : public Resource {
  public:
    std::string_view domain() const override { return "mglru"; }

    PolicyKeys keys() const override {
        Key mglru =
            key_of("mglru", KeyType::table, "The multi-generational LRU, the kernel's newer page reclaim (Linux 6.1).");
        mglru.keys = {
            key_of("enabled", KeyType::boolean, "Whether the kernel reclaims memory by generations of pages."),
            key_of(
                "min-ttl", KeyType::duration,
                "How long a working set is kept at least. Where it no longer fits, the kernel kills a process rather "
                "than evict it: quick to answer, and at the cost of that process. \"0ms\" is off."),
        };
        return {{mglru}};
    }

    std::vector<Setting> settings(const Policy& policy, const Topology&, Host& host, Notes& notes) const override {
        std::vector<Setting> settings;
        const auto* table = policy.find("mglru");
        if (table == nullptr || table->table() == nullptr) return settings;
        for (const auto& attribute : attributes) {
            const auto* node = table->table()->find(attribute.property);
            if (node == nullptr) continue;
            Setting setting;
            setting.address = make_address("mglru", "", attribute.property);
            setting.policy = {node->place};
            if (policy.is_unmanaged(setting.address, setting.policy)) continue;
            setting.wanted = node->text;
            setting.condition = wanted_of(attribute, node->text);
            settings.push_back(std::move(setting));
        }
        note_off(settings, host, notes);
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology&,
                                     Host& host,
                                     Notes&) const override {
        std::vector<Observation> observations;
        for (const auto& setting : settings) {
            const auto& attribute = attribute_of(setting);
            Observation observation;
            observation[Plane::live] = read_live(attribute, host);
            observation[Plane::persisted] = read_persisted(attribute, host);
            const bool is_missing = std::holds_alternative<Absent>(observation[Plane::live].state);
            if (is_missing) observation[Plane::persisted].state = Absent{std::string(why_not)};
            observations.push_back(std::move(observation));
        }
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology&, Host& host) const override {
        Remedy remedy;
        const auto own = host.read_file(own_file);
        for (const auto& difference : differences) {
            const auto& attribute = attribute_of(*difference.setting);
            const auto text = text_to_write(attribute, difference.wanted());
            if (difference.plane == Plane::persisted) {
                const auto winner = read_before_ours(attribute, host);
                if (!winner.empty()) {
                    remedy.gaps.push_back(
                        {{difference.setting->address, difference.plane},
                         std::nullopt,
                         "overridden by " + winner + ", whose name sorts before ours: the first line wins"});
                    continue;
                }
            }
            Action action;
            action.serves = {{difference.setting->address, difference.plane}};
            if (difference.plane == Plane::live) {
                action.verb = Verb::write;
                action.target = attribute.path();
                action.step = WriteAttribute{action.target, text};
                action.says = "set MGLRU's " + std::string(attribute.property) + " in the running kernel";
            } else {
                action.verb = Verb::drop_in;
                action.target = own_file;
                action.when = When::next_boot;
                action.step =
                    EditFile{action.target, own ? digest_of(*own) : std::string(no_file_digest),
                             OwnLines{difference.setting->address,
                                      "",
                                      {"w " + attribute.path() + " - - - - " + render_tmpfiles_argument(text)}}};
                action.says = "set MGLRU's " + std::string(attribute.property) + " at boot";
            }
            remedy.actions.push_back(std::move(action));
        }
        return remedy;
    }

    std::vector<std::string> own_files(Host&) const override { return {std::string(own_file)}; }

    void survey(Host& host) const override {
        host.read_file(own_file);
        for (const auto& attribute : attributes) {
            read_live(attribute, host);
            read_persisted(attribute, host);
        }
    }

  private:
    // A line of somebody else's that is applied before ours would be, as FILE:LINE.
    static std::string read_before_ours(const Attribute& attribute, Host& host) {
        const std::string own_name(own_file.substr(own_file.rfind('/') + 1));
        const auto found = lines_for(attribute.path(), host);
        return !found.lines.empty() && found.lines.front().name < own_name ? found.lines.front().where : std::string();
    }

    // The kernel keeps the time in jiffies: it rounds up to a multiple of 4 or 10 ms.
    static Condition wanted_of(const Attribute& attribute, const std::string& text) {
        if (attribute.property == "enabled") return Is{Value{std::string(text == "true" ? "on" : "off")}};
        const auto duration = parse_duration(text);
        const auto ms = duration ? std::chrono::duration_cast<std::chrono::milliseconds>(*duration).count() : 0;
        return Is{Value{static_cast<std::int64_t>(ms)}, ms == 0 ? 0 : 10};
    }

    static void note_off(const std::vector<Setting>& settings, Host& host, Notes& notes) {
        const auto switch_address = make_address("mglru", "", "enabled");
        for (const auto& setting : settings) {
            if (setting.address == switch_address) return;
        }
        if (settings.empty()) return;
        const auto live = read_live(attributes[0], host);
        const auto* found = std::get_if<Found>(&live.state);
        if (found == nullptr || found->value != Value{std::string("off")}) return;
        Finding finding;
        finding.code = "mglru-off";
        finding.says = "min-ttl means nothing while MGLRU is off; add enabled = true to [mglru]";
        finding.where = live.source;
        notes.add(std::move(finding));
    }
};

}  // namespace

std::unique_ptr<Resource> make_mglru_resource() {
    return std::make_unique<MglruResource>();
}

}  // namespace storpol
