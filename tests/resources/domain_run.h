// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/policy/load.h"
#include "engine/reconcile/evaluate.h"
#include "engine/reconcile/resource.h"

// One evaluation of one resource over a machine in memory, and short questions about it.
namespace storpol {

struct DomainRun {
    Resources resources;
    Loaded loaded;
    Evaluation evaluation;

    // `others` lend their keys to the policy, and nothing else.
    DomainRun(std::unique_ptr<Resource> resource,
              const std::string& policy,
              Host& host,
              bool image = false,
              const Resources& others = {}) {
        resources.push_back(std::move(resource));
        run(policy, host, image, others);
    }

    // Several resources that have to do with each other.
    DomainRun(Resources several, const std::string& policy, Host& host) : resources(std::move(several)) {
        run(policy, host, false, {});
    }

    void run(const std::string& policy, Host& host, bool image, const Resources& others) {
        auto keys = keys_of(resources);
        for (auto& more : keys_of(others)) keys.push_back(std::move(more));
        loaded = load_policy_files({Policy::File{"site.toml", "version = 1\n" + policy}}, keys);
        for (const auto& error : loaded.errors) ADD_FAILURE() << render(error);
        EvaluateOptions options;
        options.image = image;
        evaluation = evaluate(loaded.policy, resources, host, options);
    }

    const SettingState* setting(const std::string& address) const {
        for (const auto& state : evaluation.settings) {
            if (state.setting.address == address) return &state;
        }
        return nullptr;
    }

    // "drift", "in-sync", ...; "none" where there is no such setting or plane.
    std::string verdict(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        return on == nullptr ? "none" : std::string(to_text(on->verdict));
    }

    std::string source(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        return on == nullptr ? "none" : on->reading.source;
    }

    std::string cannot(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        return on == nullptr ? "none" : on->cannot;
    }

    const Action* action(Verb verb, const std::string& target) const {
        for (const auto& action : evaluation.plan.actions) {
            if (action.verb == verb && action.target == target) return &action;
        }
        return nullptr;
    }

    const Finding* finding(const std::string& code) const {
        for (const auto& finding : evaluation.findings) {
            if (finding.code == code) return &finding;
        }
        return nullptr;
    }

    // The bytes a file has after the plan; "" where the plan does not touch it.
    std::string file_after(const std::string& path) const {
        for (const auto& action : evaluation.plan.actions) {
            const auto* replace = std::get_if<ReplaceFile>(&action.step);
            if (replace != nullptr && replace->path == path) return replace->bytes;
        }
        return "";
    }

    std::string errors() const {
        std::string text;
        for (const auto& error : evaluation.errors) text += error.says + "\n";
        return text;
    }
};

}  // namespace storpol
