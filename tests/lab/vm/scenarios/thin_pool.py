# SPDX-License-Identifier: GPL-3.0-or-later
"""A thin pool above LUKS2: fstrim counts gigabytes and the drive gets nothing, first for the crypt layer, then for
nopassdown."""

import story
from drives import MIB, Drive

SECONDS = 1500

POLICY = story.DISCARD + """
lvm-thin = "passdown"
"""


def drives():
    return [Drive("data", size=1536 * MIB)]


def run(machine):
    data = machine.drives["data"]
    story.make_luks(machine, data.device(), "pv")
    machine.must("pvcreate -q /dev/mapper/pv; vgcreate -q tg /dev/mapper/pv;"
                 "lvcreate -q -L 900M -T tg/pool; lvcreate -q -V 800M -T tg/pool -n data")
    story.mount_fresh(machine, "/dev/mapper/tg-data", "/data", "ext4")
    status = machine.must(["dmsetup", "status", "tg-pool-tpool"]).out
    machine.check("no_discard_passdown" in status, f"the set-up is wrong: {status}")
    story.tell(machine, data, ["/data"], ["pv"], POLICY)
    machine.must(["lvchange", "-q", "--discards", "nopassdown", "tg/pool"])
    machine.storpol("drift", code=2, says="tg/pool")
    machine.trims_not("/data", data)
    machine.storpol("apply", "--yes", code=0)
    machine.in_sync()
    machine.trims_through("/data", data)
