// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/topology/discard_path.h"

namespace storpol {

// What the bottom of a stack does with discards: by its queue's limits, its provisioning mode (SCSI, SATA, USB) and
// what is known of its kind. The hop has its layer and limits; the rest is filled in.
void look_at_disk(DiscardHop& hop, Host& host);

}  // namespace storpol
