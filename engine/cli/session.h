// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/cli/options.h"
#include "engine/host/host.h"
#include "engine/host/state_store.h"
#include "engine/model/record.h"
#include "engine/reconcile/evaluate.h"
#include "engine/report/report.h"

namespace storpol {

// The host that one reading run looks at, as the options name it: the machine, a capture or a directory tree; with what
// storpol remembers of it. Asks each question once.
class Session {
  public:
    // An Error when the capture or the directory cannot be read.
    static Result<Session> open(const Options& options);

    Picture& picture() { return *picture_; }

    const ReportHead& head() const { return head_; }

    bool is_image() const { return image_; }

    // Evaluates, and adds the finding of an interrupted apply.
    Evaluation evaluate(const Policy& policy, const Resources& resources, const Options& options);

  private:
    Session() = default;
    void read_memory();  // the record and the head

    std::unique_ptr<Host> machine_;
    std::unique_ptr<Picture> picture_;
    std::unique_ptr<StateStore> store_;  // none for a capture, which holds the record itself
    std::optional<Record> record_;       // none where it cannot be read
    ReportHead head_;
    bool image_ = false;
};

// Where the record is on every host; captures hold it under this name.
inline constexpr std::string_view record_path = "/var/lib/storpol/applied.json";
inline constexpr std::string_view boot_id_path = "/proc/sys/kernel/random/boot_id";

// "host1", or empty: the running kernel's name, else the one written down for it.
std::string host_name(Host& host);

}  // namespace storpol
