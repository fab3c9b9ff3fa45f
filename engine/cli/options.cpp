// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/options.h"

#include "engine/model/step.h"

namespace storpol {

Result<void> check(const Options& options) {
    if (!options.host_file.empty() && !options.root.empty())
        return fail(ErrorKind::invalid, "--host and --root cannot be used together", {},
                    "a capture and a directory tree are two different hosts: name one");
    for (const std::string& allowed : options.allow) {
        const std::size_t colon = allowed.find(':');
        const bool is_whole = colon != std::string::npos && colon + 1 < allowed.size();
        if (!is_whole || !parse_verb(allowed.substr(0, colon)))
            return fail(ErrorKind::invalid, "--allow takes VERB:TARGET as the plan prints it, not \"" + allowed + "\"",
                        {}, "copy it from the plan, for example --allow swap-off:/dev/zram0");
    }
    if (options.command == "plan" && options.output == "-")
        return fail(ErrorKind::invalid, "plan -o needs a file: standard output carries the report");
    return {};
}

}  // namespace storpol
