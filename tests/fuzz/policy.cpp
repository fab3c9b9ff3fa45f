// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/load.h"
#include "engine/reconcile/resource.h"
#include "tests/fuzz/target.h"

// A policy file as a stranger sends it in a pull request.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    static const auto keys = keys_of(make_resources());
    Policy::File file;
    file.name = "fuzz.toml";
    file.bytes = fuzz::text_of(data, size);
    const Loaded loaded = load_policy_files({file}, keys);
    for (const PolicyError& error : loaded.errors) fuzz::require(!error.says.empty(), "an error says what is wrong");
    if (loaded.errors.empty()) static_cast<void>(render_merged(loaded.policy));
    return 0;
}
