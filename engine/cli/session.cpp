// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/session.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/cli/output.h"
#include "engine/host/user_files.h"
#include "engine/reconcile/apply.h"

namespace storpol {
namespace {

Result<Record> read_captured_record(Host& host) {
    const auto text = host.read_file(record_path);
    if (text) return parse_record(*text);
    if (text.error().kind == ErrorKind::no_such_file) return Record{};
    return tl::unexpected<Error>(text.error());
}

}  // namespace

std::string host_name(Host& host) {
    for (const std::string_view path : {"/proc/sys/kernel/hostname", "/etc/hostname"})
        if (const auto name = host.read_file(path)) return std::string{trim(*name)};
    return {};
}

Result<Session> Session::open(const Options& options) {
    Session session;
    session.head_ = head_of(options);
    if (!options.host_file.empty()) {
        const auto text = read_user_file(options.host_file, Trust::any);
        if (!text) return tl::unexpected<Error>(text.error());
        auto host = make_snapshot_host(*text, options.host_file);
        if (!host) return tl::unexpected<Error>(host.error());
        session.machine_ = std::move(*host);
        session.head_.source = "capture " + options.host_file;
    } else if (!options.root.empty()) {
        auto host = make_root_host(options.root);
        if (!host) return tl::unexpected<Error>(host.error());
        auto store = make_root_state_store(options.root);
        if (!store) return tl::unexpected<Error>(store.error());
        session.machine_ = std::move(*host);
        session.store_ = std::move(*store);
        session.head_.source = "root " + options.root;
        session.image_ = true;
    } else {
        session.machine_ = make_live_host();
        session.store_ = make_state_store();
        session.head_.source = "live";
    }
    session.picture_ = std::make_unique<Picture>(*session.machine_);
    session.read_memory();
    return session;
}

void Session::read_memory() {
    auto record = store_ ? read_record(*store_) : read_captured_record(*picture_);
    if (record) record_ = std::move(*record);
    head_.host_name = host_name(*picture_);
    if (auto time = picture_->now()) head_.host_time = std::move(*time);
}

Evaluation Session::evaluate(const Policy& policy, const Resources& resources, const Options& options) {
    EvaluateOptions how;
    how.image = image_;
    how.prune = options.prune;
    how.record = record_ ? &*record_ : nullptr;
    how.record_readable = record_.has_value();
    how.verbose = options.verbose || options.format == Format::json;
    Evaluation evaluation = storpol::evaluate(policy, resources, *picture_, how);
    if (!store_) return evaluation;
    if (auto interrupted = interrupted_apply(*store_)) {
        evaluation.findings.push_back(std::move(*interrupted));
        std::sort(evaluation.findings.begin(), evaluation.findings.end());
    }
    return evaluation;
}

}  // namespace storpol
