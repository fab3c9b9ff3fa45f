// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/crypt_options.h"
#include "engine/text/crypttab.h"
#include "engine/text/grub_cfg.h"
#include "engine/text/loader_entry.h"
#include "engine/text/shell_assignments.h"
#include "tests/fuzz/target.h"

// What a boot reads: crypttab, boot entries of both kinds, grub's defaults, and the words about encrypted devices.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    for (const auto& entry : parse_crypttab(text).entries) {
        fuzz::require(entry.line >= 1 && entry.fields >= 2, "an entry has a line and a device");
        static_cast<void>(entry.has_random_key());
    }
    const auto config = parse_grub_cfg(text);
    static_cast<void>(find_grub_entry(config, text.substr(0, size / 4)));
    static_cast<void>(parse_grub_environment(text));
    const auto one = parse_loader_entry(text.substr(0, size / 2), text);
    const auto other = parse_loader_entry(text.substr(size / 2), text);
    fuzz::require(!(loader_entry_before(one, other) && loader_entry_before(other, one)), "entries have one order");
    ShellAssignments all;
    all.source("a", text.substr(0, size / 2));
    all.source("b", text.substr(size / 2));
    const auto* value = all.find("GRUB_CMDLINE_LINUX");
    if (value != nullptr && value->unknown.empty()) {
        fuzz::require(value->origins.size() == value->text.size(), "each byte has an origin");
    }
    const auto placed = place_arguments(text, {}, 0);
    for (const auto& argument : placed) {
        fuzz::require(text.substr(*argument.offset, argument.word.size()) == argument.word,
                      "a word stands where it says");
        static_cast<void>(words_of_luks_options(argument));
    }
    static_cast<void>(read_luks_arguments(placed, true));
    static_cast<void>(read_cryptdevice(placed));
    return 0;
}
