# SPDX-License-Identifier: GPL-3.0-or-later
"""ext4 for / and xfs for /srv, in LVM, in LUKS2, on NVMe: everything says discards are on but dm-crypt."""

import installed
import story

SECONDS = 1500
images = installed.luks_lvm


def drives():
    return []


def run(machine):
    machine.check(machine.discards("/dev/mapper/vg-root") == 0, "the set-up already lets discards through")
    part = machine.must("cryptsetup status cryptroot | sed -n 's/ *device: *//p'").out.strip()
    machine.check(not story.has_flag(machine, part), "the header already has the flag")
    story.tell(machine, machine.root, ["/", "/srv"], ["cryptroot"])
    machine.check(story.has_flag(machine, part), "the header lacks the flag")
    machine.check("allow_discards" in story.crypt_table(machine, "cryptroot"), "the mapping lacks allow_discards")
