// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/crypt_device.h"
#include "engine/host/device_mapper.h"
#include "engine/host/live_steps.h"
#include "engine/host/luks_header.h"

namespace storpol {
namespace {

using Words = std::vector<std::string>;

bool holds(const Words& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

// The step that puts `now` back: the opposite of what really changes.
template <class ChangesFlags>
ChangesFlags opposite(ChangesFlags step, const Words& now) {
    Words back_in;
    Words back_out;
    for (const auto& word : step.take_out)
        if (holds(now, word)) back_in.push_back(word);
    for (const auto& word : step.put_in)
        if (!holds(now, word)) back_out.push_back(word);
    step.put_in = std::move(back_in);
    step.take_out = std::move(back_out);
    return step;
}

template <class ChangesFlags>
Result<void> check_words(const ChangesFlags& step) {
    for (const auto* words : {&step.put_in, &step.take_out})
        for (const auto& word : *words)
            if (!is_crypt_flag(word))
                return fail(ErrorKind::invalid, "no flag of dm-crypt: " + printable(word), printable(step.mapping));
    return {};
}

// As told and as wanted, or the reason that success may not be claimed.
template <class ChangesFlags>
Result<std::string> check_outcome(const ChangesFlags& step, const Result<Words>& now) {
    if (!now) return tl::make_unexpected(now.error());
    const auto is_set = [&](const std::string& word) { return holds(*now, word); };
    if (std::ranges::all_of(step.put_in, is_set) && std::ranges::none_of(step.take_out, is_set)) return join(*now, ",");
    return fail(ErrorKind::failed, "it answered success and holds other flags: " + printable(join(*now, ",")),
                printable(step.mapping));
}

Result<Words> header_flags(const SetLuksFlags& step) {
    PathWalk walk;
    const auto header = read_luks_header(walk, step.device);
    if (!header) return tl::make_unexpected(header.error());
    if (header->uuid != step.uuid)
        return fail(ErrorKind::changed, "another LUKS header lies there than the plan was made for",
                    printable(step.device), "plan again");
    if (header->version != 2)
        return fail(ErrorKind::unsupported, "a LUKS1 header keeps no flags", printable(step.device),
                    "name the option in crypttab, or convert the header to LUKS2");
    return header->flags;
}

Result<Words> mapping_flags(const RefreshMapping& step) {
    DmDevice device;
    const int code = read_dm_device(step.mapping, DmContent::info, device);
    if (code != 0) return fail_errno(code, "cannot ask device-mapper", printable(step.mapping));
    if (device.uuid != step.dm_uuid)
        return fail(ErrorKind::changed,
                    "another device has that name than the plan was made for: " + printable(device.uuid),
                    printable(step.mapping), "plan again");
    if (device.is_suspended)
        return fail(ErrorKind::failed, "the mapping is suspended", printable(step.mapping),
                    "run 'cryptsetup luksResume', or 'dmsetup resume' where nothing else holds it");
    return active_crypt_flags(step.mapping);
}

}  // namespace

Result<std::string> state_of(const SetLuksFlags& step) {
    const auto now = header_flags(step);
    if (!now) return tl::make_unexpected(now.error());
    return join(*now, ",");
}

Result<std::vector<Step>> undo_of(const SetLuksFlags& step) {
    const auto now = header_flags(step);
    if (!now) return tl::make_unexpected(now.error());
    return std::vector<Step>{opposite(step, *now)};
}

Result<std::string> perform(const SetLuksFlags& step) {
    if (const auto known = check_words(step); !known) return tl::make_unexpected(known.error());
    if (const auto now = header_flags(step); !now) return tl::make_unexpected(now.error());
    if (const auto stored = store_luks_flags(step); !stored) return tl::make_unexpected(stored.error());
    return check_outcome(step, header_flags(step));
}

Result<std::string> state_of(const RefreshMapping& step) {
    const auto now = mapping_flags(step);
    if (!now) return tl::make_unexpected(now.error());
    return join(*now, ",");
}

Result<std::vector<Step>> undo_of(const RefreshMapping& step) {
    const auto now = mapping_flags(step);
    if (!now) return tl::make_unexpected(now.error());
    return std::vector<Step>{opposite(step, *now)};
}

Result<std::string> perform(const RefreshMapping& step) {
    if (const auto known = check_words(step); !known) return tl::make_unexpected(known.error());
    if (const auto now = mapping_flags(step); !now) return tl::make_unexpected(now.error());
    const bool is_nothing = step.put_in.empty() && step.take_out.empty();  // the undo of what changed nothing
    if (is_nothing) return state_of(step);
    if (const auto refreshed = refresh_mapping(step); !refreshed) return tl::make_unexpected(refreshed.error());
    return check_outcome(step, mapping_flags(step));
}

}  // namespace storpol
