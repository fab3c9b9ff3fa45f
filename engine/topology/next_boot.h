// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"
#include "engine/text/crypt_options.h"

// What the next boot will start with: which entry of the boot loader, with which command line and initramfs, and what
// makes these anew. Three things that may disagree: the files people edit (sources), the artefacts made from them, and
// what the running kernel was given (/proc/cmdline, which is not read here).
namespace storpol {

class Host;
class Topology;

struct CommandLine {
    PlacedArguments arguments;
    Place place;          // where a word would be added: the file, and the line where there is one
    std::string unknown;  // why it cannot be told; then `arguments` is empty
};

struct NextBoot {
    enum class Loader {
        none,          // none is found: a container, or one that is not known here
        grub,          // grub.cfg with its own entries
        grub_bls,      // GRUB with entries of the boot loader specification
        systemd_boot,  // the same without GRUB
        unmanaged,     // found and never touched: extlinux, a unified kernel image, rEFInd, Raspberry Pi, ...
    };

    Loader loader = Loader::none;
    std::string entry;    // its title or id
    std::string unknown;  // why the entry cannot be told; then all below but `sources` is empty

    CommandLine command_line;         // of the entry
    std::vector<std::string> images;  // its initramfs files as paths of this host, in the order of loading
    std::string images_unknown;       // why not all of them are in `images`

    // What the command line is made of when the boot artefacts are made anew: grub's defaults, /etc/kernel/cmdline; the
    // entry itself where nothing makes it; /proc/cmdline where no entry can be told.
    CommandLine sources;
    // Brings the sources into the entry. None where the entry is its own source.
    std::optional<RunGenerator> update;
};

std::string_view to_text(NextBoot::Loader loader);

// Taken once per run.
const NextBoot& next_boot(const Topology& topology, Host& host);

// Words of command lines changed where they stand, as EditFile takes it: one edit for each blank-separated field of a
// line that holds some. An Error where a word does not stand there as itself (it is quoted, or made of a variable), the
// file is made by a program, or an edit by words cannot make the change.
struct ArgumentChange {
    PlacedArgument old_word;
    std::string new_word;
};

Result<std::vector<EditFile>> edit_arguments(const std::vector<ArgumentChange>& changes, Host& host);

}  // namespace storpol
