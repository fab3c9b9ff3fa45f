// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/boot_image.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/next_boot.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

using Maker = BootImage::Maker;

// What tells who made an image, and what in it opens devices. Each question unpacks the whole image, so the likely one
// comes first, and of a known maker nothing is asked that it never puts in.
struct Mark {
    std::string_view member;
    Maker maker;                        // whose it is; unknown: anybody's
    std::optional<CryptReader> reader;  // what it shows to open devices
};

constexpr std::array marks{
    Mark{"cryptroot/crypttab", Maker::initramfs_tools, CryptReader::debian_scripts},
    Mark{"scripts/local-top/cryptroot", Maker::initramfs_tools, CryptReader::debian_scripts},
    Mark{"hooks/encrypt", Maker::mkinitcpio, CryptReader::arch_encrypt},
    Mark{"usr/lib/systemd/system/cryptsetup.target", Maker::unknown, CryptReader::systemd},
    Mark{"usr/lib/systemd/systemd-cryptsetup", Maker::unknown, CryptReader::systemd},
    Mark{"usr/bin/systemd-cryptsetup", Maker::unknown, CryptReader::systemd},
    Mark{"usr/sbin/cryptroot-ask", Maker::dracut, CryptReader::dracut_scripts},
    Mark{"sbin/cryptroot-ask", Maker::dracut, CryptReader::dracut_scripts},
    Mark{"conf/initramfs.conf", Maker::initramfs_tools, std::nullopt},
    Mark{"buildconfig", Maker::mkinitcpio, std::nullopt},
    Mark{"usr/lib/dracut/build-parameter.txt", Maker::dracut, std::nullopt},
};

// HOOKS=(base udev autodetect modconf block encrypt lvm2 filesystems), also as a string in older files.
std::vector<std::string> hooks_of(std::string_view config) {
    std::vector<std::string> hooks;
    for (const auto line : split_lines(config)) {
        auto rest = trim(line);
        if (!rest.starts_with("HOOKS=")) continue;
        hooks.clear();
        rest.remove_prefix(6);
        std::string text(rest.substr(0, rest.find('#')));
        std::ranges::replace_if(
            text, [](char c) { return std::string_view("()\"'").find(c) != std::string_view::npos; }, ' ');
        for (const auto word : split_words(text)) hooks.emplace_back(word);
    }
    return hooks;
}

std::optional<CryptReader> reader_of_hooks(const std::vector<std::string>& hooks) {
    if (std::ranges::find(hooks, "encrypt") != hooks.end()) return CryptReader::arch_encrypt;
    if (std::ranges::find(hooks, "sd-encrypt") != hooks.end()) return CryptReader::systemd;
    return std::nullopt;
}

class Reader {
  public:
    Reader(const Topology& topology, Host& host) : topology_(topology), host_(host), boot_(next_boot(topology, host)) {}

    BootImage read() {
        if (!boot_.images.empty()) image_.path = boot_.images.back();
        if (!boot_.unknown.empty()) image_.unknown = boot_.unknown;
        if (image_.unknown.empty()) image_.unknown = boot_.images_unknown;
        image_.maker = installed_maker();
        if (image_.unknown.empty() && !image_.path.empty()) read_marks();
        // An entry without an initramfs opens nothing before the root.
        if (!image_.unknown.empty()) look_at_installed();
        image_.rebuild = rebuild();
        return std::move(image_);
    }

  private:
    std::optional<bool> has(std::string_view member) {
        const auto bytes = read_image_member(topology_, host_, member);
        if (bytes) return true;
        if (bytes.error().kind == ErrorKind::no_such_file) return false;
        image_.unknown = to_text(bytes.error());
        return std::nullopt;
    }

    void read_marks() {
        for (const auto& mark : marks) {
            const bool is_foreign = mark.maker != Maker::unknown && mark.maker != image_.maker;
            if (image_.maker != Maker::unknown && (is_foreign || !mark.reader)) continue;
            const auto found = has(mark.member);
            if (!found) return;
            if (!*found) continue;
            if (image_.maker == Maker::unknown) image_.maker = mark.maker;
            image_.opens = mark.reader;
            if (image_.opens) return;
        }
    }

    bool is_there(const char* path) { return host_.stat(path).has_value(); }

    bool is_program(const char* path) {
        const auto answer = host_.ask({QueryKind::program_exists, {path}});
        return !answer.refusal && trim(answer.text) == "yes";
    }

    // The one that is installed; where there are several the image must tell.
    Maker installed_maker() {
        std::vector<Maker> found;
        if (is_program("/usr/sbin/update-initramfs")) found.push_back(Maker::initramfs_tools);
        if (is_program("/usr/bin/mkinitcpio")) found.push_back(Maker::mkinitcpio);
        if (is_program("/usr/bin/dracut")) found.push_back(Maker::dracut);
        if (found.empty() && is_there("/etc/initramfs-tools/initramfs.conf")) found.push_back(Maker::initramfs_tools);
        if (found.empty() && is_there("/etc/mkinitcpio.conf")) found.push_back(Maker::mkinitcpio);
        if (found.empty() && (is_there("/etc/dracut.conf") || is_there("/etc/dracut.conf.d")))
            found.push_back(Maker::dracut);
        return found.size() == 1 ? found.front() : Maker::unknown;
    }

    // What the next image would open with, for files that people edit: the image itself cannot be asked.
    void look_at_installed() {
        switch (image_.maker) {
            case Maker::initramfs_tools:
                image_.opens = CryptReader::debian_scripts;
                break;
            case Maker::mkinitcpio: {
                const auto config = host_.read_file("/etc/mkinitcpio.conf");
                image_.opens = reader_of_hooks(hooks_of(config ? *config : std::string()));
                break;
            }
            case Maker::dracut:
                image_.opens = is_there("/usr/lib/systemd/systemd") || is_there("/lib/systemd/systemd")
                                   ? CryptReader::systemd
                                   : CryptReader::dracut_scripts;
                break;
            case Maker::unknown:
                break;
        }
    }

    RunGenerator rebuild() {
        // There the image comes with the system and is not made here.
        if (is_there("/run/ostree-booted")) return {"", {}, image_.path};
        switch (image_.maker) {
            case Maker::initramfs_tools:
                return {"/usr/sbin/update-initramfs", {"-u", "-k", "all"}, image_.path};
            case Maker::dracut:
                return {"/usr/bin/dracut", {"--force", "--regenerate-all"}, image_.path};
            case Maker::mkinitcpio:
                return {"/usr/bin/mkinitcpio", {"-P"}, image_.path};
            case Maker::unknown:
                break;
        }
        return {"", {}, image_.path};
    }

    const Topology& topology_;
    Host& host_;
    const NextBoot& boot_;
    BootImage image_;
};

}  // namespace

std::string_view to_text(BootImage::Maker maker) {
    switch (maker) {
        case Maker::unknown:
            return "an unknown program";
        case Maker::initramfs_tools:
            return "initramfs-tools";
        case Maker::dracut:
            return "dracut";
        case Maker::mkinitcpio:
            return "mkinitcpio";
    }
    return {};
}

std::string_view BootImage::crypttab_member() const {
    if (!opens || *opens == CryptReader::arch_encrypt) return {};
    return *opens == CryptReader::debian_scripts ? "cryptroot/crypttab" : "etc/crypttab";
}

std::string_view BootImage::crypttab_source() const {
    if (!opens || *opens == CryptReader::arch_encrypt) return {};
    // mkinitcpio install/sd-encrypt
    return maker == Maker::mkinitcpio ? "/etc/crypttab.initramfs" : "/etc/crypttab";
}

const BootImage& boot_image(const Topology& topology, Host& host) {
    return topology.derived<BootImage>([&] { return Reader(topology, host).read(); });
}

Result<std::string> read_image_member(const Topology& topology, Host& host, std::string_view member) {
    const auto& images = next_boot(topology, host).images;
    Result<std::string> last = fail(ErrorKind::no_such_file, "the next boot has no initramfs", std::string(member));
    for (auto image = images.rbegin(); image != images.rend(); ++image) {
        auto bytes = host.image_member(*image, member);
        if (bytes || bytes.error().kind != ErrorKind::no_such_file) return bytes;
        last = std::move(bytes);
    }
    return last;
}

}  // namespace storpol
