// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/reconcile/evaluate.h"
#include "engine/reconcile/record_view.h"

namespace storpol {

// The reason of a gap that the engine had to add because a resource gave neither an action nor a gap: a mistake of that
// resource, which the conformance suite looks for.
inline constexpr std::string_view no_way_known = "no way to change this is known";

// A generator makes artefacts from files: it runs once, after them, also when they are put back; the builder of an
// image runs it himself.
bool is_generator(Verb verb);

// What a run knows about time, for differences that wait and steps that were tried.
struct BootFacts {
    std::string boot_id;    // empty where it cannot be known: then nothing waits
    std::string boot_time;  // RFC 3339, for people; may be empty
};

// Fits one domain's remedy to what the record and the kind of host say, and writes into `states` what waits and what
// cannot be done: drops what an image cannot take and what was tried in this boot, and gives every difference that
// is left without an action its gap. An action for what is no difference is a bug of its resource.
Remedy fit_remedy(Remedy proposed,
                  std::vector<SettingState>& states,
                  const std::vector<Difference>& differences,
                  const RecordView& record,
                  const BootFacts& boot,
                  const EvaluateOptions& options);

}  // namespace storpol
