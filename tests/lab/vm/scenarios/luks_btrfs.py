# SPDX-License-Identifier: GPL-3.0-or-later
"""btrfs on two LUKS2 mappings, of which one lets discards through: the other one is named."""

import story
from drives import Drive

SECONDS = 1200


def drives():
    return [Drive("one", share=0.5), Drive("two", share=0.5)]


def run(machine):
    one, two = machine.drives["one"], machine.drives["two"]
    story.make_luks(machine, one.device(), "one", options="luks,discard")
    story.make_luks(machine, two.device(), "two")
    machine.must("cryptsetup refresh --allow-discards --key-file /etc/keys/one.key one")
    machine.must("mkfs.btrfs -q -f -d raid0 -m raid1 /dev/mapper/one /dev/mapper/two; mkdir -p /data;"
                 "echo '/dev/mapper/one /data btrfs device=/dev/mapper/two 0 0' >> /etc/fstab;"
                 "systemctl daemon-reload; mount /data")
    story.tell(machine, two, ["/data"], ["two"])
    machine.check(machine.discards("/dev/mapper/two") > 0, "the mapping still refuses discards")
