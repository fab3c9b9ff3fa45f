# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scenario is given: a fresh guest with storpol in it, its drives, and the checks most scenarios make."""

import json
import time

from base import CACHE, Failure, Skip, remove
from drives import MIB, Drive
from guest import Guest

POLICY = "/etc/storpol/policy.toml"


class Machine:
    patience = 1.0  # of the machine this one runs on: every time limit is multiplied by it

    def __init__(self, name, release, images, drives, seconds, accel="tcg"):
        """`images`: a folder with root.img, boot.img and boot.json (image.base_image or installed.*)."""
        self.release = release
        self.drives = {drive.serial: drive for drive in drives}
        self.folder = CACHE / "runs" / f"{name}-{release}"
        remove(self.folder)
        self.folder.mkdir(parents=True)
        self.root = Drive("lab-root", image=images / "root.img")
        boot = Drive("lab-boot", kind="virtio", image=images / "boot.img")
        for drive in (boot, self.root, *drives):
            drive.make(self.folder)
        facts = json.loads((images / "boot.json").read_text())
        deadline = time.monotonic() + seconds * self.patience
        self.guest = Guest(self.folder, boot, [self.root, *drives], facts["cmdline"], deadline, accel, self.patience)
        self.guest.prompts = [tuple(prompt) for prompt in facts.get("prompts", [])]
        self.run, self.must = self.guest.run, self.guest.must
        self.notes = []  # numbers for the report

    def start(self, storpol=None):
        """Boots, and unpacks storpol (image.storpol_layer) in the guest, as its package would."""
        self.guest.start()
        # Of the boots that follow: on a busy machine an emulated one takes minutes to see its drives.
        wait = f"{300 * self.patience:.0f}s"
        self.guest.write("/etc/systemd/system.conf.d/lab.conf", f"[Manager]\nDefaultDeviceTimeoutSec={wait}\n")
        if storpol is None:
            return
        self.guest.write("/root/storpol.tar.gz", storpol.read_bytes())
        self.must("tar -C / --no-same-owner --keep-directory-symlink -xzf /root/storpol.tar.gz; storpol --version")

    def reboot(self):
        self.guest.reboot()

    def close(self):
        """Ends QEMU; logs stay, drives go."""
        self.guest.stop()
        for drive in [self.guest.boot, *self.guest.drives]:
            if drive.file:
                drive.file.unlink(missing_ok=True)

    def note(self, text):
        self.notes.append(text)

    # storpol

    def policy(self, text):
        self.guest.write(POLICY, "version = 1\n" + text)

    def storpol(self, *arguments, code=None, says=None, timeout=180):
        """Runs storpol; `code` and `says` (words of its output, however lines are broken) are what must come out."""
        ran = self.run(["storpol", *arguments], timeout)
        if code is not None and ran.code != code:
            raise Failure(f"storpol {' '.join(arguments)}: exit {ran.code}, not {code}:\n{ran.all[-3000:]}")
        for words in [says] if isinstance(says, str) else says or []:
            if not ran.says(words):
                raise Failure(f"storpol {' '.join(arguments)} does not say \"{words}\":\n{ran.all[-3000:]}")
        return ran

    def needs(self, *commands):
        """Skips where this storpol lacks a command."""
        for command in commands:
            if self.run(["storpol", command, "--help"]).code != 0:
                raise Skip(f"this storpol has no '{command}'")

    def needs_policy(self, text, what):
        """Skips where this storpol does not know a part of the policy language."""
        self.policy(text)
        ran = self.run(["storpol", "validate"])
        if ran.code != 0:
            raise Skip(f"this storpol does not know {what}: {ran.all.strip().splitlines()[0]}")

    def in_sync(self):
        """Nothing left to do, and nothing waits."""
        self.storpol("plan", "--detailed-exitcode", code=0)
        self.storpol("drift", "--strict", code=0)

    # Facts of the kernel

    def check(self, holds, what):
        if not holds:
            raise Failure(what)

    def kernel_name(self, device):
        """nvme1n1 of /dev/disk/by-id/...; dm-0 of /dev/mapper/data."""
        return self.must(["readlink", "-f", device]).out.strip().rsplit("/", 1)[1]

    def discards(self, device):
        """discard_max_bytes of a whole device: 0 where the kernel refuses discards there now."""
        return int(self.must(["cat", f"/sys/block/{self.kernel_name(device)}/queue/discard_max_bytes"]).out)

    def mount_line(self, target):
        """(flags of the mount, options of the superblock) as mountinfo has them, the last mount of the target."""
        found = None
        for line in self.guest.read("/proc/self/mountinfo").splitlines():
            before, after = line.split(" - ")
            if before.split()[4] == target:
                found = (before.split()[5], after.split()[2])
        if not found:
            raise Failure(f"nothing is mounted at {target}")
        return found

    # Discards, measured outside

    def dirty(self, mount, megabytes=128):
        """Writes a file and removes it: space that only a trim gives back."""
        self.must(f"dd if=/dev/urandom of='{mount}/ballast' bs=1M count={megabytes} conv=fsync status=none; "
                  f"rm '{mount}/ballast'; sync -f '{mount}'", timeout=600)

    def trims_through(self, mount, drive, megabytes=128):
        """fstrim of `mount` gives back to this machine what was written and removed: the only proof that counts."""
        self.dirty(mount, megabytes)
        before = drive.allocated()
        ran = self.must(["fstrim", "-v", mount], timeout=300)
        after = drive.allocated()
        self.note(f"{drive.serial} {before // MIB} -> {after // MIB} MiB")
        freed = (before - after) // MIB
        due = int(megabytes * drive.share)
        self.check(freed > due * 3 // 4,
                   f"fstrim {mount} freed {freed} of {due} MiB on {drive.serial} ({ran.out.strip()})")

    def trims_not(self, mount, drive, megabytes=128):
        """The broken state: whatever fstrim says, the drive keeps its blocks."""
        self.dirty(mount, megabytes)
        before = drive.allocated()
        self.run(["fstrim", "-v", mount], timeout=300)
        freed = before - drive.allocated()
        self.check(freed < megabytes * MIB // 4, f"the set-up is wrong: fstrim {mount} freed {freed // MIB} MiB")
