// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/policy/load.h"

// Files that the person at the command line names: policies, saved plans, captures, output files. Not facts of the
// machine.
namespace storpol {

enum class Trust {
    any,         // reading commands
    controlled,  // apply as root: DESIGN promise 6 (regular, owners, modes, every directory above; checked through
                 // descriptors)
};

// Policies from disk and the embedded ones ("builtin:NAME"). Opens each once.
class DiskPolicySource final : public PolicySource {
  public:
    explicit DiskPolicySource(Trust trust) : trust_(trust) {}

    Result<Opened> open(std::string_view name, std::string_view includer) override;

  private:
    Result<Opened> open_file(const std::string& path,
                             const std::string& name,
                             const std::string& home,
                             bool is_include);

    Trust trust_;
    // Of each opened file by its name: the directory, after links, of the command line's file that led to it, below
    // which the sudo caller's own files are taken too; empty where only root's are.
    std::map<std::string, std::string, std::less<>> homes_;
};

Result<std::string> read_user_file(std::string_view path, Trust trust);  // "-" is standard input (any only)
Result<void> write_user_file(std::string_view path,
                             std::string_view bytes,
                             unsigned mode);  // atomic; "-" is standard output
bool user_file_exists(std::string_view path);

// What the process is told by its surroundings; the only environment storpol reads (DESIGN "Files storpol owns").
struct Surroundings {
    bool is_root = false;
    bool output_is_terminal = false;
    bool input_is_terminal = false;
    bool no_color = false;
    int columns = 80;
};

Surroundings read_surroundings();
// Asks on the terminal; true only for "y" or "yes".
bool confirm(std::string_view question);

}  // namespace storpol
