// SPDX-License-Identifier: GPL-3.0-or-later
// What sets up zram: zram-generator's files and their arithmetic, the settings of the shell scripts.
#include <string>
#include <string_view>

#include "engine/host/swaps.h"
#include "engine/text/zram_expression.h"
#include "engine/text/zram_generator.h"
#include "engine/text/zram_scripts.h"
#include "tests/fuzz/target.h"

namespace {

void fuzz_generator(std::string_view text) {
    const auto half = text.size() / 2;
    storpol::ZramGeneratorInput input;
    input.files = {{"/etc/systemd/zram-generator.conf", std::string(text)},
                   {"/etc/systemd/zram-generator.conf.d/a.conf", "[zram0]\n" + std::string(text.substr(half))}};
    input.memory_kib = 8192000;
    input.kernel_command_line = std::string(text.substr(0, half));
    for (const char* version : {"", "1.1.2", "1.2.1"}) {
        input.version = version;
        const auto config = storpol::read_zram_generator(input);
        for (const auto& [name, device] : config.devices) {
            (void)config.why_not_made(name);
            storpol::fuzz::require(device.size.bytes.value_or(0) >= 0, "a size below nothing");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = storpol::fuzz::text_of(data, size);
    const auto expression = storpol::ZramExpression::parse(text);
    if (expression) {
        (void)expression->names();
        const auto value = expression->evaluate(8000);
        if (value) (void)storpol::zram_bytes(*value);
    }
    fuzz_generator(text);
    (void)storpol::read_zramswap(text, 8192000);
    (void)storpol::read_zram_init(text);
    (void)storpol::parse_swaps(text);
    (void)storpol::parse_zram_algorithms(text);
    (void)storpol::parse_zram_memory(text);
    (void)storpol::meminfo_kib(text, "MemTotal");
    return 0;
}
