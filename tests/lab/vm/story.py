# SPDX-License-Identifier: GPL-3.0-or-later
"""The story most discard scenarios tell: broken, explained, planned, applied, measured outside, kept over a reboot."""

DISCARD = """
[discard]
filesystem = "periodic"
dm-crypt = "allow"
accept-dm-crypt-leak = true
require-end-to-end = true
"""

FLAG = "allow-discards"  # of the LUKS2 header, as `cryptsetup luksDump` prints it


def tell(machine, drive, mounts, layer, policy=DISCARD, live=True, allow=()):
    """`mounts` lie on `drive`; `layer` are words of `explain` that name what blocks discards. Where `live` is false the
    change can only be made for the next boot, which has to be said."""
    broken(machine, drive, mounts, layer)
    machine.policy(policy)
    machine.storpol("plan", "--detailed-exitcode", code=2, says=layer)
    allowed = [word for one in allow for word in ("--allow", one)]
    applied = machine.storpol("apply", "--yes", *allowed, code=0, timeout=300)
    machine.storpol("plan", "--detailed-exitcode", code=0)
    if live:
        machine.storpol("drift", "--strict", code=0)
        reaches(machine, drive, mounts)
    else:
        machine.check(applied.says("next boot"), f"apply does not say what waits for the next boot:\n{applied.all}")
        machine.storpol("drift", code=0)
    machine.reboot()
    machine.in_sync()
    reaches(machine, drive, mounts)


def broken(machine, drive, mounts, layer):
    """fstrim gives nothing back, and explain says whose fault it is."""
    machine.needs("explain")
    for mount in mounts:
        machine.trims_not(mount, drive)
        machine.storpol("explain", mount, code=0, says=[*layer, "BLOCKS"])


def reaches(machine, drive, mounts):
    for mount in mounts:
        machine.trims_through(mount, drive)


def has_flag(machine, device):
    return FLAG in machine.must(["cryptsetup", "luksDump", device]).out


def crypt_table(machine, name):
    return machine.must(["dmsetup", "table", name]).out.split()


def make_luks(machine, device, name, *, version=2, keyfile=True, options="luks"):
    """A LUKS device opened without discards, with its crypttab line. Without a key file its passphrase is 'lab'."""
    key = f"/etc/keys/{name}.key"
    machine.must(
        f"mkdir -p -m 700 /etc/keys; (umask 077; {'head -c 64 /dev/urandom' if keyfile else 'printf lab'} > {key});"
        f"cryptsetup luksFormat --type luks{version} --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --batch-mode"
        f" --key-file {key} {device}; cryptsetup open --key-file {key} {device} {name};"
        f"echo \"{name} UUID=$(cryptsetup luksUUID {device}) {key if keyfile else 'none'} {options}\" >> /etc/crypttab;"
        "systemctl daemon-reload"
    )
    if not keyfile:
        machine.must(["rm", key])


def mount_fresh(machine, device, target, fstype, options="defaults"):
    """mkfs, a line of fstab and a mount."""
    force = {"ext4": "-q -F", "xfs": "-q -f", "btrfs": "-q -f", "f2fs": "-q -f", "vfat": ""}[fstype]
    machine.must(
        f"mkfs.{fstype} {force} {device}; mkdir -p {target};"
        f"echo '{device} {target} {fstype} {options} 0 0' >> /etc/fstab; systemctl daemon-reload; mount {target}"
    )
