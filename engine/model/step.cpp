// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/step.h"

#include <algorithm>
#include <array>

#include "engine/base/result.h"

namespace storpol {

namespace {

struct VerbName {
    Verb verb;
    std::string_view name;
};

// Part of the interface: users write these in --allow VERB:TARGET.
constexpr std::array<VerbName, 22> verb_names{{
    {Verb::write, "write"},
    {Verb::edit, "edit"},
    {Verb::create, "create"},
    {Verb::remove, "delete"},
    {Verb::drop_in, "drop-in"},
    {Verb::enable_unit, "enable-unit"},
    {Verb::disable_unit, "disable-unit"},
    {Verb::start_unit, "start-unit"},
    {Verb::remount, "remount"},
    {Verb::set_luks2_flag, "set-luks2-flag"},
    {Verb::clear_luks2_flag, "clear-luks2-flag"},
    {Verb::refresh_mapping, "refresh-mapping"},
    {Verb::reload_table, "reload-table"},
    {Verb::change_thin_pool, "change-thin-pool"},
    {Verb::set_up_zram, "set-up-zram"},
    {Verb::swap_off, "swap-off"},
    {Verb::swap_on, "swap-on"},
    {Verb::daemon_reload, "daemon-reload"},
    {Verb::reload_udev, "reload-udev"},
    {Verb::rebuild_initramfs, "rebuild-initramfs"},
    {Verb::update_bootloader, "update-bootloader"},
    {Verb::set_kernel_argument, "set-kernel-argument"},
}};

struct TargetOf {
    std::string operator()(const EditFile& edit) const { return edit.path; }

    std::string operator()(const ReplaceFile& replace) const { return replace.path; }

    std::string operator()(const DeleteFile& file) const { return file.path; }

    std::string operator()(const SetLink& link) const { return link.path; }

    std::string operator()(const WriteAttribute& write) const { return write.path; }

    std::string operator()(const Remount& remount) const { return remount.target; }

    std::string operator()(const DaemonReload&) const { return "systemd"; }

    std::string operator()(const StartUnit& start) const { return start.unit; }

    std::string operator()(const SetLuksFlags& flags) const { return flags.mapping; }

    std::string operator()(const RefreshMapping& refresh) const { return refresh.mapping; }

    std::string operator()(const ReloadTable& reload) const { return reload.mapping; }

    std::string operator()(const ChangeThinPool& change) const { return change.pool; }

    std::string operator()(const SetUpZram& zram) const { return zram.device; }

    std::string operator()(const UseSwap& swap) const { return swap.device; }

    std::string operator()(const RunGenerator& run) const { return run.target; }
};

}  // namespace

std::string_view to_text(Verb verb) {
    const auto found = std::ranges::find(verb_names, verb, &VerbName::verb);
    if (found == verb_names.end()) STORPOL_BUG("a verb without a name");
    return found->name;
}

std::optional<Verb> parse_verb(std::string_view text) {
    const auto found = std::ranges::find(verb_names, text, &VerbName::name);
    if (found == verb_names.end()) return std::nullopt;
    return found->verb;
}

std::string target_of(const Step& step) {
    return std::visit(TargetOf{}, step);
}

bool is_file_step(const Step& step) {
    return std::holds_alternative<EditFile>(step) || std::holds_alternative<ReplaceFile>(step) ||
           std::holds_alternative<DeleteFile>(step) || std::holds_alternative<SetLink>(step);
}

}  // namespace storpol
