// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/base/text.h"
#include "engine/topology/block_device.h"
#include "engine/topology/crypt_mapping.h"

namespace storpol {
namespace {

// "UUID=...", /dev/disk/by-uuid/... and the name luks-...: what systemd's generator knows a line's device by.
std::string uuid_of_line(const CrypttabEntry& line) {
    const auto path = path_of_tag(line.source);
    constexpr std::string_view folder = "/dev/disk/by-uuid/";
    if (path.starts_with(folder)) return luks_uuid(std::string_view(path).substr(folder.size()));
    return line.name.starts_with("luks-") ? luks_uuid(line.name) : std::string();
}

class Opener {
  public:
    Opener(const CryptStage& stage, std::string_view name, std::string_view uuid)
        : stage_(stage), name_(name), uuid_(luks_uuid(uuid)) {
        if (stage.crypttab != nullptr) line_ = stage.crypttab->find(name);
    }

    CryptOpening open() {
        switch (stage_.reader) {
            case CryptReader::systemd:
                by_systemd();
                break;
            case CryptReader::debian_scripts:
                by_debian();
                break;
            case CryptReader::dracut_scripts:
                by_dracut();
                break;
            case CryptReader::arch_encrypt:
                by_arch();
                break;
        }
        if (opening_.is_opened) {
            opening_.by = std::string(to_text(stage_.reader)) + (stage_.in_initramfs ? " in the initramfs" : "");
        }
        std::ranges::stable_sort(opening_.sources, std::greater{}, &CryptSource::decides);
        return std::move(opening_);
    }

  private:
    static const PlacedArguments& none() {
        static const PlacedArguments empty;
        return empty;
    }

    const PlacedArguments& arguments() const { return stage_.arguments == nullptr ? none() : *stage_.arguments; }

    CryptSource source_of(CryptSource::Kind kind, std::vector<std::string> words) const {
        CryptSource source;
        source.kind = kind;
        source.reader = stage_.reader;
        source.read_by = to_text(stage_.reader);
        for (const auto& word : words) {
            if (const auto flag = flag_of_option(stage_.reader, word)) source.flags.emplace(*flag);
            if (flag_meant(stage_.reader, word)) source.misspelt.insert(word);
        }
        source.words = std::move(words);
        return source;
    }

    CryptSource crypttab_source() const {
        auto source = source_of(CryptSource::Kind::crypttab, line_->options);
        source.place = {stage_.crypttab_path, stage_.has_lines ? line_->line : 0, 0};
        source.where = to_text(source.place);
        source.line = *line_;
        return source;
    }

    CryptSource argument_source(const PlacedArgument& argument, std::vector<std::string> words) const {
        auto source = source_of(CryptSource::Kind::command_line, std::move(words));
        source.place = argument.place;
        source.where = to_text(argument.place);
        source.argument = argument;
        return source;
    }

    void add(CryptSource source, bool decides, std::string why_not = {}) {
        source.decides = decides;
        source.why_not = std::move(why_not);
        opening_.sources.push_back(std::move(source));
    }

    void need_arguments() {
        if (opening_.unknown.empty()) opening_.unknown = stage_.arguments_unknown;
    }

    void need_crypttab() {
        if (opening_.unknown.empty()) opening_.unknown = stage_.crypttab_unknown;
    }

    // systemd src/cryptsetup/cryptsetup-generator.c: add_crypttab_devices, add_proc_cmdline_devices.
    void by_systemd() {
        need_arguments();
        need_crypttab();
        const auto luks = read_luks_arguments(arguments(), stage_.in_initramfs);
        if (!luks.is_enabled) {
            opening_.why_not_opened = "luks=no on the kernel command line switches it off";
            return;
        }
        const auto uuid = line_ != nullptr ? uuid_of_line(*line_) : uuid_;
        const auto* disk = uuid.empty() ? nullptr : luks.find(uuid);
        const auto* listed = uuid_.empty() ? nullptr : luks.find(uuid_);
        if (line_ != nullptr && luks.reads_crypttab) {
            if (luks.listed_by == nullptr || disk != nullptr) return open_line(luks, disk);
            const auto why = quote_json(luks.listed_by->word) + " at " + to_text(luks.listed_by->place) +
                             " makes lines void whose devices the command line does not name by UUID";
            if (listed == nullptr || !listed->is_created) opening_.why_not_opened = why;
            add(crypttab_source(), false, why);
        }
        if (listed != nullptr && listed->is_created) open_listed(luks, *listed);
    }

    void open_line(const LuksArguments& luks, const LuksArguments::Disk* disk) {
        opening_.is_opened = true;
        const bool replaced = disk != nullptr && disk->options != nullptr;
        add(crypttab_source(), !replaced,
            replaced ? "the options for its UUID at " + to_text(disk->options->place) + " replace all of the line's"
                     : "");
        if (replaced) add(argument_source(*disk->options, words_of_luks_options(*disk->options)), true);
        if (luks.default_options != nullptr) {
            add(argument_source(*luks.default_options, words_of_luks_options(*luks.default_options)), false,
                "options without a UUID are for devices without a crypttab line, and " + line_where() +
                    " names this one");
        }
    }

    void open_listed(const LuksArguments& luks, const LuksArguments::Disk& disk) {
        const auto name = disk.name.empty() ? "luks-" + disk.uuid : disk.name;
        if (name != name_) return;
        opening_.is_opened = true;
        const auto* options = disk.options != nullptr ? disk.options : luks.default_options;
        if (options != nullptr) {
            add(argument_source(*options, words_of_luks_options(*options)), true);
            if (disk.options != nullptr && luks.default_options != nullptr) {
                add(argument_source(*luks.default_options, words_of_luks_options(*luks.default_options)), false,
                    "the device has options of its own on the command line");
            }
            return;
        }
        if (disk.named_by != nullptr) add(argument_source(*disk.named_by, {}), true);
    }

    std::string line_where() const {
        return stage_.has_lines ? stage_.crypttab_path + ":" + std::to_string(line_->line)
                                : "the crypttab in " + stage_.crypttab_path;
    }

    void by_debian() {
        need_crypttab();
        if (line_ == nullptr) return;
        opening_.is_opened = true;
        add(crypttab_source(), true);
    }

    // dracut modules.d/70crypt: parse-crypt.sh says which, cryptroot-ask.sh how. A uuid may be cut short.
    void by_dracut() {
        need_arguments();
        const PlacedArgument* named = nullptr;
        const PlacedArgument* allowed = nullptr;
        for (const auto& argument : arguments()) {
            const bool for_this = argument.value && !uuid_.empty() && !luks_uuid(*argument.value).empty() &&
                                  uuid_.starts_with(luks_uuid(*argument.value));
            if (argument.name == "rd.luks.uuid" && for_this) named = &argument;
            const bool for_all = !argument.value || *argument.value == "1" || *argument.value == "yes";
            if (argument.name == "rd.luks.allow-discards" && (for_this || for_all)) allowed = &argument;
        }
        if (named == nullptr && line_ == nullptr) return;
        opening_.is_opened = true;
        if (allowed != nullptr) add(argument_source(*allowed, {"allow-discards"}), true);
        if (line_ != nullptr) add(crypttab_source(), true);
        if (line_ == nullptr && allowed == nullptr && named != nullptr) add(argument_source(*named, {}), true);
    }

    void by_arch() {
        need_arguments();
        const auto device = read_cryptdevice(arguments());
        if (!device || device->name != name_) return;
        opening_.is_opened = true;
        add(argument_source(*device->argument, device->options), true);
    }

    const CryptStage& stage_;
    std::string_view name_;
    std::string uuid_;
    const CrypttabEntry* line_ = nullptr;
    CryptOpening opening_;
};

}  // namespace

CryptOpening opening_in(const CryptStage& stage, std::string_view name, std::string_view uuid) {
    return Opener(stage, name, uuid).open();
}

const CryptSource* CryptOpening::deciding() const {
    return sources.empty() || !sources.front().decides ? nullptr : &sources.front();
}

FlagAnswer flag_of(const CryptOpening& opening, const LuksHeader& header, std::string_view flag) {
    FlagAnswer answer;
    const std::string name(flag);
    for (const auto& source : opening.sources) {
        if (!source.decides || !source.flags.contains(name)) continue;
        (answer.source.empty() ? answer.source : answer.shadows.emplace_back()) = source.where;
    }
    if (header.flags.contains(name)) {
        if (!answer.source.empty()) answer.shadows.insert(answer.shadows.begin(), answer.source);
        answer.source = header.where();
    }
    if (!answer.source.empty()) {
        answer.is_on = true;
        return answer;
    }
    const auto* deciding = opening.deciding();
    answer.source = deciding != nullptr ? deciding->where : header.version == 2 ? header.where() : std::string();
    if (!opening.unknown.empty()) {
        answer.why = opening.unknown;
    } else if (!header.unknown.empty()) {
        answer.why = header.unknown;
    } else {
        answer.is_on = false;
    }
    return answer;
}

}  // namespace storpol
