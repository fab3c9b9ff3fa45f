# SPDX-License-Identifier: GPL-3.0-or-later
"""crypttab says discard and the initramfs was made before: a reboot would bring the old state back. Seen before the
reboot on the boot plane, mended by rebuilding the image."""

import installed
import story

SECONDS = 1800
images = installed.luks_lvm

POLICY = story.DISCARD + """
dm-crypt-persist = "crypttab"
"""

# QEMU is given kernel and initramfs; this is what says on an installed machine which initramfs the next boot takes.
GRUB = """set default="0"
menuentry 'Debian GNU/Linux' --class debian --class gnu-linux --class gnu --class os {
	linux	/vmlinuz-VERSION root=/dev/mapper/vg-root ro
	initrd	/initrd.img-VERSION
}
"""


def drives():
    return []


def run(machine):
    machine.needs("explain")
    version = machine.must(["uname", "-r"]).out.strip()
    machine.guest.write("/boot/grub/grub.cfg", GRUB.replace("VERSION", version))
    machine.must("sed -i '/^cryptroot/s/luks$/luks,discard/' /etc/crypttab; grep '^cryptroot.*discard' /etc/crypttab")
    machine.must("cryptsetup refresh --allow-discards --key-file /etc/keys/root.key cryptroot")
    machine.policy(POLICY)
    stale = machine.storpol("plan", "--detailed-exitcode", code=2)
    machine.check(stale.says("initramfs"), f"plan does not name the stale initramfs:\n{stale.all}")
    machine.reboot()
    machine.check("allow_discards" not in story.crypt_table(machine, "cryptroot"), "the set-up is wrong: not stale")
    machine.storpol("drift", code=2, says="initramfs")
    machine.storpol("apply", "--yes", code=0, timeout=900)
    machine.storpol("plan", "--detailed-exitcode", code=0)
    machine.reboot()
    machine.check("allow_discards" in story.crypt_table(machine, "cryptroot"), "the new initramfs is without discard")
    machine.in_sync()
    machine.trims_through("/", machine.root)
