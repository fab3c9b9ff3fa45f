// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>

#include "engine/host/cpio_reader.h"
#include "engine/host/host.h"
#include "engine/host/path_walk.h"

// What the running machine and a mounted image share: questions about paths, answered through one PathWalk.
namespace storpol {

class TreeHost {
  public:
    // `is_image`: /proc, /sys and /dev of the tree are those of no machine and are not looked at.
    TreeHost(PathWalk walk, bool is_image) : walk_(std::move(walk)), is_image_(is_image) {}

    // file, link, list, stat, program_exists and image_member; of the running machine luks too.
    Answer answer(const Query& query);

  private:
    Answer answer_file(const Query& query);
    Answer read_device_path(const Query& query);
    Answer answer_link(const Query& query);
    Answer answer_list(const Query& query);
    Answer answer_stat(const Query& query);
    Answer answer_program(const Query& query);
    Answer answer_image_member(const Query& query);
    const Result<CpioFiles>& image_files(const std::string& path, int fd, const struct stat& found);
    int guard(std::string_view path) const;

    // The files of one initramfs, as of the bytes that `stamp` tells: several are asked for one after the other, and to
    // unpack an image takes seconds.
    struct Image {
        std::string stamp;
        Result<CpioFiles> files;
    };

    PathWalk walk_;
    bool is_image_;
    std::map<std::string, Image> images_;  // by path
};

std::string read_clock();  // RFC 3339 in UTC
std::string read_user();   // the effective user id

}  // namespace storpol
