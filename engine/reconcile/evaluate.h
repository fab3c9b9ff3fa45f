// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/record.h"
#include "engine/model/setting.h"
#include "engine/reconcile/resource.h"

// policy + host -> settings -> observations -> verdicts and differences -> plan: everything a report shows, nothing
// done.
namespace storpol {

struct Accepted {
    Place policy;
    std::string until;
};

struct PlaneState {
    Plane plane = Plane::live;
    Reading reading;
    Verdict verdict = Verdict::in_sync;
    std::optional<DifferenceKind> kind;  // of a drift, where the record could be read
    std::optional<Accepted> accepted;    // the drift is known and counts as in sync
    std::string cannot;                  // no action serves this drift: why
    std::optional<When>
        waits;             // all is done that can be done now; the drift ends at the next boot, mount or by a person
    std::string recorded;  // the last-applied value beside an unknown one
};

struct SettingState {
    Setting setting;
    std::vector<PlaneState> planes;      // in Plane's order
    Verdict verdict = Verdict::in_sync;  // the worst of its planes, accepted ones counted as in sync

    const PlaneState* on(Plane plane) const;
};

struct Summary {
    int settings = 0, in_sync = 0, drift = 0, unknown = 0, absent = 0, accepted = 0, waiting = 0, actions = 0;
    bool reboot_pending = false;
};

struct Evaluation {
    std::vector<SettingState> settings;  // sorted by address
    Plan plan;
    std::vector<Finding> findings;    // sorted, each once
    std::vector<PolicyError> errors;  // contradictions; then nothing else is to be used
    Summary summary;

    // Differences that count: drift neither accepted nor waiting. `strict` counts the waiting ones too.
    bool has_drift(bool strict) const;
    // Something unknown that matters: `strict` also counts what no kernel lets anyone read back.
    bool has_unknown(bool strict) const;
};

struct EvaluateOptions {
    bool image = false;  // --root: planes live and evidence are left out, generators are in-image
    bool prune = false;
    bool asks_passphrase = false;    // apply --ask-passphrase: refreshes that lack only a passphrase are done now
    const Record* record = nullptr;  // none: never applied
    bool record_readable = true;     // false: kinds are left out
    bool verbose = false;            // findings about what builtin rules left out
};

// Asks each resource once. Performs nothing; the same answers of `host` give the same Evaluation.
Evaluation evaluate(const Policy& policy, const Resources& resources, Host& host, const EvaluateOptions& options);

}  // namespace storpol
