// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/setting.h"
#include "engine/policy/diagnostic.h"
#include "engine/policy/keys.h"
#include "engine/policy/policy.h"

namespace storpol {

class Host;
class Topology;

// Collects what a resource has to say beside its settings.
class Notes {
  public:
    void add(Finding finding) { findings_.push_back(std::move(finding)); }

    void add(PolicyError error) { errors_.push_back(std::move(error)); }

    const std::vector<Finding>& findings() const { return findings_; }

    const std::vector<PolicyError>& errors() const { return errors_; }

  private:
    std::vector<Finding> findings_;
    std::vector<PolicyError> errors_;
};

// One domain of settings (sysctl, mount, ...). Stateless; each function is called at most once per run, for the whole
// domain, so that a file is parsed once and several differences meet in one action. Reads through Host alone (answers
// are cached for the run: ask again rather than carry state), changes nothing: actions are data.
class Resource {
  public:
    virtual ~Resource() = default;
    virtual std::string_view domain() const = 0;  // "sysctl": the word `explain` takes

    virtual PolicyKeys keys() const = 0;

    // What the policy wants of this host. Policy errors (contradictions) go to `notes` and must come out the same on an
    // empty host: `validate` calls this with one. Settings that policy.is_unmanaged() covers are left out.
    virtual std::vector<Setting> settings(const Policy& policy,
                                          const Topology& topology,
                                          Host& host,
                                          Notes& notes) const = 0;

    // One observation per setting, in the same order.
    virtual std::vector<Observation> observe(std::span<const Setting> settings,
                                             const Topology& topology,
                                             Host& host,
                                             Notes& notes) const = 0;

    // Actions that close these differences (one action may serve several) and a gap for each that none closes.
    // Guards are evaluated here. `when` of a file step is next_boot (next_mount for fstab and mount units) unless
    // another step here makes its reader read it.
    virtual Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const = 0;

    // The files this resource owns wholly (DESIGN "Files storpol owns"), by path: what `no-longer-in-policy` and
    // --prune look at.
    virtual std::vector<std::string> own_files(Host& host) const = 0;

    // What the reference page (docs/reference.md) says of this domain beyond its keys, in Markdown.
    virtual std::string reference() const { return {}; }

    // Asks all it could ever ask, for captures and import.
    virtual void survey(Host& host) const = 0;
};

// How the reason of a reading begins that no kernel lets anyone have (the level of a zram device). Such an Unknown
// counts with --strict only, while the persisted plane of its setting is in sync.
inline constexpr std::string_view cannot_be_read_back = "cannot be read back";

using Resources = std::vector<std::unique_ptr<Resource>>;
Resources make_resources();  // resources/registry.cpp: all of them, in the order of their domain words
std::vector<PolicyKeys> keys_of(const Resources& resources);

}  // namespace storpol
