// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model/plan.h"
#include "engine/reconcile/resource.h"

// Scheduled trims where another init system than systemd starts the host: a job of cron that asks `storpol trim` every
// hour, which itself knows from the policy and its own record what is due. So a run that was missed comes within an
// hour of the next start, without anacron.
namespace storpol {

class Host;

// `property` is a key of [fstrim] or "coverage": the job is `enabled`, all else the runner reads from the policy.
Observation observe_by_cron(std::string_view property, const std::string& init, Host& host);

Remedy cron_remedy(std::span<const Difference> differences, Host& host);

// No cron at work, jobs of others that trim.
void note_cron(const std::string& init, Host& host, Notes& notes);

// All the questions that the others ask.
void survey_cron(Host& host);

}  // namespace storpol
