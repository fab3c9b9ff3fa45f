// SPDX-License-Identifier: GPL-3.0-or-later
#include <cerrno>

#include "engine/host/attribute_writer.h"
#include "engine/host/file_performer.h"
#include "engine/host/live_steps.h"
#include "engine/host/performer.h"
#include "engine/host/remount.h"
#include "engine/host/root_directory.h"
#include "engine/host/unit_query.h"

namespace storpol {
namespace {

// Edits are folded into replacements before they get here (engine/reconcile/planner.h).
tl::unexpected<Error> fail_unfolded(const EditFile& step) {
    return fail(ErrorKind::unsupported, "an edit is performed as the replacement of its file", step.path);
}

tl::unexpected<Error> fail_in_image(const std::string& target) {
    return fail(ErrorKind::unsupported, "an image has no running system to change", target);
}

// A reload has no state of its own: done once more it changes nothing.
constexpr const char* reloaded = "reloaded";

class TreePerformer final : public Performer {
  public:
    TreePerformer(PathWalk walk, bool is_image) : files_(std::move(walk)), is_image_(is_image) {}

    Result<std::string> state(const Step& step) override {
        return std::visit([this](const auto& one) { return state_of(one); }, step);
    }

    Result<std::vector<Step>> undo_of(const Step& step) override {
        return std::visit([this](const auto& one) { return undo(one); }, step);
    }

    Result<std::string> perform(const Step& step) override {
        return std::visit([this](const auto& one) { return perform_one(one); }, step);
    }

    void clean_up(const Step& step) override {
        if (const auto* replace = std::get_if<ReplaceFile>(&step)) files_.clean_up(replace->path);
        if (is_image_) return;
        // A device that stays suspended stops everything that writes to it.
        if (const auto* refresh = std::get_if<RefreshMapping>(&step)) resume_if_suspended(refresh->mapping);
        if (const auto* reload = std::get_if<ReloadTable>(&step)) resume_if_suspended(reload->mapping);
        // Memory that was swapped out needs its place back.
        if (const auto* zram = std::get_if<SetUpZram>(&step)) finish_set_up(*zram);
        if (const auto* swap = std::get_if<UseSwap>(&step)) finish_swap(*swap);
    }

  private:
    Result<std::string> state_of(const EditFile& step) { return files_.state(step.path); }

    Result<std::string> state_of(const ReplaceFile& step) { return files_.state(step.path); }

    Result<std::string> state_of(const DeleteFile& step) { return files_.state(step.path); }

    Result<std::string> state_of(const SetLink& step) { return files_.link_state(step.path); }

    Result<std::string> state_of(const WriteAttribute& step) {
        return is_image_ ? fail_in_image(step.path) : read_attribute(step.path);
    }

    Result<std::string> state_of(const Remount& step) {
        return is_image_ ? fail_in_image(step.target) : mount_state(step.target);
    }

    Result<std::string> state_of(const DaemonReload&) { return std::string(reloaded); }

    template <class OnlyLive>
    Result<std::string> state_of(const OnlyLive& step) {
        return is_image_ ? fail_in_image(target_of(step)) : storpol::state_of(step);
    }

    Result<std::vector<Step>> undo(const EditFile& step) { return fail_unfolded(step); }

    Result<std::vector<Step>> undo(const ReplaceFile& step) { return files_.undo_of(step); }

    Result<std::vector<Step>> undo(const DeleteFile& step) { return files_.undo_of(step); }

    Result<std::vector<Step>> undo(const SetLink& step) { return files_.undo_of(step); }

    Result<std::vector<Step>> undo(const WriteAttribute& step) {
        const auto now = state_of(step);
        if (!now) return tl::make_unexpected(now.error());
        return std::vector<Step>{WriteAttribute{step.path, *now}};
    }

    Result<std::vector<Step>> undo(const Remount& step) {
        return is_image_ ? fail_in_image(step.target) : undo_of_remount(step);
    }

    Result<std::vector<Step>> undo(const DaemonReload& step) { return std::vector<Step>{step}; }

    template <class OnlyLive>
    Result<std::vector<Step>> undo(const OnlyLive& step) {
        return is_image_ ? fail_in_image(target_of(step)) : storpol::undo_of(step);
    }

    Result<std::string> perform_one(const EditFile& step) { return fail_unfolded(step); }

    Result<std::string> perform_one(const ReplaceFile& step) { return files_.perform(step); }

    Result<std::string> perform_one(const DeleteFile& step) { return files_.perform(step); }

    Result<std::string> perform_one(const SetLink& step) { return files_.perform(step); }

    Result<std::string> perform_one(const WriteAttribute& step) {
        return is_image_ ? fail_in_image(step.path) : write_attribute(step);
    }

    Result<std::string> perform_one(const Remount& step) {
        return is_image_ ? fail_in_image(step.target) : remount(mounts_, step);
    }

    Result<std::string> perform_one(const DaemonReload&) {
        if (is_image_) return fail_in_image("systemd");
        const int code = UnitQuery().reload();
        if (code == ENOENT)
            return fail(ErrorKind::unsupported, "no service manager answers on the system bus", "systemd");
        if (code != 0) return fail_errno(code, "the service manager did not reload", "systemd");
        return std::string(reloaded);
    }

    template <class OnlyLive>
    Result<std::string> perform_one(const OnlyLive& step) {
        return is_image_ ? fail_in_image(target_of(step)) : storpol::perform(step);
    }

    FilePerformer files_;
    PathWalk mounts_;
    bool is_image_;
};

}  // namespace

std::unique_ptr<Performer> make_live_performer() {
    return std::make_unique<TreePerformer>(PathWalk(), false);
}

Result<std::unique_ptr<Performer>> make_root_performer(std::string_view directory) {
    auto walk = open_root_directory(directory);
    if (!walk) return tl::make_unexpected(walk.error());
    return std::make_unique<TreePerformer>(std::move(*walk), true);
}

}  // namespace storpol
