// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"
#include "engine/cli/session.h"

namespace storpol {

// A capture holds every resource's survey, all reads of a plan of the policy, and what judges them later: the record,
// the boot id and the clock. Only its owner may read it, as it holds configuration files.
int run_capture(const Options& options) {
    const Output out(options);
    const ReportHead head = head_of(options);
    const auto names = policy_names(options, Default::allowed);
    if (!names) return out.error(names.error(), head);
    const Resources resources = make_resources();
    const auto policy = load_policies(*names, Trust::any, resources, false);
    if (!policy) return out.error(policy.error(), head);
    if (!policy->loaded.errors.empty()) return out.errors(policy->loaded.errors, head);
    auto session = Session::open(options);
    if (!session) return out.error(session.error(), head);

    Picture& picture = session->picture();
    for (const auto& resource : resources) resource->survey(picture);
    session->evaluate(policy->loaded.policy, resources, options);
    picture.read_file(record_path);  // answers are kept, whatever they are
    picture.read_file(boot_id_path);
    const std::string text = picture.capture(head.version, session->head().host_time);
    if (options.output == "-") return out.report(text, exit_ok);
    const auto written = write_user_file(options.output, text, 0600);
    if (!written) return out.error(written.error(), head);
    return exit_ok;
}

}  // namespace storpol
