// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/reconcile/evaluate.h"
#include "engine/reconcile/record_view.h"

namespace storpol {

// From readings to verdicts: what each plane of a setting is, of what kind its difference is, and whether the policy
// accepts it. Remembers which accepts were of use, for the findings about the others.
class SettingJudge {
  public:
    // `now` is the host's clock; where it cannot be read no accept is taken, as none can be known to be in force.
    SettingJudge(const Policy& policy,
                 const EvaluateOptions& options,
                 const RecordView& record,
                 const std::string& now);

    SettingState judge(const Setting& setting, const Observation& observed);

    // accept-expired and accept-matches-nothing; those of embedded policies only when `verbose`.
    std::vector<Finding> accept_findings() const;

  private:
    PlaneState judge_plane(const Setting& setting, Plane plane, const Observation& observed) const;
    std::optional<Accepted> accepted(const Setting& setting, Plane plane) const;
    void mark_accepts(const Setting& setting, const Observation& observed);
    bool expired(const Accept& accept) const;

    const Policy& policy_;
    const EvaluateOptions& options_;
    const RecordView& record_;
    std::optional<int> today_;
    std::vector<bool> matched_;  // by place in policy_.accepts()
};

// The worst of the planes: drift > unknown > in-sync; absent ones do not count, accepted ones are in sync.
Verdict worst_of(const std::vector<PlaneState>& planes);

Summary summary_of(const Evaluation& evaluation);

}  // namespace storpol
