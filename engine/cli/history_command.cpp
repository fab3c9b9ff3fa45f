// SPDX-License-Identifier: GPL-3.0-or-later
// history and rollback: what was done, and undoing the newest of it.
#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/cli/changing.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/reconcile/journal.h"

namespace storpol {
namespace {

bool ask(const Transaction& transaction, const Options& options, const Output& out) {
    if (options.yes) return true;
    if (!out.surroundings().input_is_terminal) {
        out.note("storpol: rollback asks before it acts and there is no terminal to ask on; use --yes");
        return false;
    }
    out.note(render_history_text({transaction}, out.style()));
    return confirm(fmt::format("Undo transaction {}? [y/N]", transaction.number));
}

Result<std::unique_ptr<StateStore>> open_store(const Options& options) {
    if (!options.root.empty()) return make_root_state_store(options.root);
    return make_state_store();
}

}  // namespace

int run_history(const Options& options) {
    const Output out(options);
    ReportHead head = head_of(options);
    head.source = options.root.empty() ? "live" : "root " + options.root;
    const auto store = open_store(options);
    if (!store) return out.error(store.error(), head);
    const auto transactions = Journal(**store).read_all();
    if (!transactions) return out.error(transactions.error(), head);
    return out.report(
        out.is_json() ? render_json(*transactions, head) : render_history_text(*transactions, out.style()), exit_ok);
}

int run_rollback(const Options& options) {
    const Output out(options);
    auto changing = Changing::open(options);
    if (!changing) return out.error(changing.error(), head_of(options));
    const auto report =
        rollback(changing->machine(), [&](const Transaction& transaction) { return ask(transaction, options, out); });
    if (!report) return out.error(report.error(), changing->head());
    if (!out.is_json())
        return out.report(render_rollback_text(*report, changing->head(), out.style()), report->exit_code);
    std::optional<Transaction> undone;
    if (!report->declined)
        if (auto newest = Journal(changing->store()).newest()) undone = std::move(*newest);
    return out.report(render_json(*report, undone, changing->head()), report->exit_code);
}

}  // namespace storpol
