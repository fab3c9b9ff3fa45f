// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"
#include "engine/text/crypt_options.h"

// The initramfs of the next boot: what in it opens encrypted devices, and what makes it.
namespace storpol {

class Host;
class Topology;

struct BootImage {
    enum class Maker { unknown, initramfs_tools, dracut, mkinitcpio };

    std::string path;     // the last one of the entry, which has the system in it; empty where none is known
    std::string unknown;  // why it cannot be read; then `opens` is what the installed programs make
    Maker maker = Maker::unknown;
    std::optional<CryptReader> opens;  // none: it opens nothing
    // Makes it anew. Its program is empty where none of the known ones is there: a person must do it.
    RunGenerator rebuild;

    // Where the reader finds its crypttab in the image, and what it is made from; empty where it has none.
    std::string_view crypttab_member() const;
    std::string_view crypttab_source() const;
};

std::string_view to_text(BootImage::Maker maker);

// Taken once per run.
const BootImage& boot_image(const Topology& topology, Host& host);

// A file of the initramfs, from the last image that has it. no_such_file where none has.
Result<std::string> read_image_member(const Topology& topology, Host& host, std::string_view member);

}  // namespace storpol
