# SPDX-License-Identifier: GPL-3.0-or-later
"""RAID 1 with a member that refuses discards advertises them all the same; RAID 5 refuses until raid456 is told that
zeroes are reliable, which only a policy that names the model may do."""

import story
from drives import MIB, Drive

SECONDS = 1500

RAID5 = story.DISCARD + """
md-raid456-discard = ["QEMU NVMe*"]
"""


def drives():
    # Two mirrored, three with a parity: each of these holds half of the data.
    mirrored = [Drive(f"m{number}", size=512 * MIB) for number in (1, 2)]
    return [*mirrored, *(Drive(f"m{number}", size=512 * MIB, share=0.5) for number in (3, 4, 5))]


def run(machine):
    machine.needs("explain")
    first, second, *others = [drive.device() for drive in machine.drives.values()]
    machine.must("modprobe raid1; modprobe raid456")
    deaf = machine.kernel_name(second)
    machine.must(f"echo 0 > /sys/block/{deaf}/queue/discard_max_bytes")
    machine.must(f"mdadm --create /dev/md/mirror --run --level 1 --raid-devices 2 --assume-clean {first} {second};"
                 f"mdadm --create /dev/md/parity --run --level 5 --raid-devices 3 --assume-clean {' '.join(others)};"
                 "udevadm settle; mdadm --detail --scan >> /etc/mdadm/mdadm.conf")
    story.mount_fresh(machine, "/dev/md/mirror", "/mirror", "ext4")
    story.mount_fresh(machine, "/dev/md/parity", "/parity", "ext4")
    machine.check(machine.discards("/dev/md/mirror") > 0, "the mirror does not advertise discards")
    machine.storpol("explain", "/mirror", code=0, says=[deaf, "BLOCKS"])
    machine.trims_not("/mirror", machine.drives["m2"])
    story.broken(machine, machine.drives["m3"], ["/parity"], ["raid5"])
    machine.must(f"cat /sys/block/{deaf}/queue/discard_max_hw_bytes > /sys/block/{deaf}/queue/discard_max_bytes")
    machine.policy(RAID5)
    machine.storpol("plan", "--detailed-exitcode", code=2, says="devices_handle_discard_safely")
    # All is written, and an array keeps what it was assembled with: this waits, which has to be said.
    machine.storpol("apply", "--yes", code=0, says=["/parity", "assembled before", "next boot"], timeout=600)
    machine.storpol("drift", "--strict", code=2, says="/parity")
    machine.check(machine.discards("/dev/md/parity") == 0, "an array took up the parameter while it ran")
    machine.reboot()
    machine.in_sync()
    machine.check(machine.discards("/dev/md/parity") > 0, "the array still refuses discards after the reboot")
    machine.trims_through("/mirror", machine.drives["m2"])
    machine.trims_through("/parity", machine.drives["m3"])
