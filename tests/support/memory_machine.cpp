// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/memory_machine.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/policy/load.h"
#include "tests/support/memory_mounts.h"

namespace storpol {
namespace {

const std::string* find_file(const MemoryHost& host, const std::string& path) {
    const auto at = host.files().find(path);
    return at == host.files().end() ? nullptr : &at->second;
}

std::string digest_at(const MemoryHost& host, const std::string& path) {
    const auto* bytes = find_file(host, path);
    return bytes == nullptr ? std::string(no_file_digest) : digest_of(*bytes);
}

bool is_file(const Step& step) {
    return std::holds_alternative<ReplaceFile>(step) || std::holds_alternative<DeleteFile>(step);
}

tl::unexpected<Error> not_played(const Step& step) {
    return fail(ErrorKind::unsupported, "not a step that a machine in memory can play", target_of(step));
}

}  // namespace

bool MemoryPerformer::can_play(const Step& step) {
    return is_file(step) || std::holds_alternative<WriteAttribute>(step) || std::holds_alternative<Remount>(step) ||
           std::holds_alternative<DaemonReload>(step);
}

Result<std::string> MemoryPerformer::state(const Step& step) {
    if (const auto* mount = std::get_if<Remount>(&step)) return memory_mount_state(host_, *mount);
    if (std::holds_alternative<DaemonReload>(step)) return std::string("reloaded");
    const auto path = target_of(step);
    if (is_file(step)) return digest_at(host_, path);
    if (!std::holds_alternative<WriteAttribute>(step)) return not_played(step);
    const auto* value = find_file(host_, path);
    if (value == nullptr) return fail(ErrorKind::no_such_file, "no such attribute", path);
    return std::string(trim(*value));
}

Result<std::vector<Step>> MemoryPerformer::undo_of(const Step& step) {
    if (std::holds_alternative<DaemonReload>(step)) return std::vector<Step>{step};
    if (const auto* mount = std::get_if<Remount>(&step)) {
        auto undo = memory_mount_undo(host_, *mount);
        if (!undo) return tl::make_unexpected(undo.error());
        return std::vector<Step>{std::move(*undo)};
    }
    const auto path = target_of(step);
    const auto* now = find_file(host_, path);
    if (const auto* write = std::get_if<WriteAttribute>(&step)) {
        if (now == nullptr) return fail(ErrorKind::no_such_file, "no such attribute", write->path);
        return std::vector<Step>{WriteAttribute{path, std::string(trim(*now))}};
    }
    if (const auto* replace = std::get_if<ReplaceFile>(&step)) {
        const auto left = digest_of(replace->bytes);
        if (now == nullptr) return std::vector<Step>{DeleteFile{path, left}};
        return std::vector<Step>{ReplaceFile{path, left, *now, 0644}};
    }
    if (!std::holds_alternative<DeleteFile>(step)) return not_played(step);
    if (now == nullptr) return fail(ErrorKind::changed, "gone", path);
    return std::vector<Step>{ReplaceFile{path, std::string(no_file_digest), *now, 0644}};
}

namespace {

// The kernel shows a choice as the list of all with brackets around the one that holds.
std::string shown_by_kernel(const std::string& old, const std::string& chosen) {
    const auto open = old.find('[');
    const auto close = old.find(']');
    if (open == std::string::npos || close == std::string::npos) return chosen + "\n";
    std::string list = old.substr(0, open) + old.substr(open + 1, close - open - 1) + old.substr(close + 1);
    const auto at = list.find(chosen);
    if (at == std::string::npos) return chosen + "\n";
    return list.insert(at + chosen.size(), "]").insert(at, "[");
}

}  // namespace

void MemoryPerformer::change(const Step& step) {
    if (const auto* replace = std::get_if<ReplaceFile>(&step)) {
        host_.put_file(replace->path, replace->bytes);
    } else if (const auto* deleted = std::get_if<DeleteFile>(&step)) {
        host_.remove(deleted->path);
    } else if (const auto* write = std::get_if<WriteAttribute>(&step)) {
        if (ignored_.contains(write->path)) return;
        const auto* old = find_file(host_, write->path);
        host_.put_file(write->path, old != nullptr ? shown_by_kernel(*old, write->value) : write->value + "\n");
    }
}

Result<std::string> MemoryPerformer::perform(const Step& step) {
    ++performed_;
    if (fail_at_ > 0 && --fail_at_ == 0) return fail_errno(EIO, "cannot perform", target_of(step));
    auto before = std::string();
    if (const auto* replace = std::get_if<ReplaceFile>(&step)) before = replace->before;
    if (const auto* deleted = std::get_if<DeleteFile>(&step)) before = deleted->before;
    if (is_file(step) && digest_at(host_, target_of(step)) != before) {
        return fail(ErrorKind::changed, "its content has changed since it was read", target_of(step));
    }
    if (auto there = state(step); !there) return there;
    power_.moment();
    if (const auto* mount = std::get_if<Remount>(&step)) {
        if (auto done = memory_remount(host_, *mount); !done) return tl::make_unexpected(done.error());
    } else {
        change(step);
    }
    power_.moment();
    if (fail_after_at_ > 0 && --fail_after_at_ == 0) return fail_errno(EIO, "cannot flush", target_of(step));
    return state(step);
}

void MemoryPerformer::clean_up(const Step& step) {
    cleaned_.push_back(target_of(step));
}

Result<std::string> MemoryStore::read(std::string_view name) {
    const auto at = files_.find(std::string(name));
    if (at == files_.end()) return fail(ErrorKind::no_such_file, "no such state", std::string(name));
    return at->second;
}

Result<std::vector<std::string>> MemoryStore::list(std::string_view directory) {
    std::vector<std::string> names;
    const auto prefix = std::string(directory) + "/";
    for (const auto& [name, bytes] : files_) {
        if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    }
    return names;
}

Result<void> MemoryStore::write() {
    if (writes_left_ == 0) return fail_errno(ENOSPC, "cannot write", "state");
    if (writes_left_ > 0) --writes_left_;
    return {};
}

Result<void> MemoryStore::replace(std::string_view name, std::string_view bytes) {
    if (auto fine = write(); !fine) return fine;
    power_.moment();
    files_[std::string(name)] = std::string(bytes);
    power_.moment();
    return {};
}

Result<void> MemoryStore::append(std::string_view name, std::string_view bytes) {
    if (auto fine = write(); !fine) return fine;
    power_.moment();
    auto& file = files_[std::string(name)];
    if (power_.is_last_moment()) file += bytes.substr(0, bytes.size() / 2);
    power_.moment();
    file += bytes;
    power_.moment();
    return {};
}

Result<void> MemoryStore::remove(std::string_view name) {
    if (auto fine = write(); !fine) return fine;
    power_.moment();
    files_.erase(std::string(name));
    power_.moment();
    return {};
}

Result<void> MemoryStore::lock() {
    if (locked_) return fail_errno(EWOULDBLOCK, "another apply runs", "/run/storpol/lock");
    return {};
}

MemoryMachine::MemoryMachine() {
    set_time("2026-11-30T12:00:00Z");
    set_boot("11111111-1111-1111-1111-111111111111");
    host.put_file("/proc/stat", "cpu  1 2 3\nbtime 1796036400\n");
}

void MemoryMachine::set_time(const std::string& time) {
    host.put({QueryKind::now, {}}, Answer{time, {}, {}});
}

void MemoryMachine::set_boot(const std::string& id) {
    host.put_file("/proc/sys/kernel/random/boot_id", id + "\n");
}

Result<ApplyReport> MemoryMachine::apply(const Policy& policy,
                                         const Resources& resources,
                                         const ApplyOptions& options) {
    MemoryStore store(state, power);
    const Machine machine{host, performer, store, image};
    return storpol::apply(policy, resources, machine, options);
}

Result<RollbackReport> MemoryMachine::rollback() {
    MemoryStore store(state, power);
    const Machine machine{host, performer, store, image};
    return storpol::rollback(machine, {});
}

Evaluation MemoryMachine::plan(const Policy& policy, const Resources& resources, bool prune) {
    MemoryStore store(state, power);
    const auto record = read_record(store);
    EvaluateOptions options;
    options.image = image;
    options.prune = prune;
    options.record = record ? &*record : nullptr;
    options.record_readable = record.has_value();
    Picture picture(host);
    return evaluate(policy, resources, picture, options);
}

Policy policy_of(const std::string& toml, const Resources& resources) {
    auto loaded = load_policy_files({{"test.toml", toml}}, keys_of(resources));
    for (const auto& error : loaded.errors) ADD_FAILURE() << render(error);
    return std::move(loaded.policy);
}

}  // namespace storpol
