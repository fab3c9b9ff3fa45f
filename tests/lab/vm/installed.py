# SPDX-License-Identifier: GPL-3.0-or-later
"""Guests whose / is not a plain partition: installed by a guest onto an empty drive, as a person would, and kept."""

import json
import uuid

import image
from base import HERE, cached, copy_sparse, digest_of, run
from drives import MIB, Drive
from machine import Machine

PASSPHRASE = "lab"
KEY = "/etc/keys/root.key"
ROOT_MIB = 2300

# LUKS2 on a partition, LVM in it, ext4 for / and xfs for /srv. Opened by a key file in the initramfs, as a machine that
# starts unattended is; the passphrase is in a slot of its own. Nothing asks for discards, which is what installers do.
# / comes as blocks of the drive $3: copying its files one by one takes an emulated machine far longer.
LUKS_LVM = r"""
echo 'label: gpt
,,,' | sfdisk -q "$1"
udevadm settle
part=$(readlink -f "$1")p1
mkdir -p /etc/keys
head -c 64 /dev/urandom > /etc/keys/root.key
chmod 600 /etc/keys/root.key
quick='--pbkdf pbkdf2 --pbkdf-force-iterations 1000 --batch-mode'
cryptsetup luksFormat --type luks2 $quick --key-file /etc/keys/root.key "$part"
printf %s "$2" | cryptsetup luksAddKey $quick --key-file /etc/keys/root.key "$part" -
cryptsetup open --allow-discards --key-file /etc/keys/root.key "$part" cryptroot
pvcreate -q /dev/mapper/cryptroot
vgcreate -q vg /dev/mapper/cryptroot
lvcreate -q -n root -L "$4"M vg
lvcreate -q -n srv -L 400M vg
e2image -ra "$3" /dev/vg/root
mkfs.xfs -q /dev/vg/srv
mkdir -p /target
mount /dev/vg/root /target
mkdir -p /target/srv /target/etc/keys
cp -p /etc/keys/root.key /target/etc/keys/
cat > /target/etc/fstab <<END
/dev/mapper/vg-root / ext4 errors=remount-ro 0 1
/dev/mapper/vg-srv /srv xfs defaults 0 2
LABEL=lab-boot /boot ext4 defaults 0 2
END
echo "cryptroot UUID=$(cryptsetup luksUUID "$part") /etc/keys/root.key luks" > /target/etc/crypttab
echo 'KEYFILE_PATTERN="/etc/keys/*.key"' >> /target/etc/cryptsetup-initramfs/conf-hook
echo 'UMASK=0077' > /target/etc/initramfs-tools/conf.d/keys
for tree in dev proc sys run boot; do
    mount --rbind "/$tree" "/target/$tree"
    mount --make-rslave "/target/$tree"
done
chroot /target update-initramfs -u -k all
umount -R /target/dev /target/proc /target/sys /target/run /target/boot
fstrim /target
umount /target
"""


def seed_of(root, folder):
    """A copy of a root drive, of the size it shall have and with names of its own."""
    seed = folder / "seed.img"
    copy_sparse(root, seed)
    run(["e2fsck", "-fp", seed], 120, folder / "log")
    run(["resize2fs", seed, f"{ROOT_MIB}M"], 300, folder / "log")
    run(["tune2fs", "-L", "seed", "-U", str(uuid.uuid4()), seed], 60, folder / "log")
    return seed


def luks_lvm(release):
    base = image.base_image(release)

    def make(folder):
        target = Drive("target", size=3072 * MIB)
        seed = Drive("seed", image=seed_of(base / "root.img", folder))
        machine = Machine("install-luks-lvm", release, base, [target, seed], seconds=1500)
        try:
            machine.start()
            machine.guest.write("/root/install", "set -eu\n" + LUKS_LVM)
            machine.must(["bash", "/root/install", target.device(), PASSPHRASE, seed.device(), str(ROOT_MIB)],
                         timeout=1200)
            machine.guest.power_off()
            copy_sparse(target.file, folder / "root.img")
            copy_sparse(machine.guest.boot.file, folder / "boot.img")
        finally:
            machine.close()
            seed.image.unlink()
        facts = {"cmdline": "root=/dev/mapper/vg-root ro", "prompts": [["Please unlock disk \\S+", PASSPHRASE]]}
        (folder / "boot.json").write_text(json.dumps(facts))

    return cached("luks-lvm", release, digest_of(base.name, LUKS_LVM, PASSPHRASE, HERE / "installed.py"), make)
