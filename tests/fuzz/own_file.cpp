// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/own_file.h"

#include "tests/fuzz/target.h"

// A file of storpol after people have been at it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    OwnFile file = OwnFile::parse(text);
    fuzz::require(file.render() == text, "rendering what was parsed gives the same bytes");
    for (const auto& entry : file.entries()) {
        OwnFile less = file;
        less.remove(entry.section, entry.address);
        for (const auto& left : OwnFile::parse(less.render()).entries()) {
            fuzz::require(left.section != entry.section || left.address != entry.address, "a removed entry is gone");
        }
    }
    fuzz::require(file.set("[Timer]", "fstrim.schedule", {"OnCalendar=", "OnCalendar=daily"}).has_value(),
                  "a good entry is taken");
    const OwnFile again = OwnFile::parse(file.render());
    fuzz::require(again.entries() == file.entries(), "what was set is read back");
    file.remove("fstrim.schedule");
    static_cast<void>(file.is_empty());
    return 0;
}
