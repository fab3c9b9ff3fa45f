// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/next_boot.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/grub_cfg.h"
#include "engine/text/loader_entry.h"
#include "engine/text/shell_assignments.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

using Loader = NextBoot::Loader;

constexpr std::string_view grub_defaults = "/etc/default/grub";
constexpr std::string_view kernel_cmdline = "/etc/kernel/cmdline";
constexpr std::array<std::string_view, 2> grub_configs{"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"};
// Where the partition with loader/ may be mounted (man systemd-boot: the ESP, or XBOOTLDR at /boot).
constexpr std::array<std::string_view, 3> loader_roots{"/boot", "/efi", "/boot/efi"};

// Boot loaders that are told and left alone.
struct Foreign {
    std::string_view path;
    std::string_view name;
};

constexpr std::array foreign_loaders{
    Foreign{"/boot/extlinux/extlinux.conf", "extlinux"},
    Foreign{"/boot/syslinux/syslinux.cfg", "syslinux"},
    Foreign{"/boot/firmware/cmdline.txt", "Raspberry Pi firmware"},
    Foreign{"/boot/cmdline.txt", "Raspberry Pi firmware"},
    Foreign{"/boot/refind_linux.conf", "rEFInd"},
    Foreign{"/boot/limine.conf", "Limine"},
    Foreign{"/boot/limine.cfg", "Limine"},
    Foreign{"/etc/zipl.conf", "zipl"},
};

// systemd's own variables (man systemd-boot).
constexpr std::string_view loader_variables = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";

bool is_there(Host& host, const std::string& path) {
    return host.stat(path).has_value();
}

// A variable of the firmware: four bytes of attributes, then UTF-16. Only ASCII is kept.
std::optional<std::string> loader_variable(Host& host, std::string_view name) {
    const auto bytes = host.read_file("/sys/firmware/efi/efivars/" + std::string(name) + std::string(loader_variables));
    if (!bytes || bytes->size() < 4) return std::nullopt;
    std::string text;
    for (std::size_t at = 4; at + 1 < bytes->size(); at += 2) {
        const char c = (*bytes)[at];
        if (c == '\0') break;
        text += (*bytes)[at + 1] == '\0' ? c : '?';
    }
    return text;
}

// A path as a boot loader has it, on this host: its filesystem may be the root, /boot or the ESP, or a subvolume.
std::optional<std::string> host_path(Host& host, std::string_view path, std::string_view root) {
    if (path.starts_with('(')) path.remove_prefix(std::min(path.find(')') + 1, path.size()));
    if (!path.starts_with('/')) return std::nullopt;
    std::vector<std::string> candidates{std::string(root) + std::string(path), "/boot" + std::string(path),
                                        std::string(path)};
    if (const auto boot = path.find("/boot/"); boot != std::string_view::npos && boot != 0)
        candidates.emplace_back(path.substr(boot));
    for (auto& candidate : candidates) {
        if (is_there(host, candidate)) return std::move(candidate);
    }
    return std::nullopt;
}

// All lines of a file that holds a command line (/etc/kernel/cmdline); '#' begins a comment line.
PlacedArguments arguments_of_file(const FileText& file) {
    PlacedArguments all;
    int number = 0;
    for (const auto line : split_lines(file.bytes)) {
        ++number;
        if (trim(line).starts_with('#')) continue;
        auto placed = place_arguments(line, {file.path, number, 0}, 0);
        all.insert(all.end(), placed.begin(), placed.end());
    }
    return all;
}

// One variable of grub's defaults as arguments, each at the line and byte it comes from.
void add_shell_arguments(const ShellAssignments& all, const ShellAssignments::Value& value, CommandLine& to) {
    for (auto argument : place_arguments(value.text, {}, 0)) {
        const auto begin = *argument.offset;
        const auto& first = value.origins[begin];
        argument.place = {all.path_of(first.file), static_cast<int>(first.line), 0};
        argument.offset = first.offset;
        for (std::size_t at = 0; at < argument.word.size(); ++at) {
            const auto& origin = value.origins[begin + at];
            const bool follows = origin.is_plain != 0 && origin.file == first.file && origin.line == first.line &&
                                 origin.offset == first.offset + at;
            if (!follows) argument.offset.reset();
        }
        to.arguments.push_back(std::move(argument));
    }
    if (to.place.file.empty()) to.place = {all.path_of(value.file), static_cast<int>(value.line), 0};
}

class Finder {
  public:
    explicit Finder(Host& host) : host_(host) {}

    NextBoot find() {
        const bool has_grub = read_grub();
        const bool has_entries = read_entries();
        const auto running = loader_variable(host_, "LoaderInfo").value_or("");
        const bool by_systemd = running.starts_with("systemd-boot");
        const bool by_grub = running.starts_with("GRUB");
        if (has_grub && (grub_.reads_bls || grub_.menu.empty()) && has_entries && !by_systemd) {
            take_entries(Loader::grub_bls);
        } else if (has_grub && !grub_.menu.empty() && !by_systemd) {
            if (has_entries && has_loader_conf_ && !by_grub) {
                boot_.unknown = "both GRUB and systemd-boot have entries here, and nothing tells which one starts";
            } else {
                take_grub();
            }
        } else if (has_entries) {
            take_entries(Loader::systemd_boot);
        } else {
            take_foreign();
        }
        if (!boot_.unknown.empty()) boot_.command_line = {{}, {}, boot_.unknown};
        read_sources();
        return std::move(boot_);
    }

  private:
    bool read_grub() {
        for (const auto path : grub_configs) {
            auto file = host_.read_file_resolved(path);
            if (!file) {
                if (file.error().kind != ErrorKind::no_such_file && grub_error_.empty())
                    grub_error_ = to_text(file.error());
                continue;
            }
            grub_ = parse_grub_cfg(file->bytes);
            grub_path_ = file->path;
            const auto folder = std::string(path.substr(0, path.rfind('/')));
            if (const auto block = host_.read_file(folder + "/grubenv")) environment_ = parse_grub_environment(*block);
            return true;
        }
        return false;
    }

    bool read_entries() {
        for (const auto root : loader_roots) {
            const auto folder = std::string(root) + "/loader/entries";
            const auto names = host_.list(folder);
            if (!names && names.error().kind != ErrorKind::no_such_file && entries_error_.empty())
                entries_error_ = to_text(names.error());
            has_unified_ = has_unified_ || has_unified_images(std::string(root));
            if (!names) continue;
            for (const auto& name : *names) {
                if (!name.ends_with(".conf")) continue;
                const auto file = host_.read_file_resolved(folder + "/" + name);
                if (!file) {
                    if (entries_error_.empty()) entries_error_ = to_text(file.error());
                    continue;
                }
                entries_.push_back({parse_loader_entry(name, file->bytes), file->path, file->bytes});
            }
            if (entries_.empty()) continue;
            loader_root_ = root;
            const auto config = host_.read_file(std::string(root) + "/loader/loader.conf");
            has_loader_conf_ = config.has_value();
            if (config) loader_lines_ = parse_loader_lines(*config);
            return true;
        }
        return false;
    }

    bool has_unified_images(const std::string& root) {
        const auto names = host_.list(root + "/EFI/Linux");
        if (!names) return false;
        return std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".efi"); });
    }

    // What GRUB boots by itself: once what `grub-reboot` asked for, else what the file says.
    std::string grub_default() const {
        const auto value = [&](const char* name) {
            const auto at = environment_.find(name);
            return at == environment_.end() ? std::string() : at->second;
        };
        if (auto next = value("next_entry"); !next.empty()) return next;
        if (grub_.uses_saved_entry) {
            const auto saved = value("saved_entry");
            return saved.empty() ? "0" : saved;
        }
        return grub_.default_entry;
    }

    void take_grub() {
        boot_.loader = Loader::grub;
        const auto which = grub_default();
        const auto* entry = find_grub_entry(grub_, which);
        if (entry == nullptr) entry = find_grub_entry(grub_, "0");
        if (entry == nullptr || entry->linux_line == 0) {
            boot_.unknown =
                grub_path_ + ": the default entry " + quote_json(which) + " starts no kernel of this system";
            return;
        }
        boot_.entry = entry->id.empty() ? entry->title : entry->id;
        boot_.command_line.place = {grub_path_, entry->linux_line, 0};
        boot_.command_line.arguments = place_arguments(entry->arguments, boot_.command_line.place, std::nullopt);
        take_images(entry->initrds, "/boot");
    }

    void take_images(const std::vector<std::string>& initrds, std::string_view root) {
        for (const auto& initrd : initrds) {
            if (initrd.starts_with('$')) continue;  // $tuned_initrd, empty unless TuneD is used
            if (auto path = host_path(host_, initrd, root)) {
                boot_.images.push_back(std::move(*path));
            } else if (boot_.images_unknown.empty()) {
                boot_.images_unknown = "the initramfs " + printable(initrd) + " of the entry " +
                                       printable(boot_.entry) + " is not found on this host";
            }
        }
    }

    struct EntryFile {
        LoaderEntry entry;
        std::string path;
        std::string bytes;
    };

    void take_entries(Loader loader) {
        boot_.loader = loader;
        std::ranges::stable_sort(entries_, [&](const EntryFile& one, const EntryFile& other) {
            return loader == Loader::grub_bls ? compare_versions(one.entry.id, other.entry.id) > 0
                                              : loader_entry_before(one.entry, other.entry);
        });
        if (!entries_error_.empty()) {
            boot_.unknown = "not all entries can be read: " + entries_error_;
            return;
        }
        const auto* file = loader == Loader::grub_bls ? find_bls_default() : find_systemd_default();
        if (file == nullptr) return;
        const auto& entry = file->entry;
        boot_.entry = entry.id;
        if (entry.linux_path.empty()) {
            boot_.unknown = file->path + ": the default entry starts another program than a kernel of this system";
            return;
        }
        boot_.command_line.place = {file->path, entry.options.empty() ? 0 : entry.options.front().line, 0};
        for (const auto& options : entry.options) add_options(*file, options);
        take_images(entry.initrds, loader_root_);
    }

    const EntryFile* find_bls_default() {
        auto which = grub_default();
        // Where grub.cfg does not say "saved" the number counts these entries too.
        if (!grub_.uses_saved_entry && environment_.contains("saved_entry") && which == "0")
            which = environment_.at("saved_entry");
        for (const auto& file : entries_) {
            if (file.entry.id == which || file.entry.title == which) return &file;
        }
        const auto number = parse_int(which).value_or(0);
        const auto at = number < 0 || static_cast<std::size_t>(number) >= entries_.size()
                            ? std::size_t{0}
                            : static_cast<std::size_t>(number);
        return &entries_[at];
    }

    // Once what `bootctl set-oneshot` asked for, then what the firmware keeps, then loader.conf, then the order.
    const EntryFile* find_systemd_default() {
        std::string pattern;
        for (const auto& line : loader_lines_) {
            if (line.key == "default") pattern = line.value;
        }
        for (const auto* name : {"LoaderEntryOneShot", "LoaderEntryDefault"}) {
            const auto chosen = loader_variable(host_, name);
            if (!chosen || chosen->empty()) continue;
            pattern = *chosen;
            break;
        }
        if (pattern == "@saved") pattern = loader_variable(host_, "LoaderEntryLastBooted").value_or("@saved");
        if (pattern.ends_with(".efi") || pattern.starts_with('@')) {
            boot_.unknown =
                "the default entry " + quote_json(pattern) + " is no file of entries: its command line is not read";
            return nullptr;
        }
        if (!pattern.empty()) {
            for (const auto& file : entries_) {
                const auto name = file.path.substr(file.path.rfind('/') + 1);
                if (glob_match(pattern, file.entry.id) || glob_match(pattern, file.entry.id + ".conf") ||
                    glob_match(pattern, name))
                    return &file;
            }
        }
        if (has_unified_) {
            boot_.unknown =
                "unified kernel images in EFI/Linux may be the default entry: their command line is not read";
            return nullptr;
        }
        return &entries_.front();
    }

    // options root=/dev/mapper/root rw quiet ($kernelopts is a variable of GRUB's environment)
    void add_options(const EntryFile& file, const LoaderLine& options) {
        const auto lines = split_lines(file.bytes);
        const auto whole = lines[static_cast<std::size_t>(options.line) - 1];
        const auto offset = static_cast<std::size_t>(whole.find(options.value, options.key.size()));
        for (auto& argument : place_arguments(options.value, {file.path, options.line, 0}, offset)) {
            if (!argument.word.starts_with('$')) {
                boot_.command_line.arguments.push_back(std::move(argument));
                continue;
            }
            auto name = argument.word.substr(1);
            if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
            const auto value = environment_.find(name);
            if (value == environment_.end()) continue;
            auto placed = place_arguments(
                value->second, {grub_path_.substr(0, grub_path_.rfind('/')) + "/grubenv", 0, 0}, std::nullopt);
            auto& all = boot_.command_line.arguments;
            all.insert(all.end(), placed.begin(), placed.end());
        }
    }

    void take_foreign() {
        for (const auto& foreign : foreign_loaders) {
            if (!is_there(host_, std::string(foreign.path))) continue;
            boot_.loader = Loader::unmanaged;
            boot_.entry = foreign.name;
            boot_.unknown = std::string(foreign.name) + " (" + std::string(foreign.path) + ") is not read";
            return;
        }
        if (has_unified_) {
            boot_.loader = Loader::unmanaged;
            boot_.unknown = "the host boots unified kernel images: what is in them is not read";
            return;
        }
        boot_.unknown = "no boot loader entry is found below /boot and /efi";
        if (!grub_error_.empty()) boot_.unknown = grub_error_;
        if (!entries_error_.empty()) boot_.unknown = entries_error_;
    }

    void read_sources() {
        if (boot_.loader == Loader::grub ||
            (boot_.loader == Loader::none && is_there(host_, std::string(grub_defaults)))) {
            if (read_grub_defaults()) {
                boot_.update = update_of_grub();
                return;
            }
        }
        if (boot_.loader == Loader::systemd_boot || boot_.loader == Loader::grub_bls) {
            const auto file = host_.read_file_resolved(kernel_cmdline);
            if (file) {
                boot_.sources.place = {file->path, 1, 0};
                boot_.sources.arguments = arguments_of_file(*file);
                return;
            }
            if (file.error().kind != ErrorKind::no_such_file) {
                boot_.sources.unknown = to_text(file.error());
                return;
            }
        }
        if (boot_.unknown.empty()) {
            boot_.sources = boot_.command_line;
        } else {
            read_running();
        }
    }

    // Where no entry can be told, the words that this boot was given stand in for what made them: they come from some
    // file that nobody edits here. Without them (an image) there are none.
    void read_running() {
        const auto text = host_.read_file_resolved("/proc/cmdline");
        if (text) {
            boot_.sources.place = {text->path, 0, 0};
            boot_.sources.arguments = place_arguments(text->bytes, boot_.sources.place, std::nullopt);
        } else if (text.error().kind != ErrorKind::no_such_file && text.error().kind != ErrorKind::not_captured) {
            boot_.sources.unknown = to_text(text.error());
        }
    }

    // False where there is none.
    bool read_grub_defaults() {
        const auto main = host_.read_file_resolved(grub_defaults);
        auto& sources = boot_.sources;
        if (!main) {
            if (main.error().kind == ErrorKind::no_such_file) return false;
            sources.unknown = to_text(main.error());
            return true;
        }
        ShellAssignments all;
        all.source(main->path, main->bytes);
        // Debian's grub-mkconfig sources these too, in the order of a glob.
        const auto names = host_.list("/etc/default/grub.d");
        for (const auto& name : names ? *names : std::vector<std::string>{}) {
            if (!name.ends_with(".cfg")) continue;
            const auto file = host_.read_file_resolved("/etc/default/grub.d/" + name);
            if (!file) sources.unknown = to_text(file.error());
            if (file) all.source(file->path, file->bytes);
        }
        if (sources.unknown.empty()) sources.unknown = all.unknown();
        // Normal entries have both, in this order (grub etc/grub.d/10_linux).
        for (const auto* name : {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"}) {
            const auto* value = all.find(name);
            if (value == nullptr) continue;
            if (!value->unknown.empty() && sources.unknown.empty()) sources.unknown = value->unknown;
            if (value->unknown.empty()) add_shell_arguments(all, *value, sources);
        }
        if (sources.place.file.empty()) sources.place = {main->path, 0, 0};
        if (!sources.unknown.empty()) sources.arguments.clear();
        return true;
    }

    RunGenerator update_of_grub() {
        const auto exists = [&](const char* program) {
            const auto answer = host_.ask({QueryKind::program_exists, {program}});
            return !answer.refusal && trim(answer.text) == "yes";
        };
        if (exists("/usr/sbin/update-grub")) return {"/usr/sbin/update-grub", {}, "update-grub"};
        if (grub_path_.starts_with("/boot/grub2/")) {
            const auto* program =
                exists("/usr/bin/grub2-mkconfig") ? "/usr/bin/grub2-mkconfig" : "/usr/sbin/grub2-mkconfig";
            return {program, {"-o", grub_path_}, "grub2-mkconfig"};
        }
        const auto* program = exists("/usr/sbin/grub-mkconfig") ? "/usr/sbin/grub-mkconfig" : "/usr/bin/grub-mkconfig";
        return {program, {"-o", "/boot/grub/grub.cfg"}, "grub-mkconfig"};
    }

    Host& host_;
    NextBoot boot_;
    GrubConfig grub_;
    std::string grub_path_;
    std::string grub_error_;
    std::map<std::string, std::string> environment_;
    std::vector<EntryFile> entries_;
    std::string entries_error_;
    std::string loader_root_;
    std::vector<LoaderLine> loader_lines_;
    bool has_loader_conf_ = false;
    bool has_unified_ = false;
};

}  // namespace

std::string_view to_text(NextBoot::Loader loader) {
    switch (loader) {
        case Loader::none:
            return "none";
        case Loader::grub:
        case Loader::grub_bls:
            return "GRUB";
        case Loader::systemd_boot:
            return "systemd-boot";
        case Loader::unmanaged:
            return "unmanaged";
    }
    return {};
}

const NextBoot& next_boot(const Topology& topology, Host& host) {
    return topology.derived<NextBoot>([&] { return Finder(host).find(); });
}

}  // namespace storpol
