// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/fstab.h"
#include "engine/text/kernel_cmdline.h"
#include "engine/text/mountinfo.h"
#include "engine/text/udev_rules.h"
#include "engine/text/unit_file.h"
#include "tests/fuzz/target.h"

// The other host formats, of which each takes any text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    static_cast<void>(parse_fstab(text));
    static_cast<void>(parse_mountinfo(text));
    static_cast<void>(parse_udev_rules(text));
    static_cast<void>(parse_unit_file(text));
    static_cast<void>(KernelCommandLine::parse(text));
    static_cast<void>(udev_glob_match(text.substr(0, size / 2), text.substr(size / 2)));
    return 0;
}
