// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/policies.h"

#include <algorithm>
#include <map>

#include "engine/host/host.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

constexpr std::string_view host_policy = "/etc/storpol/policy.toml";

// Passes on to the disk and keeps what it gave, so that a saved plan is told from a policy without opening it twice.
class KeepingSource final : public PolicySource {
  public:
    explicit KeepingSource(Trust trust) : disk_(trust) {}

    Result<Opened> open(std::string_view name, std::string_view includer) override {
        auto opened = disk_.open(name, includer);
        if (opened && includer.empty()) kept_[std::string{name}] = opened->bytes;
        return opened;
    }

    const std::map<std::string, std::string>& kept() const { return kept_; }

  private:
    DiskPolicySource disk_;
    std::map<std::string, std::string> kept_;
};

Result<LoadedPolicy> load_saved(const std::string& text, const std::string& name, const std::vector<PolicyKeys>& keys) {
    auto saved = parse_saved_plan(text, name);
    if (!saved) return tl::unexpected<Error>(saved.error());
    LoadedPolicy out;
    out.loaded = load_policy_files(saved->files, keys);
    out.saved = std::move(*saved);
    return out;
}

}  // namespace

Result<std::vector<std::string>> policy_names(const Options& options, Default builtin) {
    if (!options.policies.empty()) return options.policies;
    if (user_file_exists(host_policy)) return std::vector<std::string>{std::string{host_policy}};
    if (builtin == Default::allowed) return std::vector<std::string>{"builtin:default"};
    return fail(ErrorKind::no_such_file,
                "there is no policy to " + std::string{options.command == "drift" ? "compare with" : "apply"},
                std::string{host_policy}, "write one there, or name one: a file, or builtin:default");
}

Result<LoadedPolicy> load_policies(const std::vector<std::string>& names,
                                   Trust trust,
                                   const Resources& resources,
                                   bool accept_saved) {
    const std::vector<PolicyKeys> keys = keys_of(resources);
    KeepingSource source(trust);
    LoadedPolicy out;
    out.loaded = load_policy(names, source, keys);
    for (const auto& [name, text] : source.kept()) {
        if (!looks_like_saved_plan(text)) continue;
        if (!accept_saved)
            return fail(ErrorKind::invalid, "this is a saved plan, not a policy", name, "only storpol apply takes it");
        if (names.size() > 1)
            return fail(ErrorKind::invalid, "a saved plan carries its own policy", name, "name it alone");
        return load_saved(text, name, keys);
    }
    return out;
}

void fill_lines(std::vector<PolicyError>& errors, const Policy& policy) {
    for (PolicyError& error : errors)
        if (error.line.empty()) error.line = policy.line_at(error.where);
}

std::vector<PolicyError> contradictions(const Policy& policy, const Resources& resources) {
    MemoryHost nothing;
    Topology topology(nothing);
    Notes notes;
    for (const auto& resource : resources) resource->settings(policy, topology, nothing, notes);
    std::vector<PolicyError> errors = notes.errors();
    std::sort(errors.begin(), errors.end());
    errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
    fill_lines(errors, policy);
    return errors;
}

}  // namespace storpol
