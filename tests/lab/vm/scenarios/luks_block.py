# SPDX-License-Identifier: GPL-3.0-or-later
"""The reverse: a policy that blocks discards takes them away in the header, in crypttab and live."""

import story
from drives import Drive

SECONDS = 1200

POLICY = """
[discard]
dm-crypt = "block"
"""


def drives():
    return [Drive("data")]


def run(machine):
    machine.needs("explain")
    data = machine.drives["data"]
    story.make_luks(machine, data.device(), "data", options="luks,discard")
    machine.must("cryptsetup refresh --allow-discards --persistent --key-file /etc/keys/data.key data")
    story.mount_fresh(machine, "/dev/mapper/data", "/data", "ext4")
    story.reaches(machine, data, ["/data"])
    machine.policy(POLICY)
    machine.storpol("plan", "--detailed-exitcode", code=2, says=["data", "clear-luks2-flag"])
    machine.storpol("apply", "--yes", code=0)
    machine.in_sync()
    machine.trims_not("/data", data)
    machine.check(not story.has_flag(machine, data.device()), "the header still has the flag")
    machine.reboot()
    machine.in_sync()
    machine.trims_not("/data", data)
    machine.storpol("rollback", "--yes", code=0)
    machine.check(story.has_flag(machine, data.device()), "rollback did not bring the flag back")
