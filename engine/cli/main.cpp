// SPDX-License-Identifier: GPL-3.0-or-later
// The command line: options to an Options, then the command. The only file that includes CLI11, which costs seconds to
// compile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sstream>

#include "engine/base/text.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"

namespace storpol {
namespace {

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  plan      0, or 1 for an error; with --detailed-exitcode also 2: there is something to do or to know of\n"
    "  apply     0 all holds, or waits as the plan said; 2 something was refused or is still different;\n"
    "            1 an error, a failed step, declined, or no terminal to ask on without --yes\n"
    "  drift     0 in sync; 2 drift; 3 nothing drifts but something could not be known; 1 an error\n"
    "  trim      0 all trimmed, or skipped with a reason; 2 some failed or were cut short; 1 an error\n"
    "  rollback  0 undone; 1 an error, a failed step, declined, or no terminal to ask on without --yes\n"
    "  others    0, or 1 for an error\n"
    "Documentation: docs/ of the source tree, storpol schema --reference for the policy language.";

struct Command {
    const char* name;
    const char* help;
    int (*run)(const Options&);
};

constexpr Command commands[] = {
    {"plan", "Show what would change on this host, and why", run_plan},
    {"apply", "Do what plan shows, after asking", run_apply},
    {"drift", "Say where this host no longer holds the policy", run_drift},
    {"explain", "Show where discards end, and settings on all planes with their sources", run_explain},
    {"trim", "Give free space back to the disks, keeping out of the way of others", run_trim},
    {"validate", "Check policies without a host", run_validate},
    {"show", "Print the merged policy, each value with the line it comes from", run_show},
    {"schema", "Print the policy language as JSON Schema", run_schema},
    {"capture", "Record what plan reads on this host, for plan --host elsewhere", run_capture},
    {"history", "List what apply and rollback did", run_history},
    {"rollback", "Undo the newest apply", run_rollback},
};

void add_format(CLI::App& app, Options& options) {
    app.add_option_function<std::string>(
           "--format",
           [&options](const std::string& word) { options.format = word == "json" ? Format::json : Format::text; },
           "text, or json (docs/json.md)")
        ->check(CLI::IsMember({"text", "json"}).description(""))
        ->type_name("text|json");
}

void add_root(CLI::App& app, Options& options, const char* help) {
    app.add_option("--root", options.root, help)->type_name("DIR");
}

void add_reading(CLI::App& app, Options& options) {
    add_format(app, options);
    app.add_option("--host", options.host_file, "Read a capture in place of this machine")->type_name("CAPTURE");
    add_root(app, options, "Read a mounted image or directory tree: what is written in it, not what runs");
    app.add_flag("--verbose", options.verbose, "Also show what is in sync, absent or left out");
    app.add_flag("--no-color", options.no_color, "No colour, also on a terminal");
}

void add_policies(CLI::App& app, Options& options, const char* help) {
    app.add_option("policy", options.policies, help)->type_name("POLICY");
}

constexpr const char* policy_help =
    "Policy files or builtin:NAME, merged in order; default /etc/storpol/policy.toml, else builtin:default";
constexpr const char* strict_policy_help =
    "Policy files or builtin:NAME, merged in order; default /etc/storpol/policy.toml";

void define_plan(CLI::App& app, Options& options) {
    add_policies(app, options, policy_help);
    app.add_option("-o,--output", options.output, "Save the plan; storpol apply FILE does it if it is still the same")
        ->type_name("FILE");
    app.add_flag("--detailed-exitcode", options.detailed_exitcode, "Exit 2 when there are actions or differences");
    app.add_flag("--strict", options.strict, "With --detailed-exitcode, count what waits as a difference");
    app.add_flag("--prune", options.prune, "Also take out what storpol wrote and the policy no longer names");
    add_reading(app, options);
}

void define_apply(CLI::App& app, Options& options) {
    add_policies(app, options, "Policy files or builtin:NAME, or one saved plan; default /etc/storpol/policy.toml");
    app.add_flag("--yes", options.yes, "Do not ask; never covers disruptive actions");
    app.add_option("--allow", options.allow, "Allow one disruptive action, as the plan prints it; repeatable")
        ->type_name("VERB:TARGET")
        ->allow_extra_args(false);
    app.add_flag("--ask-passphrase", options.ask_passphrase,
                 "Change open LUKS mappings now, asking for the passphrase where no key is found");
    app.add_flag("--prune", options.prune, "Also take out what storpol wrote and the policy no longer names");
    add_root(app, options, "Change a mounted image or directory tree: files only");
    add_format(app, options);
    app.add_flag("--verbose", options.verbose, "Also show what is in sync afterwards");
    app.add_flag("--no-color", options.no_color, "No colour, also on a terminal");
}

void define_drift(CLI::App& app, Options& options) {
    add_policies(app, options, strict_policy_help);
    app.add_flag("--strict", options.strict, "Count what waits as drift, and what can never be read back as unknown");
    add_reading(app, options);
}

void define_explain(CLI::App& app, Options& options) {
    app.add_option("address", options.selection,
                   "A mount point or path, an address such as sysctl[\"vm.swappiness\"], a glob or a domain; without "
                   "one: where the discards of each filesystem end")
        ->type_name("WHAT");
    app.add_option("--policy", options.policies, "Policy file or builtin:NAME; repeatable")
        ->type_name("POLICY")
        ->allow_extra_args(false);
    add_reading(app, options);
}

void define_trim(CLI::App& app, Options& options) {
    app.add_option(
           "what", options.policies,
           "A policy (a .toml file or builtin:NAME; default /etc/storpol/policy.toml, else builtin:default), and "
           "mount points to trim; without one all of them")
        ->type_name("POLICY|MOUNT");
    app.add_flag("--dry-run", options.dry_run, "Say what would be trimmed, and what not and why");
    auto* scheduled = app.add_flag("--scheduled", options.scheduled,
                                   "As a timer calls it: minds the battery, and the policy's enabled");
    app.add_flag("--when-due", options.when_due,
                 "As an hourly job calls it: only what the policy's schedule has due; prints what went wrong alone")
        ->needs(scheduled);
    add_format(app, options);
    app.add_flag("--verbose", options.verbose, "Also say how: where discards end, slices, time in the kernel");
    app.add_flag("--no-color", options.no_color, "No colour, also on a terminal");
}

void define_rest(CLI::App& app, Options& options, std::string_view name) {
    if (name == "validate" || name == "show" || name == "capture") add_policies(app, options, policy_help);
    if (name == "validate" || name == "history") add_format(app, options);
    if (name == "schema")
        app.add_flag("--reference", options.reference, "The same as the Markdown page docs/reference.md");
    if (name == "capture") {
        app.add_option("-o,--output", options.output, "Where to write it (mode 0600); - for standard output")
            ->type_name("FILE")
            ->required();
        add_root(app, options, "Record a mounted image or directory tree");
    }
    if (name == "history") add_root(app, options, "Of a mounted image or directory tree");
    if (name == "rollback") {
        app.add_flag("--yes", options.yes, "Do not ask");
        add_root(app, options, "In a mounted image or directory tree");
        add_format(app, options);
    }
}

void define(CLI::App& app, Options& options) {
    app.description(
        "storpol: storage policy as code. Declares storage settings in TOML and reconciles a Linux host with them.");
    app.footer(std::string{exit_codes});
    app.set_version_flag("--version", "storpol " STORPOL_VERSION, "Print the version");
    app.set_help_flag("-h,--help", "Print this help");
    app.require_subcommand(1);
    for (const Command& command : commands) {
        CLI::App* sub = app.add_subcommand(command.name, command.help);
        const std::string_view name = command.name;
        if (name == "plan")
            define_plan(*sub, options);
        else if (name == "apply")
            define_apply(*sub, options);
        else if (name == "drift")
            define_drift(*sub, options);
        else if (name == "explain")
            define_explain(*sub, options);
        else if (name == "trim")
            define_trim(*sub, options);
        else
            define_rest(*sub, options, name);
    }
}

// One sentence for a command line that cannot be understood.
std::string usage_sentence(const CLI::ParseError& error, int argc, char** argv) {
    std::vector<std::string> names;
    for (const Command& command : commands) names.emplace_back(command.name);
    const std::string first = argc > 1 ? argv[1] : "";
    if (first.empty()) return "a command is needed";
    if (first[0] != '-' && std::find(names.begin(), names.end(), first) == names.end()) {
        const auto near = nearest(first, names);
        return "unknown command \"" + first + "\"" + (near ? "; did you mean \"" + *near + "\"?" : "");
    }
    std::string text = error.what();
    return text.substr(0, text.find('\n'));
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app;
    define(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const Output out(options);
        if (error.get_exit_code() == 0) {  // --help, --version
            std::ostringstream text, ignored;
            app.exit(error, text, ignored);
            return out.report(text.str(), exit_ok);
        }
        out.note("storpol: " + printable(usage_sentence(error, argc, argv)) + " (storpol --help)");
        return exit_error;
    }
    options.command = app.get_subcommands().front()->get_name();
    if (const auto checked = check(options); !checked) return Output(options).error(checked.error(), head_of(options));
    const auto is_asked = [&](const Command& command) { return options.command == command.name; };
    return std::find_if(std::begin(commands), std::end(commands), is_asked)->run(options);
}

}  // namespace
}  // namespace storpol

int main(int argc, char** argv) {
    // A reader that went away is a write error to report, not a death without an exit code.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return storpol::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "storpol: internal error: %s\n", storpol::printable(error.what()).c_str());
    } catch (...) {
        std::fputs("storpol: internal error\n", stderr);
    }
    return storpol::exit_error;
}
