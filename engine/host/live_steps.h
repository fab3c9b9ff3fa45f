// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"

// The steps of a running machine that a library or a program of the distribution carries out: what Performer's three
// questions answer for each (engine/host/performer.h).
namespace storpol {

// unit_steps.cpp: the service manager.
Result<std::string> state_of(const StartUnit& step);
Result<std::vector<Step>> undo_of(const StartUnit& step);
Result<std::string> perform(const StartUnit& step);

// luks_steps.cpp: libcryptsetup.
Result<std::string> state_of(const SetLuksFlags& step);
Result<std::vector<Step>> undo_of(const SetLuksFlags& step);
Result<std::string> perform(const SetLuksFlags& step);

Result<std::string> state_of(const RefreshMapping& step);
Result<std::vector<Step>> undo_of(const RefreshMapping& step);
Result<std::string> perform(const RefreshMapping& step);

// table_steps.cpp: libdevmapper.
Result<std::string> state_of(const ReloadTable& step);
Result<std::vector<Step>> undo_of(const ReloadTable& step);
Result<std::string> perform(const ReloadTable& step);
// Resumes the device when an interrupted step left it suspended; nothing where it runs or is gone.
void resume_if_suspended(const std::string& mapping);

// program_steps.cpp: lvchange and the generators of boot artefacts.
Result<std::string> state_of(const ChangeThinPool& step);
Result<std::vector<Step>> undo_of(const ChangeThinPool& step);
Result<std::string> perform(const ChangeThinPool& step);

// zram_steps.cpp: sysfs, swapon(2), swapoff(2), and the service manager where a unit sets the device up.
Result<std::string> state_of(const SetUpZram& step);
Result<std::vector<Step>> undo_of(const SetUpZram& step);
Result<std::string> perform(const SetUpZram& step);
// Brings a device that an interrupted step left out of use to what the step was to make of it.
void finish_set_up(const SetUpZram& step);

// swap_steps.cpp
Result<std::string> state_of(const UseSwap& step);
Result<std::vector<Step>> undo_of(const UseSwap& step);
Result<std::string> perform(const UseSwap& step);
// Takes an area into use again that an interrupted step left out of it.
void finish_swap(const UseSwap& step);

Result<std::string> state_of(const RunGenerator& step);
Result<std::vector<Step>> undo_of(const RunGenerator& step);
Result<std::string> perform(const RunGenerator& step);

}  // namespace storpol
