// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/device_mapper.h"
#include "engine/host/ext4_superblock.h"
#include "engine/host/host.h"
#include "engine/host/journal_query.h"
#include "engine/host/lvm.h"
#include "engine/host/packages.h"
#include "engine/host/tree_host.h"
#include "engine/host/unit_query.h"

namespace storpol {
namespace {

class LiveHost final : public Host {
  private:
    Answer do_ask(const Query& query) override {
        switch (query.kind) {
            case QueryKind::file:
            case QueryKind::link:
            case QueryKind::list:
            case QueryKind::stat:
            case QueryKind::program_exists:
            case QueryKind::image_member:
            case QueryKind::luks:
                return tree_.answer(query);
            case QueryKind::now:
                return Answer{read_clock(), "", {}};
            case QueryKind::uid:
                return Answer{read_user(), "", {}};
            case QueryKind::unit:
                return units_.answer(query);
            case QueryKind::ext4_super:
                return answer_ext4_super(query);
            case QueryKind::dm_table:
            case QueryKind::dm_status:
                return answer_dm(query);
            case QueryKind::lvs:
                return answer_lvs(query);
            case QueryKind::journal:
                return answer_journal(query);
            case QueryKind::package:
                return answer_live_package(query, tree_);
        }
        STORPOL_BUG("a query kind out of range");
    }

    TreeHost tree_{PathWalk(), false};
    UnitQuery units_;
};

}  // namespace

std::unique_ptr<Host> make_live_host() {
    return std::make_unique<LiveHost>();
}

}  // namespace storpol
