# SPDX-License-Identifier: GPL-3.0-or-later
"""LUKS1 has no header flag: crypttab is the only place that keeps it, and the initramfs is not concerned."""

import story
from drives import Drive

SECONDS = 1200


def drives():
    return [Drive("data")]


def run(machine):
    data = machine.drives["data"]
    story.make_luks(machine, data.device(), "old", version=1)
    story.mount_fresh(machine, "/dev/mapper/old", "/data", "ext4")
    story.tell(machine, data, ["/data"], ["old"])
    line = machine.must("grep ^old /etc/crypttab").out.split()
    machine.check(line[3].split(",") == ["luks", "discard"], f"crypttab has {line}")
