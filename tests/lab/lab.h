// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <string>
#include <vector>

// A machine to break: the running kernel behind private mount, UTS and network namespaces. /etc is an overlay, every
// other place that storpol writes to or sysctl reads from is an empty tmpfs, so nothing of a test outlives its process.
// Network and domain name values belong to the namespaces; vm.* ones are the machine's (see RealValue).
namespace storpol::lab {

struct Ran {
    int code = -1;  // exit code; 128 + signal for a killed one
    std::string out;
    std::string err;

    std::string all() const { return out + err; }

    // Do both outputs together hold these words? Where lines are broken does not matter.
    bool says(const std::string& words) const;
};

std::string read_text(const std::string& path);  // empty when it is not there
bool write_text(const std::string& path, const std::string& bytes);
std::vector<std::string> names_in(const std::string& directory);  // sorted
// A value below /proc/sys by its dotted name, without the newline.
std::string sysctl_value(const std::string& key);
bool set_sysctl(const std::string& key, const std::string& value);

// A program by its path, standard input closed, output caught; the test's environment less what storpol reads of it.
Ran run(const std::vector<std::string>& arguments);
// build/storpol with these arguments.
Ran storpol(const std::vector<std::string>& arguments);
// The same left running; wait_for() reaps it.
pid_t start_storpol(const std::vector<std::string>& arguments);
int wait_for(pid_t child);
// storpol killed (SIGKILL) on entry to or exit from its n-th system call. Answers whether it was still running then.
bool kill_storpol_at(int stop, const std::vector<std::string>& arguments);

inline constexpr const char* own_file = "/etc/sysctl.d/zz-storpol.conf";
inline constexpr const char* policy_file = "/etc/storpol/policy.toml";

class Lab : public testing::Test {
  protected:
    void SetUp() override;  // skips with a reason where namespaces are not to be had
    // Writes /etc/storpol/policy.toml: version 1 and these lines below [sysctl].
    static void want(const std::vector<std::string>& lines);
};

// A value of the whole machine that a test changes: put back at the end. Made only where STORPOL_LAB=1.
class RealValue {
  public:
    explicit RealValue(std::string key) : key_(std::move(key)), old_(sysctl_value(key_)) {}

    ~RealValue() { set_sysctl(key_, old_); }

    RealValue(const RealValue&) = delete;
    RealValue& operator=(const RealValue&) = delete;

    const std::string& old_value() const { return old_; }

  private:
    std::string key_;
    std::string old_;
};

bool may_change_the_machine();

}  // namespace storpol::lab
