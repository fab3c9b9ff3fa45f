# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives of a guest: sparse files of this machine, so that a discard that reaches the drive frees blocks here."""

import dataclasses
import pathlib

from base import Failure, copy_sparse

MIB = 1 << 20


@dataclasses.dataclass
class Drive:
    """One emulated drive. `serial` names it in the guest (/dev/disk/by-id); `image` is what it starts as."""

    serial: str
    size: int = 1024 * MIB
    kind: str = "nvme"  # nvme, virtio or scsi
    discard: bool = True
    share: float = 1.0  # of a filesystem's data: 0.5 where it is striped over two
    image: pathlib.Path | None = None
    file: pathlib.Path | None = None

    def make(self, folder):
        self.file = folder / f"{self.serial}.img"
        if self.image:
            copy_sparse(self.image, self.file)
        else:
            self.file.write_bytes(b"")
            with open(self.file, "r+b") as file:
                file.truncate(self.size)

    def allocated(self):
        """Bytes that the drive takes up here. Only blocks count, never what a guest says of itself."""
        return self.file.stat().st_blocks * 512

    def device(self):
        """Its path in the guest, the same whatever order the kernel finds drives in."""
        prefix = {"nvme": "nvme-QEMU_NVMe_Ctrl_", "virtio": "virtio-", "scsi": "scsi-0QEMU_QEMU_HARDDISK_"}[self.kind]
        return f"/dev/disk/by-id/{prefix}{self.serial}"

    def arguments(self):
        """Of QEMU. Flushes are left out (cache=unsafe): the file outlives the guest, not this machine's power."""
        discard = "unmap" if self.discard else "ignore"
        backing = f"if=none,id={self.serial},file={self.file},format=raw,cache=unsafe,discard={discard}"
        on_or_off = "on" if self.discard else "off"
        device = {
            "nvme": f"nvme,drive={self.serial},serial={self.serial}",
            "virtio": f"virtio-blk-pci,drive={self.serial},serial={self.serial},discard={on_or_off}",
            "scsi": f"scsi-hd,bus=scsi.0,drive={self.serial},serial={self.serial}",
        }
        if self.kind not in device:
            raise Failure(f"no such kind of drive: {self.kind}")
        return ["-drive", backing, "-device", device[self.kind]]
