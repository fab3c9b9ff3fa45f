// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_resource.h"

#include <memory>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

constexpr std::string_view attributes = "/proc/sys/fake/";

std::string name_in(const std::string& address) {
    return address.substr(6, address.size() - 8);  // fake["NAME"]
}

Value value_of(std::string_view text) {
    const auto number = parse_int(text);
    if (number) return *number;
    return std::string(text);
}

Reading live(const std::string& name, Host& host) {
    const auto path = fake_attribute(name);
    const auto text = host.read_file(path);
    if (text) return {Found{value_of(trim(*text)), {}}, path, {}};
    if (text.error().kind == ErrorKind::no_such_file) return {Absent{"no such attribute"}, path, {}};
    return {Unknown{text.error().what}, path, {}};
}

Reading persisted(const std::string& name, Host& host) {
    const auto text = host.read_file(fake_own_file);
    if (!text && text.error().kind != ErrorKind::no_such_file) return {Unknown{text.error().what}, {}, {}};
    int line_number = 0;
    for (const auto line : split_lines(text ? std::string_view(*text) : std::string_view())) {
        ++line_number;
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos || trim(line.substr(0, equals)) != name) continue;
        return {Found{value_of(trim(line.substr(equals + 1))), {}},
                std::string(fake_own_file) + ":" + std::to_string(line_number),
                {}};
    }
    return {Unset{}, {}, {}};
}

// What to write so that the condition holds; none where there is no such value.
std::optional<std::string> value_for(const Condition& wanted) {
    if (const auto* is = std::get_if<Is>(&wanted)) return to_text(is->value);
    if (const auto* least = std::get_if<AtLeast>(&wanted)) return std::to_string(least->bound);
    if (const auto* most = std::get_if<AtMost>(&wanted)) return std::to_string(most->bound);
    return std::nullopt;
}

Action persist(const Difference& difference, const std::string& value, Host& host) {
    const auto text = host.read_file(fake_own_file);
    Action action;
    action.verb = Verb::drop_in;
    action.target = fake_own_file;
    const auto& address = difference.setting->address;
    action.step = EditFile{std::string(fake_own_file), text ? digest_of(*text) : std::string(no_file_digest),
                           OwnLines{address, {}, {name_in(address) + " = " + value}}};
    action.serves = {{address, Plane::persisted}};
    action.when = When::next_boot;
    action.says = "persists " + address;
    return action;
}

Action write_now(const Difference& difference, const std::string& value) {
    const auto& address = difference.setting->address;
    const auto name = name_in(address);
    Action action;
    action.verb = Verb::write;
    action.target = fake_attribute(name);
    action.step = WriteAttribute{action.target, value};
    action.serves = {{address, Plane::live}};
    action.says = "sets " + address;
    if (name.starts_with("wild_")) action.risk = Risk::disruptive;
    if (name.starts_with("after_")) action.reads = {std::string(fake_own_file)};
    if (name.starts_with("guard_")) action.refused = "2 are needed and 1 is there";
    return action;
}

class FakeResource final : public Resource {
  public:
    std::string_view domain() const override { return "fake"; }

    PolicyKeys keys() const override {
        Key any;
        any.name = "*";
        any.type = KeyType::integer_or_word;
        any.doc = "A value of the fake tree.";
        any.bounds = true;
        Key table;
        table.name = "fake";
        table.type = KeyType::table;
        table.doc = "The fake tree.";
        table.keys = {any};
        return {{table}};
    }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& /*topology*/,
                                  Host& /*host*/,
                                  Notes& /*notes*/) const override {
        std::vector<Setting> out;
        const auto* table = policy.find("fake");
        if (table == nullptr) return out;
        for (const auto& entry : table->table()->entries) {
            Setting setting;
            setting.address = fake_address(entry.key);
            setting.wanted = entry.value.text;
            setting.condition = entry.value.condition();
            setting.policy = {entry.place};
            out.push_back(std::move(setting));
        }
        return out;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& /*topology*/,
                                     Host& host,
                                     Notes& /*notes*/) const override {
        std::vector<Observation> out;
        for (const auto& setting : settings) {
            const auto name = name_in(setting.address);
            out.push_back({{Plane::live, live(name, host)}, {Plane::persisted, persisted(name, host)}});
        }
        return out;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& /*topology*/, Host& host) const override {
        Remedy remedy;
        for (const auto& difference : differences) add(remedy, difference, host);
        return remedy;
    }

    std::vector<std::string> own_files(Host& /*host*/) const override { return {std::string(fake_own_file)}; }

    void survey(Host& host) const override {
        static_cast<void>(host.read_file(fake_own_file));
        const auto names = host.list(attributes.substr(0, attributes.size() - 1));
        if (!names) return;
        for (const auto& name : *names) static_cast<void>(host.read_file(fake_attribute(name)));
    }

  private:
    static void add(Remedy& remedy, const Difference& difference, Host& host) {
        const SettingPlane of{difference.setting->address, difference.plane};
        const auto name = name_in(of.address);
        if (name.starts_with("lost_")) return;
        const auto value = value_for(difference.wanted());
        if (!value) {
            remedy.gaps.push_back({of, std::nullopt, "nothing to write"});
        } else if (difference.plane == Plane::persisted) {
            remedy.actions.push_back(persist(difference, *value, host));
        } else if (name.starts_with("slow_")) {
            remedy.gaps.push_back({of, When::next_boot, {}});
        } else if (name.starts_with("mount_")) {
            const auto id = host.read_file("/proc/fake/mount-id");
            remedy.gaps.push_back({of, When::next_mount, {}, id ? std::string(trim(*id)) : std::string()});
        } else if (name.starts_with("hard_")) {
            remedy.gaps.push_back({of, std::nullopt, "this kernel cannot"});
        } else {
            remedy.actions.push_back(write_now(difference, *value));
        }
    }
};

}  // namespace

std::string fake_attribute(std::string_view name) {
    return std::string(attributes) + std::string(name);
}

std::string fake_address(std::string_view name) {
    return make_address("fake", name, "");
}

std::unique_ptr<Resource> make_fake_resource() {
    return std::make_unique<FakeResource>();
}

Resources fake_resources() {
    Resources resources;
    resources.push_back(make_fake_resource());
    return resources;
}

}  // namespace storpol
