// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"

// The one place that changes a machine. Steps come from a plan; who calls it has journaled first.
namespace storpol {

class Performer {
  public:
    virtual ~Performer() = default;

    // What the step's target holds now, as one comparable text: the digest of a file (no_file_digest when absent), the
    // value of an attribute as the kernel shows it, trimmed.
    virtual Result<std::string> state(const Step& step) = 0;

    // The steps that would put the target's present state back, owner and mode included. Read before perform().
    virtual Result<std::vector<Step>> undo_of(const Step& step) = 0;

    // Does it; durable when it answers. Answers state() afterwards, which for an attribute may differ from what was
    // written (the kernel rounds). A ReplaceFile or DeleteFile whose target is not as `before` says is
    // ErrorKind::changed.
    virtual Result<std::string> perform(const Step& step) = 0;

    // Removes what an interrupted perform() of this step can have left: a temporary file beside its target, a
    // device-mapper device suspended, a swap area out of use.
    virtual void clean_up(const Step& step) = 0;
};

// The running machine.
std::unique_ptr<Performer> make_live_performer();
// A mounted image: file steps only, every path resolved in DIR; other steps are ErrorKind::unsupported.
Result<std::unique_ptr<Performer>> make_root_performer(std::string_view directory);

}  // namespace storpol
