// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/generators.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace storpol {
namespace {

// Words of a shape: themselves, or one of these.
constexpr std::string_view version_word = "VERSION";    // a kernel's, "all", or the name of a preset
constexpr std::string_view path_word = "BOOT-PATH";     // below /boot or /efi
constexpr std::string_view kernel_word = "KERNEL";      // an image below /usr/lib/modules or /lib/modules
constexpr std::string_view argument_end = "=ARGUMENT";  // "--args=k=v"

struct Shape {
    std::string_view program;  // its name; it lies in /usr/sbin, /usr/bin, /sbin or /bin
    Artefact artefact;
    std::string_view options;
};

// man 8 update-initramfs, dracut, mkinitcpio, update-grub, grub-mkconfig, zipl, grubby; man kernel-install;
// proxmox-boot-tool(8); update-bootloader(8) of openSUSE.
constexpr std::array shapes{
    Shape{"update-initramfs", Artefact::initramfs, "-u"},
    Shape{"update-initramfs", Artefact::initramfs, "-u -k VERSION"},
    Shape{"dracut", Artefact::initramfs, "--force"},
    Shape{"dracut", Artefact::initramfs, "--force --regenerate-all"},
    Shape{"dracut", Artefact::initramfs, "--regenerate-all --force"},
    Shape{"dracut", Artefact::initramfs, "--force --kver VERSION"},
    Shape{"dracut", Artefact::initramfs, "--force BOOT-PATH VERSION"},
    Shape{"mkinitcpio", Artefact::initramfs, "-P"},
    Shape{"mkinitcpio", Artefact::initramfs, "-p VERSION"},
    Shape{"kernel-install", Artefact::initramfs, "add-all"},
    Shape{"kernel-install", Artefact::initramfs, "add VERSION KERNEL"},
    Shape{"reinstall-kernels", Artefact::initramfs, ""},
    Shape{"update-grub", Artefact::bootloader, ""},
    Shape{"grub-mkconfig", Artefact::bootloader, "-o BOOT-PATH"},
    Shape{"grub2-mkconfig", Artefact::bootloader, "-o BOOT-PATH"},
    Shape{"grub2-mkconfig", Artefact::bootloader, "-o BOOT-PATH --update-bls-cmdline"},
    Shape{"grub2-mkconfig", Artefact::bootloader, "--update-bls-cmdline -o BOOT-PATH"},
    Shape{"update-bootloader", Artefact::bootloader, ""},
    Shape{"update-bootloader", Artefact::bootloader, "--refresh"},
    Shape{"proxmox-boot-tool", Artefact::bootloader, "refresh"},
    Shape{"zipl", Artefact::bootloader, ""},
    Shape{"grubby", Artefact::bootloader, "--update-kernel=ALL --args=ARGUMENT"},
    Shape{"grubby", Artefact::bootloader, "--update-kernel=ALL --remove-args=ARGUMENT"},
};

bool is_made_of(std::string_view text, std::string_view more) {
    const auto is_one = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               more.find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= 4096 && std::ranges::all_of(text, is_one);
}

bool is_version(std::string_view text) {
    return is_made_of(text, "._+~-") && text.front() != '-' && text.front() != '.';
}

bool is_path_below(std::string_view text, const std::vector<std::string_view>& folders) {
    const auto holds = [&](std::string_view folder) { return text.starts_with(folder); };
    return is_made_of(text, "/._+~-") && std::ranges::any_of(folders, holds) &&
           text.find("/.") == std::string_view::npos;
}

bool fits_word(std::string_view shape, std::string_view option) {
    if (shape == version_word) return is_version(option);
    if (shape == path_word) return is_path_below(option, {"/boot/", "/efi/"});
    if (shape == kernel_word) return is_path_below(option, {"/usr/lib/modules/", "/lib/modules/"});
    if (!shape.ends_with(argument_end)) return shape == option;
    const auto start = shape.substr(0, shape.size() - argument_end.size() + 1);
    return option.starts_with(start) && is_made_of(option.substr(start.size()), "=._,:/@%+-");
}

bool fits(const Shape& shape, const RunGenerator& step) {
    const auto words = split_words(shape.options);
    return std::ranges::equal(words, step.options,
                              [](std::string_view word, const std::string& option) { return fits_word(word, option); });
}

}  // namespace

Result<Artefact> check_generator(const RunGenerator& step) {
    const auto slash = step.program.rfind('/');
    const auto name = slash == std::string::npos ? step.program : step.program.substr(slash + 1);
    const auto folder = slash == std::string::npos ? std::string() : step.program.substr(0, slash);
    const bool is_in_place = folder == "/usr/sbin" || folder == "/usr/bin" || folder == "/sbin" || folder == "/bin";
    const auto has_name = [&](const Shape& shape) { return shape.program == name; };
    if (!is_in_place || std::ranges::none_of(shapes, has_name))
        return fail(ErrorKind::invalid, "not a program that makes boot artefacts", printable(step.program));
    for (const auto& shape : shapes)
        if (has_name(shape) && fits(shape, step)) return shape.artefact;
    return fail(ErrorKind::invalid, "not run with these options: " + printable(join(step.options, " ")),
                printable(step.program));
}

}  // namespace storpol
