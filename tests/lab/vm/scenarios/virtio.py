# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual disks: virtio that offers discards, and one whose hypervisor does not, which no apply can mend."""

import story
from drives import Drive

SECONDS = 900


def drives():
    return [Drive("good", kind="virtio"), Drive("deaf", kind="virtio", discard=False)]


def run(machine):
    machine.needs("explain")
    good, deaf = machine.drives["good"], machine.drives["deaf"]
    story.mount_fresh(machine, good.device(), "/good", "ext4")
    story.mount_fresh(machine, deaf.device(), "/deaf", "ext4")
    machine.trims_through("/good", good)
    machine.trims_not("/deaf", deaf)
    machine.storpol("explain", "/good", code=0)
    machine.storpol("explain", "/deaf", code=0, says=[machine.kernel_name(deaf.device()), "BLOCKS"])
    machine.policy(story.DISCARD)
    machine.storpol("plan", "--detailed-exitcode", code=2, says="/deaf")
    applied = machine.storpol("apply", "--yes", code=2)
    machine.check(applied.says("/deaf"), f"apply does not name /deaf:\n{applied.all}")
    machine.policy(story.DISCARD + """
[[accept]]
address = 'mount["/deaf"].discard-path'
until = 2099-12-31
reason = "this hypervisor offers no discards"
""")
    machine.in_sync()
