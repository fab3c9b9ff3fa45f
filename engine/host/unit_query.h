// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/host/query.h"

struct sd_bus;

namespace storpol {

// The service manager's view of a unit, over the system bus. One connection, made at the first question; a bus that is
// absent or hangs costs its time once, and is refused from then on.
class UnitQuery {
  public:
    // `address` for tests; empty for the system bus.
    explicit UnitQuery(std::string address = {}, std::chrono::milliseconds limit = std::chrono::seconds(2));
    UnitQuery(const UnitQuery&) = delete;
    UnitQuery& operator=(const UnitQuery&) = delete;
    ~UnitQuery();

    Answer answer(const Query& query);
    int reload();  // makes the manager read its files anew: 0 or errno, ENOENT where there is no manager

    // Starts or stops it and waits until it is in that state: 0 or errno, ENOENT where there is no such unit or
    // manager, ECANCELED where the job failed, ETIMEDOUT.
    int start(const std::string& unit, bool stop);

  private:
    int connect();  // 0 or errno
    bool is_job_there(const std::string& job);

    std::string address_;
    std::chrono::milliseconds limit_;
    sd_bus* bus_ = nullptr;
    int broken_ = 0;  // errno that ended the connection
};

}  // namespace storpol
