// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/zram_generator.h"

// The files that zram-generator reads on this host.
namespace storpol {

class Host;

inline constexpr std::string_view zram_drop_in = "/etc/systemd/zram-generator.conf.d/50-storpol.conf";

struct ZramGeneratorFiles {
    struct File {
        std::string name;  // that gives it its place in the order; empty for the main file
        std::string listed;
        ZramGeneratorFile file;
    };

    std::vector<File> files;  // in reading order
    std::string unreadable;   // why not all of them could be read

    // The same host once the own drop-in has this text.
    ZramGeneratorFiles with_own(std::string_view text) const;
    // The file that takes the own drop-in's place by its name; empty: none does.
    std::string hides_own() const;

    std::vector<ZramGeneratorFile> in_order() const;
};

ZramGeneratorFiles read_zram_generator_files(Host& host);

}  // namespace storpol
