// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/path_walk.h"
#include "engine/model/step.h"

namespace storpol {

// That a path is one storpol may change: normal, and below /etc or /boot.
Result<void> check_place(const std::string& path);

// Replaces and deletes configuration files below /etc and /boot, of the running machine or of an image. A path is taken
// only as it is: a link anywhere in it is refused, since whoever made the step has already followed the links there
// were.
class FilePerformer {
  public:
    explicit FilePerformer(PathWalk walk) : walk_(std::move(walk)) {}

    Result<std::string> state(const std::string& path);
    Result<std::vector<Step>> undo_of(const ReplaceFile& step);
    Result<std::vector<Step>> undo_of(const DeleteFile& step);
    Result<std::string> perform(const ReplaceFile& step);
    Result<std::string> perform(const DeleteFile& step);
    // Links below /etc: file_links.cpp.
    Result<std::string> link_state(const std::string& path);
    Result<std::vector<Step>> undo_of(const SetLink& step);
    Result<std::string> perform(const SetLink& step);

    void clean_up(const std::string& path);

  private:
    struct Target;
    Result<Target> open_target(const std::string& path);
    Result<Fd> make_directory(const std::string& path);

    PathWalk walk_;
};

}  // namespace storpol
