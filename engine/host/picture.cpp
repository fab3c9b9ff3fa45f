// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/host.h"
#include "engine/host/never_read.h"

namespace storpol {

Answer Picture::do_ask(const Query& query) {
    const auto known = answers_.find(query);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(query, machine_.ask(query)).first->second;
}

std::string Picture::capture(std::string_view version, std::string_view time) const {
    std::string text = "storpol-capture 1 " + std::string(version) + " " + std::string(time) + "\n";
    for (const auto& [query, answer] : answers_) {
        // What is not known here is not known from the capture either: left out, it reads the same.
        if (answer.refusal && answer.refusal->kind == ErrorKind::not_captured) continue;
        // A second lock on the door of the hosts: no capture ever names what a secret file holds.
        if (query.kind == QueryKind::file && (is_never_read(query.args.at(0)) || is_never_read(answer.resolved)))
            continue;
        text += render_entry(query, answer);
    }
    return text;
}

}  // namespace storpol
