// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/dm_crypt/remedy.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/boot_image.h"
#include "engine/topology/next_boot.h"
#include "engine/topology/topology.h"
#include "resources/dm_crypt/option_edits.h"
#include "resources/dm_crypt/readings.h"
#include "resources/dm_crypt/refresh.h"

namespace storpol {
namespace {

struct Wanted {
    const Difference* difference = nullptr;
    const CryptProperty* property = nullptr;
    bool on = false;

    SettingPlane of() const { return {difference->setting->address, difference->plane}; }

    std::string flag() const { return std::string(property->flag); }
};

void add_unique(std::vector<SettingPlane>& to, const SettingPlane& served) {
    if (std::ranges::find(to, served) == to.end()) to.push_back(served);
}

// Flags of one header that change in one direction.
struct HeaderChange {
    std::vector<std::string> flags;
    std::vector<SettingPlane> serves;

    void add(const Wanted& wanted) {
        if (std::ranges::find(flags, wanted.flag()) == flags.end()) flags.push_back(wanted.flag());
        add_unique(serves, wanted.of());
    }
};

class Planner {
  public:
    Planner(const CryptSubjects& subjects, const Topology& topology, Host& host)
        : subjects_(subjects),
          topology_(topology),
          host_(host),
          mappings_(crypt_mappings(topology, host)),
          edits_(topology, host) {}

    Remedy plan(std::span<const Difference> differences) {
        std::map<std::string, std::vector<Wanted>> by_mapping;
        for (const auto& difference : differences) {
            const auto& subject = subjects_.by_address.at(difference.setting->address);
            by_mapping[subject.mapping].push_back({&difference, subject.property, subject.wants_on});
        }
        for (const auto& [name, wanted] : by_mapping) {
            const auto* mapping = mappings_.find(name);
            if (mapping == nullptr) STORPOL_BUG("no mapping of a setting's name");
            plan_one(*mapping, wanted);
        }
        edits_.finish(remedy_);
        for (const auto& one : remakes_) generate(one);
        return std::move(remedy_);
    }

  private:
    // An artefact to be made anew, for one difference of it.
    struct Remake {
        Wanted wanted;
        Verb verb = Verb::rebuild_initramfs;
        RunGenerator step;
        std::string says;
        std::string reads;
    };

    void cannot(const Wanted& wanted, std::string why) {
        remedy_.gaps.push_back({wanted.of(), std::nullopt, std::move(why)});
    }

    void plan_one(const CryptMapping& mapping, const std::vector<Wanted>& all) {
        const auto& header = mappings_.header_of(mapping);
        const auto never = reason_never_to_discard(mapping, header);
        HeaderChange put_in;
        HeaderChange take_out;
        std::vector<Wanted> live;
        for (const auto& wanted : all) {
            if (wanted.on && wanted.flag() == "allow-discards" && !never.empty()) {
                cannot(wanted, never);
            } else if (wanted.difference->plane == Plane::live) {
                live.push_back(wanted);
            } else if (wanted.on) {
                set(mapping, header, wanted, put_in);
            } else {
                clear(mapping, header, wanted, take_out);
            }
        }
        change_header(mapping, header, put_in, take_out);
        change_live(mapping, header, live);
    }

    bool header_keeps(const LuksHeader& header) const { return header.version == 2 && !subjects_.prefers_crypttab; }

    void set(const CryptMapping& mapping, const LuksHeader& header, const Wanted& wanted, HeaderChange& put_in) {
        if (header_keeps(header)) return put_in.add(wanted);
        if (!header.unknown.empty() && !subjects_.prefers_crypttab) return cannot(wanted, header.unknown);
        if (wanted.difference->plane == Plane::boot) return remake(mapping, wanted);
        const auto* source = mapping.persisted.deciding();
        if (source == nullptr) return cannot(wanted, nobody_opens(mapping));
        auto why = edits_.change(mapping, *source, wanted.flag(), true, {wanted.of()});
        if (!why.empty()) cannot(wanted, std::move(why));
    }

    // The header's flag, and the word of every place that decides: any one of them switches it on.
    void clear(const CryptMapping& mapping, const LuksHeader& header, const Wanted& wanted, HeaderChange& take_out) {
        if (!header.unknown.empty()) return cannot(wanted, header.unknown);
        if (header.flags.contains(wanted.flag())) take_out.add(wanted);
        const bool is_boot = wanted.difference->plane == Plane::boot;
        for (const auto& source : (is_boot ? mapping.boot : mapping.persisted).sources) {
            if (!source.decides || !source.flags.contains(wanted.flag())) continue;
            if (is_boot) {
                remake(mapping, wanted);
                continue;
            }
            auto why = edits_.change(mapping, source, wanted.flag(), false, {wanted.of()});
            if (!why.empty()) cannot(wanted, std::move(why));
        }
    }

    static std::string nobody_opens(const CryptMapping& mapping) {
        if (!mapping.persisted.why_not_opened.empty()) return "nothing opens it: " + mapping.persisted.why_not_opened;
        return "no crypttab line and no word of the kernel command line opens " + printable(mapping.name) +
               ", and it has no LUKS2 header that could keep the option: give it to whatever opens it";
    }

    // The artefact of the next boot, from files that are right or are being made right by this plan.
    void remake(const CryptMapping& mapping, const Wanted& wanted) {
        const auto* at_boot = mapping.boot.deciding();
        const auto* source = mapping.persisted.deciding();
        if (at_boot == nullptr) return cannot(wanted, nobody_opens(mapping));
        if (source == nullptr)
            return cannot(wanted,
                          at_boot->where + " opens it with other options, and no file that it is made from names it");
        // Whatever decides there now: what is to get there is the source's.
        if (source->kind == CryptSource::Kind::crypttab) {
            remakes_.push_back({wanted, Verb::rebuild_initramfs, boot_image(topology_, host_).rebuild,
                                "make the initramfs anew, with " + printable(source->where), source->place.file});
            return;
        }
        const auto& boot = next_boot(topology_, host_);
        if (boot.update) {
            remakes_.push_back({wanted, Verb::update_bootloader, *boot.update,
                                "bring " + printable(source->where) + " into the boot entries", source->place.file});
            return;
        }
        if (at_boot->kind == CryptSource::Kind::crypttab)
            return cannot(wanted, at_boot->where + " opens it with other options than " + printable(source->where) +
                                      ", and the boot entries are made by nothing that is known here");
        // The entry is its own source, or /etc/kernel/cmdline makes only those of kernels to come.
        auto why = edits_.change(mapping, *at_boot, wanted.flag(), wanted.on, {wanted.of()});
        if (!why.empty()) cannot(wanted, std::move(why));
    }

    // Whether the plan leaves what the artefact is made of as it is, though it is not as wanted.
    bool keeps_wrong_source(const SettingPlane& boot) const {
        const SettingPlane persisted{boot.address, Plane::persisted};
        const bool is_served = std::ranges::any_of(remedy_.actions, [&](const Action& action) {
            return std::ranges::find(action.serves, persisted) != action.serves.end();
        });
        return !is_served && std::ranges::any_of(remedy_.gaps, [&](const Gap& gap) { return gap.of == persisted; });
    }

    void generate(const Remake& remake) {
        if (keeps_wrong_source(remake.wanted.of()))
            return cannot(remake.wanted, printable(remake.reads) + ", which it is made of, cannot be changed here");
        Action action;
        action.verb = remake.verb;
        action.target = remake.step.target;
        action.step = remake.step;
        action.serves = {remake.wanted.of()};
        action.when = remake.step.program.empty() ? When::by_operator : When::next_boot;
        action.says = remake.says;
        if (remake.step.program.empty())
            action.says +=
                "; with whatever made it, as that is none of update-initramfs, dracut and mkinitcpio on this host";
        action.reads = {remake.reads};
        remedy_.actions.push_back(std::move(action));
    }

    void change_header(const CryptMapping& mapping,
                       const LuksHeader& header,
                       const HeaderChange& put_in,
                       const HeaderChange& take_out) {
        for (const auto* change : {&put_in, &take_out}) {
            if (change->flags.empty()) continue;
            const bool on = change == &put_in;
            Action action;
            action.verb = on ? Verb::set_luks2_flag : Verb::clear_luks2_flag;
            action.target = mapping.name;
            action.when = When::next_boot;
            action.serves = change->serves;
            SetLuksFlags step;
            step.mapping = mapping.name;
            step.device = header.device;
            step.uuid = header.uuid;
            (on ? step.put_in : step.take_out) = change->flags;
            action.step = std::move(step);
            action.says = std::string(on ? "keep " : "take ") + join(change->flags, ", ") + (on ? " in" : " out of") +
                          " the " + printable(header.where()) + ", for every program that opens it" +
                          kept(header, *change);
            remedy_.actions.push_back(std::move(action));
        }
    }

    static std::string kept(const LuksHeader& header, const HeaderChange& change) {
        std::vector<std::string> others;
        for (const auto& flag : header.flags) {
            if (std::ranges::find(change.flags, flag) == change.flags.end()) others.push_back(printable(flag));
        }
        return others.empty() ? "" : "; " + join(others, ", ") + " stays";
    }

    // The open mapping. Where a key must be asked for, the rest comes with the next boot or by a person.
    void change_live(const CryptMapping& mapping, const LuksHeader& header, const std::vector<Wanted>& live) {
        if (live.empty()) return;
        const auto flags = live_crypt_flags(host_, mapping);
        std::vector<Wanted> of_table;
        std::vector<Wanted> of_followers;  // the table is right, and what lies above has not taken it up
        for (const auto& wanted : live) {
            const bool is_right = flags && flags->contains(wanted.flag()) == wanted.on;
            (is_right ? of_followers : of_table).push_back(wanted);
        }
        When when = When::now;
        if (!of_table.empty()) {
            if (auto why = reason_not_to_refresh(mapping, header); !why.empty()) {
                for (const auto& wanted : of_table) wait_or_not(mapping, wanted, why);
                of_table.clear();
            } else {
                when = refresh(mapping, header, *flags, of_table);
            }
        }
        for (const auto& wanted : live) {
            if (wanted.flag() != "allow-discards") continue;
            const bool planned =
                std::ranges::any_of(of_table, [&](const Wanted& one) { return one.of() == wanted.of(); });
            const bool stale =
                std::ranges::any_of(of_followers, [&](const Wanted& one) { return one.of() == wanted.of(); });
            if (planned || stale) reload_followers(mapping, wanted, planned ? when : When::now);
        }
    }

    static std::string reason_not_to_refresh(const CryptMapping& mapping, const LuksHeader& header) {
        if (!header.unknown.empty()) return header.unknown;
        if (header.version == 0) return "only LUKS mappings are changed while they are open";
        if (mapping.live == nullptr || mapping.live->dm_uuid.empty())
            return "which mapping it is cannot be made sure of";
        if (header.is_detached) return "its header is detached";
        return {};
    }

    // What opens it at the next boot will do so as wanted, once this plan is done.
    bool comes_with_boot(const CryptMapping& mapping, const LuksHeader& header) const {
        return header.version == 2 || mapping.persisted.is_opened;
    }

    void wait_or_not(const CryptMapping& mapping, const Wanted& wanted, const std::string& why) {
        const auto& header = mappings_.header_of(mapping);
        Gap gap;
        gap.of = wanted.of();
        if (header.unknown.empty() && comes_with_boot(mapping, header)) {
            gap.waits = When::next_boot;
        } else {
            gap.cannot = why;
        }
        remedy_.gaps.push_back(std::move(gap));
    }

    When refresh(const CryptMapping& mapping,
                 const LuksHeader& header,
                 const std::set<std::string>& now,
                 const std::vector<Wanted>& wanted) {
        auto flags = now;
        RefreshMapping step;
        step.mapping = mapping.name;
        step.dm_uuid = mapping.live->dm_uuid;
        Action action;
        for (const auto& one : wanted) {
            (one.on ? step.put_in : step.take_out).push_back(one.flag());
            if (one.on) flags.insert(one.flag());
            if (!one.on) flags.erase(one.flag());
            action.serves.push_back(one.of());
        }
        const auto key = find_key(host_, mapping, header);
        step.key = key.value_or(KeySource{AskedPassphrase{}});
        action.verb = Verb::refresh_mapping;
        action.target = mapping.name;
        action.when = key ? When::now : When::by_operator;
        action.says = "change the open mapping, which keeps running and keeps its other flags";
        if (!key) {
            action.says +=
                "; it needs the passphrase: storpol apply --ask-passphrase, or " + refresh_command(mapping, flags);
            for (const auto& one : wanted) {
                if (comes_with_boot(mapping, header)) remedy_.gaps.push_back({one.of(), When::next_boot, {}});
            }
        }
        // A flag that the header still has comes back with the refresh.
        action.reads = {mapping.name};
        action.step = std::move(step);
        const auto when = action.when;
        remedy_.actions.push_back(std::move(action));
        return when;
    }

    // Bottom-up: each takes up what the one below it says when it is loaded.
    void reload_followers(const CryptMapping& mapping, const Wanted& wanted, When when) {
        std::vector<std::string> below{mapping.name};
        for (const auto* layer : stale_followers(topology_, host_, *mapping.live, wanted.on)) {
            Action action;
            action.verb = Verb::reload_table;
            action.target = layer->name;
            action.step = ReloadTable{layer->name, layer->dm_uuid};
            action.serves = {wanted.of()};
            action.when = when;
            action.says = "load the same table once more, as " + printable(layer->name) +
                          " holds on to the discard limits that it found below when it was opened";
            action.reads = below;
            below.push_back(layer->name);
            remedy_.actions.push_back(std::move(action));
        }
    }

    const CryptSubjects& subjects_;
    const Topology& topology_;
    Host& host_;
    const CryptMappings& mappings_;
    CryptOptionEdits edits_;
    std::vector<Remake> remakes_;
    Remedy remedy_;
};

}  // namespace

Remedy crypt_remedy(std::span<const Difference> differences,
                    const CryptSubjects& subjects,
                    const Topology& topology,
                    Host& host) {
    return Planner(subjects, topology, host).plan(differences);
}

void survey_crypt_remedy(const Topology& topology, Host& host) {
    const auto& mappings = crypt_mappings(topology, host);
    for (const auto& mapping : mappings.all()) {
        const auto& header = mappings.header_of(mapping);
        find_key(host, mapping, header);
        if (mapping.live == nullptr) continue;
        stale_followers(topology, host, *mapping.live, true);
        stale_followers(topology, host, *mapping.live, false);
        static_cast<void>(live_crypt_flags(host, mapping));
    }
}

}  // namespace storpol
