// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/host/host.h"
#include "engine/host/performer.h"
#include "engine/host/state_store.h"
#include "engine/reconcile/apply.h"

// A machine whose files, kernel and state live in memory, and whose power can be cut between any two things it does.
namespace storpol {

struct PowerCut {};  // thrown: the program is gone at this point

// Counts what happens to the machine; the power goes at the moment `cut_at` (from 1).
class Power {
  public:
    int moments() const { return moments_; }

    void cut_at(int moment) {
        moments_ = 0;
        cut_at_ = moment;
    }

    bool is_last_moment() const { return moments_ + 1 == cut_at_; }

    void moment() {
        if (++moments_ == cut_at_) throw PowerCut{};
    }

  private:
    int moments_ = 0;
    int cut_at_ = 0;
};

// Plays the steps of plans on a MemoryHost, as the live performer plays them on a machine. A remount changes the line
// of mountinfo, and of ext4 the file of options in force, as the kernel does; a daemon-reload changes nothing that is
// seen.
class MemoryPerformer final : public Performer {
  public:
    MemoryPerformer(MemoryHost& host, Power& power) : host_(host), power_(power) {}

    Result<std::string> state(const Step& step) override;
    Result<std::vector<Step>> undo_of(const Step& step) override;
    Result<std::string> perform(const Step& step) override;
    void clean_up(const Step& step) override;

    static bool can_play(const Step& step);

    void fail_at(int perform) { fail_at_ = perform; }  // refuses the n-th perform from now (from 1)

    void fail_after_at(int perform) { fail_after_at_ = perform; }  // does the n-th and then says that it failed

    void ignore_writes_to(const std::string& path) { ignored_.insert(path); }  // answers success, changes nothing

    int performed() const { return performed_; }

    const std::vector<std::string>& cleaned() const { return cleaned_; }

  private:
    void change(const Step& step);

    MemoryHost& host_;
    Power& power_;
    std::set<std::string> ignored_;
    std::vector<std::string> cleaned_;
    int performed_ = 0;
    int fail_at_ = 0;
    int fail_after_at_ = 0;
};

// The state directory: one for all runs on a machine, opened anew by each.
using StateFiles = std::map<std::string, std::string>;

class MemoryStore final : public StateStore {
  public:
    MemoryStore(StateFiles& files, Power& power) : files_(files), power_(power) {}

    Result<std::string> read(std::string_view name) override;
    Result<std::vector<std::string>> list(std::string_view directory) override;
    Result<void> replace(std::string_view name, std::string_view bytes) override;
    // A cut in the middle leaves half a line.
    Result<void> append(std::string_view name, std::string_view bytes) override;
    Result<void> remove(std::string_view name) override;
    Result<void> lock() override;

    void refuse_lock() { locked_ = true; }

    void fail_writes_after(int writes) { writes_left_ = writes; }  // the disk is full then

  private:
    Result<void> write();

    StateFiles& files_;
    Power& power_;
    bool locked_ = false;
    int writes_left_ = -1;
};

// All of it together. Clock and boot id are set; reboot() takes the next of both.
class MemoryMachine {
  public:
    MemoryMachine();

    MemoryHost host;
    Power power;
    MemoryPerformer performer{host, power};
    StateFiles state;
    bool image = false;

    Result<ApplyReport> apply(const Policy& policy, const Resources& resources, const ApplyOptions& options = {});
    Result<RollbackReport> rollback();
    Evaluation plan(const Policy& policy, const Resources& resources, bool prune = false);

    void set_time(const std::string& time);
    void set_boot(const std::string& id);
};

// A policy from TOML text, checked against the resources' keys; a broken one fails the test.
Policy policy_of(const std::string& toml, const Resources& resources);

}  // namespace storpol
