// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/cli/options.h"

// One function per command; each answers the exit code of docs/exit-codes.md.
namespace storpol {

int run_plan(const Options& options);
int run_drift(const Options& options);
int run_explain(const Options& options);
int run_apply(const Options& options);
int run_rollback(const Options& options);
int run_trim(const Options& options);
int run_history(const Options& options);
int run_capture(const Options& options);
int run_validate(const Options& options);
int run_schema(const Options& options);
int run_show(const Options& options);

}  // namespace storpol
