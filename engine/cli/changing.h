// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/base/result.h"
#include "engine/cli/options.h"
#include "engine/host/host.h"
#include "engine/host/performer.h"
#include "engine/host/state_store.h"
#include "engine/reconcile/apply.h"
#include "engine/report/report.h"

namespace storpol {

// The machine that apply and rollback change: the running one, which needs root, or the tree of --root.
class Changing {
  public:
    static Result<Changing> open(const Options& options);

    Machine machine() { return Machine{*host_, *performer_, *store_, image_}; }

    StateStore& store() { return *store_; }

    const ReportHead& head() const { return head_; }

  private:
    Changing() = default;

    std::unique_ptr<Host> host_;
    std::unique_ptr<Performer> performer_;
    std::unique_ptr<StateStore> store_;
    ReportHead head_;
    bool image_ = false;
};

}  // namespace storpol
