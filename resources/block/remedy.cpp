// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/remedy.h"

#include <algorithm>
#include <map>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "engine/text/own_file.h"
#include "engine/text/udev_rules.h"
#include "engine/topology/topology.h"
#include "resources/block/rule.h"
#include "resources/block/tuned_disks.h"

namespace storpol {
namespace {

Gap gap_of(const Difference& difference, std::string cannot) {
    Gap gap;
    gap.of = {difference.setting->address, difference.plane};
    gap.cannot = std::move(cannot);
    return gap;
}

// The value that makes a Condition hold: a bound itself where the found value breaks it.
std::optional<Value> value_for(const Condition& condition) {
    if (const auto* is = std::get_if<Is>(&condition)) return is->value;
    if (const auto* least = std::get_if<AtLeast>(&condition)) return Value{least->bound};
    if (const auto* most = std::get_if<AtMost>(&condition)) return Value{most->bound};
    return std::nullopt;
}

// A line of our rules file with the address that heads it.
struct RuleLine {
    std::string address;
    std::string text;
    std::string note;  // for the plan: why a line is for one disk
};

std::string render_line(const BlockAttribute& attribute, const std::string& match, const std::string& value) {
    // The boot adds devices, a later trigger changes them; partitions have no queue of their own.
    const std::string devices = attribute.subsystem == "block"
                                    ? "SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", "
                                    : "SUBSYSTEM==\"" + std::string(attribute.subsystem) + "\", ";
    return "ACTION==\"add|change\", " + devices + match + ", ATTR{" + std::string(attribute.udev) +
           "}=" + quote_udev(value);
}

// The rule's own words where udev has them and can decide; else this disk by its WWN or serial.
std::optional<RuleLine> line_for(const Setting& setting, const BlockTarget& target, const std::string& value) {
    const auto rule = parse_rule_address(setting.own_address);
    const bool is_bound = !std::holds_alternative<Is>(setting.condition);
    const bool named_by_mapping =
        rule && rule->name && target.disk != nullptr && !glob_match(*rule->name, target.disk->device.name);
    if (rule && !is_bound && !named_by_mapping) {
        if (const auto match = rule->udev_match())
            return RuleLine{setting.own_address, render_line(*target.attribute, *match, value), ""};
    }
    if (target.disk == nullptr) return std::nullopt;
    const auto match = udev_match_of(*target.disk);
    if (!match) return std::nullopt;
    const auto* why = is_bound ? "udev cannot compare numbers" : "udev has no words for the rule's match";
    return RuleLine{setting.address, render_line(*target.attribute, *match, value),
                    std::string(why) + ", so the line names this one disk"};
}

class Planner {
  public:
    Planner(const Topology& topology, Host& host)
        : host_(host),
          targets_(block_targets(topology, host)),
          tuned_(tuned_disks(topology, host)),
          schedulers_(host),
          order_(topology.derived<BlockLineOrder>([] { return BlockLineOrder{}; }).addresses) {
        if (auto file = host.read_file_resolved(block_rules_path)) {
            own_text_ = file->bytes;
            digest_ = digest_of(own_text_);
        }
        own_ = OwnFile::parse(own_text_);
    }

    Remedy plan(std::span<const Difference> differences) {
        std::vector<const Difference*> persisted;
        for (const auto& difference : differences) {
            if (auto why = impossible(difference); !why.empty()) {
                remedy_.gaps.push_back(gap_of(difference, std::move(why)));
            } else if (difference.plane == Plane::live) {
                write_live(difference);
            } else {
                persisted.push_back(&difference);
            }
        }
        write_rules(persisted);
        return std::move(remedy_);
    }

  private:
    std::string impossible(const Difference& difference) const {
        const auto value = value_for(difference.wanted());
        if (!value) return "no value makes it hold";
        const auto target = targets_.of(*difference.setting);
        if (target.attribute->key != "scheduler") return {};
        const auto name = to_text(*value);
        if (schedulers_.is_available(name)) return {};
        return "kernel " + schedulers_.kernel() + " has no scheduler " + name + ", neither built in nor as a module";
    }

    void write_live(const Difference& difference) {
        const auto target = targets_.of(*difference.setting);
        const auto path = attribute_path(host_, *target.disk, *target.attribute);
        const auto status =
            path ? host_.stat(*path) : Result<FileStat>(fail(ErrorKind::no_such_file, "no such attribute"));
        if (status && (status->mode & 0222U) == 0) {
            return remedy_.gaps.push_back(gap_of(difference, *path + " is read-only on this kernel"));
        }
        Action action;
        action.verb = Verb::write;
        action.target = *path;
        action.step = WriteAttribute{*path, target.attribute->render(*value_for(difference.wanted()))};
        action.serves = {{difference.setting->address, Plane::live}};
        action.says = "set " + std::string(target.attribute->key) + " of " + target.disk->name + " to " +
                      std::get<WriteAttribute>(action.step).value;
        if (target.attribute->key == "scheduler") {
            action.undo = undo_of_scheduler(*target.disk, *path);
        } else {
            if (target.attribute->key == "discard-max") action.undo = undo_of_discard_max(*target.disk, *path);
            // A new scheduler resets nr_requests, so it comes first.
            action.reads = {target.disk->device.sysfs + "/queue/scheduler"};
        }
        remedy_.actions.push_back(std::move(action));
    }

    // The old scheduler, then the number of requests it had: choosing a scheduler resets that.
    std::vector<Step> undo_of_scheduler(const Disk& disk, const std::string& path) const {
        std::vector<Step> undo;
        const auto text = host_.read_file(path);
        const auto old = text ? find_block_attribute("scheduler")->parse(*text) : std::nullopt;
        if (!old) return undo;
        undo.emplace_back(WriteAttribute{path, to_text(*old)});
        const auto requests_path = disk.device.sysfs + "/queue/nr_requests";
        if (const auto requests = host_.read_file(requests_path))
            undo.emplace_back(WriteAttribute{requests_path, std::string(trim(*requests))});
        return undo;
    }

    // The limit that a driver sets may be none that can be written.
    std::vector<Step> undo_of_discard_max(const Disk& disk, const std::string& path) const {
        const auto text = host_.read_file(path);
        const auto old = text ? parse_int(trim(*text)) : std::nullopt;
        const auto unit_text = queue_attribute(host_, disk.device, "discard_granularity");
        const auto unit = unit_text ? parse_int(*unit_text) : std::nullopt;
        if (!old || !unit || *old <= 0 || *unit <= 0) return {};
        const auto value = writable_discard_limit(static_cast<std::uint64_t>(*old), static_cast<std::uint64_t>(*unit));
        return {WriteAttribute{path, std::to_string(value)}};
    }

    void write_rules(const std::vector<const Difference*>& differences) {
        std::map<std::string, std::vector<const Difference*>> by_line;  // several disks share a rule's line
        std::map<std::string, RuleLine> lines;
        for (const auto* difference : differences) {
            const auto target = targets_.of(*difference->setting);
            const auto line =
                line_for(*difference->setting, target, target.attribute->render(*value_for(difference->wanted())));
            if (!line) {
                remedy_.gaps.push_back(
                    gap_of(*difference, "udev cannot tell this device from others: it has neither WWN nor serial"));
                continue;
            }
            by_line[line->address].push_back(difference);
            lines.insert_or_assign(line->address, *line);
        }
        std::vector<RuleLine> in_order;
        for (const auto& [address, line] : lines) in_order.push_back(line);
        std::ranges::stable_sort(in_order, {}, [this](const RuleLine& line) { return rank(line.address); });
        for (const auto& line : in_order) static_cast<void>(own_.set("", line.address, {line.text}));
        const auto moved = put_in_order();
        const auto then = read_udev_files(host_, own_.render());
        for (const auto& line : in_order) add_line(line, by_line[line.address], then);
        if (remedy_.actions.empty()) return;
        for (const auto& entry : moved) move_to_end(entry, moved.front());
    }

    // The place of a line among ours: first what this policy does not name, then the policy's rules in its order, then
    // lines for one disk, which are exceptions to them.
    std::size_t rank(const std::string& address) const {
        const auto at = std::ranges::find(order_, address);
        if (at != order_.end()) return 1 + static_cast<std::size_t>(at - order_.begin());
        return targets_.is_of_disk(address) ? order_.size() + 1 : 0;
    }

    // Moves entries to the end until all stand in order; answers those moved, in the order of their moves.
    std::vector<OwnFile::Entry> put_in_order() {
        auto entries = own_.entries();
        const auto by_rank = [this](const OwnFile::Entry& entry) { return rank(entry.address); };
        if (std::ranges::is_sorted(entries, {}, by_rank)) return {};
        std::ranges::stable_sort(entries, {}, by_rank);
        for (const auto& entry : entries) {
            own_.remove(entry.section, entry.address);
            static_cast<void>(own_.set(entry.section, entry.address, entry.lines));
        }
        return entries;
    }

    // As edits of the file, beside the action that made the move necessary.
    void move_to_end(const OwnFile::Entry& entry, const OwnFile::Entry& first) {
        Action action;
        action.verb = Verb::drop_in;
        action.target = block_rules_path;
        action.when = When::next_boot;
        action.serves = remedy_.actions.back().serves;
        if (&entry == &first) action.says = "keep the lines in the policy's order";
        for (const auto& lines : {std::vector<std::string>{}, entry.lines}) {
            action.step =
                EditFile{std::string(block_rules_path), digest_, OwnLines{entry.address, entry.section, lines}};
            remedy_.actions.push_back(action);
            action.says.clear();
        }
    }

    // Our line, unless the rules with it still come to something else: then it is said who wins, and a line that is
    // there already is left alone.
    void add_line(const RuleLine& line, const std::vector<const Difference*>& differences, const UdevRulesFiles& then) {
        Action action;
        action.verb = Verb::drop_in;
        action.target = block_rules_path;
        action.when = When::next_boot;
        for (const auto* difference : differences) {
            const auto target = targets_.of(*difference->setting);
            if (target.disk != nullptr) {
                const auto outcome = judge_for_disk(host_, then, *target.disk, *target.attribute);
                auto winner = outcome.source;
                const bool is_ours = outcome.kind != UdevOutcome::Kind::unknown && winner.starts_with(block_rules_path);
                if (is_ours) winner = tuned_over(*difference, target);
                if (!is_ours || !winner.empty()) {
                    remedy_.gaps.push_back(
                        gap_of(*difference, "overridden by " + (winner.empty() ? "other rules" : winner)));
                    continue;
                }
            }
            action.serves.push_back({difference->setting->address, Plane::persisted});
        }
        if (action.serves.empty()) return;
        action.step = EditFile{std::string(block_rules_path), digest_, OwnLines{line.address, "", {line.text}}};
        action.says =
            "let udev set it at boot and when the disk appears" + (line.note.empty() ? "" : " (" + line.note + ")");
        remedy_.actions.push_back(std::move(action));
    }

    // The line of the TuneD profile after which our rule's value would not hold; empty where it does.
    std::string tuned_over(const Difference& difference, const BlockTarget& target) const {
        if (!tuned_.is_active()) return {};
        const Reading ours{Found{*value_for(difference.wanted()), ""}, std::string(block_rules_path), {}};
        const auto live = live_block_reading(host_, *target.disk, *target.attribute);
        const auto then = tuned_.after(ours, live, *target.disk, *target.attribute);
        return compare(difference.wanted(), then) == Verdict::in_sync ? "" : then.source;
    }

    Host& host_;
    const BlockTargets& targets_;
    const TunedDisks& tuned_;
    SchedulerSupport schedulers_;
    const std::vector<std::string>& order_;
    std::string own_text_;
    std::string digest_{no_file_digest};
    OwnFile own_;
    Remedy remedy_;
};

}  // namespace

BlockTargets::BlockTargets(Host& host) : disks_(read_disks(host)) {
    for (const auto& disk : disks_) {
        for (const auto& attribute : block_attributes()) {
            by_address_.emplace(make_address("block", disk.name, attribute.key), BlockTarget{&disk, &attribute});
        }
    }
}

BlockTarget BlockTargets::of(const Setting& setting) const {
    if (const auto found = by_address_.find(setting.address); found != by_address_.end()) return found->second;
    const auto dot = setting.address.rfind('.');
    const auto* attribute = find_block_attribute(std::string_view(setting.address).substr(dot + 1));
    if (attribute == nullptr) STORPOL_BUG("no block attribute for the address " + setting.address);
    return {nullptr, attribute};
}

SchedulerSupport::SchedulerSupport(Host& host) {
    std::string release;
    if (const auto running = host.read_file("/proc/sys/kernel/osrelease")) {
        release = trim(*running);
    } else if (const auto installed = host.list("/usr/lib/modules"); installed && !installed->empty()) {
        release = installed->back();  // an image: the newest by name
    }
    kernel_ = release;
    for (const auto* list : {"/modules.builtin", "/modules.dep"}) {
        if (const auto text = host.read_file("/lib/modules/" + release + list))
            modules_ = modules_.value_or("") + *text;
    }
    for (const auto& disk : list_disks(host)) {
        if (const auto offered = host.read_file(disk.sysfs + "/queue/scheduler")) loaded_.push_back(*offered);
    }
}

bool SchedulerSupport::is_available(std::string_view scheduler) const {
    if (scheduler == "none" || !modules_) return true;
    const auto offers = [&](const std::string& text) { return text.find(scheduler) != std::string::npos; };
    if (std::ranges::any_of(loaded_, offers)) return true;
    // kernel/block/bfq.ko, kyber-iosched.ko, mq-deadline.ko, with any compression behind it.
    return modules_->find("/" + std::string(scheduler) + ".ko") != std::string::npos ||
           modules_->find("/" + std::string(scheduler) + "-iosched.ko") != std::string::npos;
}

Reading own_rule_reading(const Setting& setting, const UdevRulesFiles& rules) {
    const BlockTarget target{
        nullptr, find_block_attribute(std::string_view(setting.address).substr(setting.address.rfind('.') + 1))};
    const auto value = value_for(setting.condition);
    const auto line = value ? line_for(setting, target, target.attribute->render(*value)) : std::nullopt;
    const auto wanted = line ? parse_udev_rules(line->text) : UdevRules{};
    if (!rules.unreadable.empty())
        return {
            Unknown{"cannot read " + rules.unreadable.front() + ", which may set it"}, rules.unreadable.front(), {}};
    Reading reading{Unset{}, "", {}};
    for (const auto& file : rules.files) {
        for (const auto& rule : file.rules.rules) {
            const auto sets = std::ranges::find_if(rule.tokens, [&](const UdevToken& token) {
                return token.key == "ATTR" && !token.is_match() && token.attribute == target.attribute->udev;
            });
            if (sets == rule.tokens.end()) continue;
            const auto source = file.path + ":" + std::to_string(rule.line);
            if (!wanted.rules.empty() && rule.tokens == wanted.rules.front().tokens) {
                reading = {Found{*value, sets->value}, source, {}};
            } else if (file.path > block_rules_path && !std::holds_alternative<Unset>(reading.state)) {
                reading = {Unknown{"whether the later rule at " + source +
                                   " meets the same disks is only known with the disks"},
                           source,
                           {}};
            }
        }
    }
    return reading;
}

const BlockTargets& block_targets(const Topology& topology, Host& host) {
    return topology.derived<BlockTargets>([&] { return BlockTargets(host); });
}

void survey_block_remedy(Host& host) {
    const SchedulerSupport schedulers(host);
    static_cast<void>(schedulers.is_available("bfq"));
    read_udev_files(host, "");
    for (const auto& disk : read_disks(host)) {
        for (const auto& attribute : block_attributes()) {
            if (const auto path = attribute_path(host, disk, attribute)) host.stat(*path);
        }
        // What a rule of ours may match by.
        for (const auto* above : {"/", "/device/", "/device/device/"}) {
            for (const auto* name : {"model", "serial", "wwid"}) host.read_file(disk.device.sysfs + above + name);
        }
    }
    host.read_file(block_rules_path);
}

Remedy block_remedy(std::span<const Difference> differences, const Topology& topology, Host& host) {
    if (differences.empty()) return {};
    return Planner(topology, host).plan(differences);
}

}  // namespace storpol
