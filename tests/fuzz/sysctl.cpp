// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sysctl_d.h"
#include "tests/fuzz/target.h"

// A sysctl.d file of any package.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    for (const SysctlDialect dialect : {SysctlDialect::systemd, SysctlDialect::procps, SysctlDialect::busybox}) {
        const auto lines = parse_sysctl_d(text, dialect);
        fuzz::require(render_sysctl_d(lines) == text, "the lines' bytes put together are the text");
        for (const SysctlLine& line : lines) {
            static_cast<void>(sysctl_glob_match(line.key, "vm/swappiness"));
            static_cast<void>(parse_kernel_number(line.value));
            fuzz::require(sysctl_path(sysctl_name(line.key)) == line.key || line.key.empty() ||
                              is_sysctl_glob(line.key) || line.kind != SysctlLine::Kind::assignment ||
                              line.key != sysctl_path(line.key),
                          "a path is the same after its dotted spelling");
        }
    }
    return 0;
}
