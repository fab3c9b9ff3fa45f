// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/checker.h"
#include "engine/policy/policy.h"

namespace storpol {

// Merges checked files, in the order given, into one Policy: tables key by key, rules one after the other, other values
// replaced (a bound is one value, so a later file's bound or value takes its place whole).
class PolicyBuilder {
  public:
    void add(Policy::File file, CheckedFile checked);

    Policy take() { return std::move(policy_); }

  private:
    Policy policy_;
};

}  // namespace storpol
