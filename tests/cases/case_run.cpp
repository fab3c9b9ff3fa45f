// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cases/case_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/text.h"
#include "engine/host/performer.h"
#include "engine/host/user_files.h"
#include "engine/report/report.h"

namespace storpol::cases {
namespace {

Result<std::string> read_case_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(ErrorKind::no_such_file, "cannot be read", path);
    return std::string{std::istreambuf_iterator<char>(in), {}};
}

CaseResult failed(const Error& error) {
    return {CaseResult::State::failed, {to_text(error)}};
}

struct Case {
    std::string folder;
    bool image = false;
    std::vector<Expectation> expectations;
    std::string policy;
    Facts facts;
};

Result<Case> read_case(const std::string& folder, std::string_view how) {
    Case out;
    out.folder = folder;
    if (how != "root" && how != "root+facts" && how != "snapshot") {
        return fail(ErrorKind::invalid, "the index asks for a check there is none of: '" + std::string(how) + "'",
                    folder);
    }
    out.image = how != "snapshot";
    const auto expect = read_case_file(folder + "/expect.txt");
    if (!expect) return tl::unexpected(expect.error());
    auto expectations = parse_expectations(*expect, folder + "/expect.txt");
    if (!expectations) return tl::unexpected(expectations.error());
    out.expectations = std::move(*expectations);
    auto policy = read_case_file(folder + "/policy.toml");
    if (!policy) return tl::unexpected(policy.error());
    out.policy = std::move(*policy);
    if (!std::filesystem::exists(folder + "/facts.txt")) return out;
    const auto text = read_case_file(folder + "/facts.txt");
    if (!text) return tl::unexpected(text.error());
    auto facts = parse_facts(*text, folder + "/facts.txt");
    if (!facts) return tl::unexpected(facts.error());
    out.facts = std::move(*facts);
    return out;
}

// A policy error is what the case asserts: then a key that nobody declares may be the point of it.
bool expects_policy_error(const Case& of) {
    return std::ranges::any_of(of.expectations, [](const Expectation& expectation) {
        return std::holds_alternative<PolicyFails>(expectation.assertion);
    });
}

std::optional<std::string> not_yet(const Case& of, const Resources& resources) {
    const auto key = undeclared_key(of.policy, keys_of(resources));
    if (!key) return std::nullopt;
    const bool whole_table = key->find('.') == std::string::npos;
    if (!whole_table && expects_policy_error(of)) return std::nullopt;
    return "the policy's " + std::string(whole_table ? "table " : "key ") + *key + " belongs to no resource";
}

Result<Evaluation> evaluate_tree(
    const Case& of, const Policy& policy, const Resources& resources, const CaseTree& tree, std::vector<Query>* asked) {
    std::unique_ptr<Host> machine = make_tree_host(tree);
    if (of.image) {
        auto root = make_root_host(tree.path());
        if (!root) return tl::unexpected(root.error());
        machine = std::move(*root);
    }
    FactsHost with_facts(*machine, of.facts);
    Picture picture(with_facts);
    EvaluateOptions options;
    options.image = of.image;
    options.verbose = true;
    auto evaluation = evaluate(policy, resources, picture, options);
    if (asked != nullptr) *asked = with_facts.asked();
    return evaluation;
}

std::string report_of(const Evaluation& evaluation, bool image) {
    ReportHead head;
    head.command = "plan";
    head.host_name = "case";
    head.source = image ? "root" : "capture";
    TextStyle style;
    style.verbose = true;
    style.columns = 1000;
    std::string text = render_plan_text(evaluation, head, style);
    for (const auto& finding : evaluation.findings) text += finding.says + "\n" + finding.where + "\n";
    return text;
}

bool is_file_verb(Verb verb) {
    switch (verb) {
        case Verb::edit:
        case Verb::create:
        case Verb::remove:
        case Verb::drop_in:
        case Verb::enable_unit:
        case Verb::disable_unit:
            return true;
        default:
            return false;
    }
}

// The plan's file steps on the copy; all others are left out.
Result<void> perform_file_steps(Ran& ran) {
    auto performer = make_root_performer(ran.after->path());
    if (!performer) return tl::unexpected(performer.error());
    for (const auto& action : ran.evaluation.plan.actions) {
        if (!is_file_verb(action.verb) || !is_file_step(action.step) || !action.refused.empty()) continue;
        const auto done = (*performer)->perform(action.step);
        if (!done)
            return fail(done.error().kind,
                        std::string(to_text(action.verb)) + " " + action.target + ": " + to_text(done.error()));
        if (action.verb != Verb::remove) ran.written.push_back(action.target);
    }
    return {};
}

Result<void> run(const Case& of, Ran& ran) {
    DiskPolicySource source(Trust::any);
    const Loaded loaded = load_policy({of.folder + "/policy.toml"}, source, keys_of(ran.resources));
    ran.errors = loaded.errors;
    if (ran.errors.empty()) {
        MemoryHost nowhere;
        ran.errors = evaluate(loaded.policy, ran.resources, nowhere, {}).errors;
    }
    if (!ran.errors.empty()) return {};
    for (auto* tree : {&ran.before, &ran.after}) {
        auto copy = CaseTree::copy_of(of.folder + "/host");
        if (!copy) return tl::unexpected(copy.error());
        *tree = std::move(*copy);
    }
    auto evaluation = evaluate_tree(of, loaded.policy, ran.resources, *ran.before, &ran.asked);
    if (!evaluation) return tl::unexpected(evaluation.error());
    ran.evaluation = std::move(*evaluation);
    ran.report = report_of(ran.evaluation, of.image);
    if (const auto performed = perform_file_steps(ran); !performed) return performed;
    auto second = evaluate_tree(of, loaded.policy, ran.resources, *ran.after, nullptr);
    if (!second) return tl::unexpected(second.error());
    ran.second = std::move(*second);
    return {};
}

// Policy errors that no assertion is about are a failure of their own.
bool errors_are_expected(const Case& of) {
    return std::ranges::any_of(of.expectations, [](const Expectation& expectation) {
        const auto* exits = std::get_if<ExitsWith>(&expectation.assertion);
        return std::holds_alternative<PolicyFails>(expectation.assertion) || (exits != nullptr && exits->code == 1);
    });
}

CaseResult judge(const Case& of, const Ran& ran) {
    CaseResult out;
    std::vector<std::string> later;
    if (!ran.errors.empty() && !errors_are_expected(of)) {
        for (const auto& error : ran.errors)
            out.says.push_back("policy error: " + to_text(error.where) + ": " + error.says);
    }
    for (const auto& expectation : of.expectations) {
        const Checked checked = check(expectation.assertion, ran);
        const std::string line =
            "expect.txt:" + std::to_string(expectation.line) + ": " + expectation.text + ": " + checked.why;
        if (checked.state == Checked::State::broken) out.says.push_back(line);
        if (checked.state == Checked::State::not_yet) later.push_back(line);
    }
    if (!out.says.empty()) {
        out.state = CaseResult::State::failed;
    } else if (!later.empty()) {
        out = {CaseResult::State::not_yet_run, later};
    }
    return out;
}

}  // namespace

CaseResult run_case(const std::string& folder, std::string_view how, const Resources& resources) {
    const auto of = read_case(folder, how);
    if (!of) return failed(of.error());
    if (const auto why = not_yet(*of, resources)) return {CaseResult::State::not_yet_run, {*why}};
    Ran ran{resources, {}, {}, {}, {}, {}, {}, {}, {}};
    if (const auto done = run(*of, ran); !done) return failed(done.error());
    return judge(*of, ran);
}

}  // namespace storpol::cases
