// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/changing.h"

#include "engine/cli/output.h"
#include "engine/cli/session.h"

namespace storpol {

Result<Changing> Changing::open(const Options& options) {
    Changing out;
    out.head_ = head_of(options);
    if (!options.root.empty()) {
        auto host = make_root_host(options.root);
        if (!host) return tl::unexpected<Error>(host.error());
        auto performer = make_root_performer(options.root);
        if (!performer) return tl::unexpected<Error>(performer.error());
        auto store = make_root_state_store(options.root);
        if (!store) return tl::unexpected<Error>(store.error());
        out.host_ = std::move(*host);
        out.performer_ = std::move(*performer);
        out.store_ = std::move(*store);
        out.head_.source = "root " + options.root;
        out.image_ = true;
    } else {
        if (!read_surroundings().is_root)
            return fail(ErrorKind::denied, options.command + " changes this machine and needs root", {},
                        "use sudo, or --root DIR for a directory tree of your own");
        out.host_ = make_live_host();
        out.performer_ = make_live_performer();
        out.store_ = make_state_store();
        out.head_.source = "live";
    }
    out.head_.host_name = host_name(*out.host_);
    if (auto time = out.host_->now()) out.head_.host_time = std::move(*time);
    return out;
}

}  // namespace storpol
