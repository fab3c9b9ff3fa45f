// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A kernel command line cut into words by the kernel's own rules (kernel lib/cmdline.c, next_arg): white space
// separates, double quotes keep it together, quotes around a word or around a value are dropped. Pure; order and
// spelling are kept.
namespace storpol {

struct KernelArgument {
    std::string name;                  // before the first '='; "-" and "_" are one to the kernel, see same_argument
    std::optional<std::string> value;  // after it, unquoted; none for a bare word
    std::size_t begin = 0;             // the word's bytes [begin, end) of the parsed text, quotes included
    std::size_t end = 0;
    bool operator==(const KernelArgument&) const = default;
};

class KernelCommandLine {
  public:
    static KernelCommandLine parse(std::string_view text);

    const std::vector<KernelArgument>& arguments() const { return arguments_; }

    // The last one of that name: what the kernel, dracut and initramfs-tools act on for root=, rootflags=, rootfstype=.
    const KernelArgument* last(std::string_view name) const;
    // All values of that name in order, bare words left out: systemd joins every rootflags= with commas instead.
    std::vector<std::string> values(std::string_view name) const;

    std::optional<std::string> root() const;        // "UUID=...", "/dev/mapper/root"
    std::optional<std::string> rootflags() const;   // of the last rootflags=
    std::optional<std::string> rootfstype() const;  // may be a comma list, tried in order
    // Of `ro` and `rw` the later one; none where neither stands there (the kernel then mounts read-only).
    std::optional<bool> read_only() const;

  private:
    std::vector<KernelArgument> arguments_;
};

// The kernel takes "-" and "_" in a parameter's name for the same (kernel kernel/params.c, parameq).
bool same_argument(std::string_view a, std::string_view b);

// "name=value" or "name", quoted where it holds white space. None for a value with a double quote, which has no
// spelling.
std::optional<std::string> render_argument(std::string_view name, const std::optional<std::string>& value);

}  // namespace storpol
