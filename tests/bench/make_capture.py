#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A capture of a made-up host with many mounts, disks or stacks of block devices, and a policy for it; the same arguments give the same bytes.

usage: make_capture.py OUT mounts|disks|stacks N

OUT/host.capture and OUT/policy.toml are for `storpol plan --host`; OUT/empty.toml wants nothing, so that a plan of it costs
what reading the capture costs. With mounts also OUT/mountinfo and OUT/fstab, the texts in the capture. Half of what the
policy wants does not hold.
"""
import os
import sys

SCHEDULERS = ["[none] mq-deadline kyber bfq", "none [mq-deadline] kyber bfq"]


class Capture:
    def __init__(self):
        self.lines = ["storpol-capture 1 0.1.0 2026-11-30T12:00:00Z", "now 2026-11-30T12:00:00Z", "uid 0"]
        self.file("/proc/sys/kernel/osrelease", "6.12.0")
        self.file("/proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111")

    def file(self, path, text):
        self.lines.append(f"file {path} resolved={path}")
        self.lines += ["|" + line for line in text.split("\n")]

    def missing(self, kind, path):
        self.lines.append(f"{kind} {path} !ENOENT")

    def listing(self, path, names):
        self.lines.append(f"list {path} resolved={path}")
        self.lines += ["|" + name for name in sorted(names)]

    def link(self, path, target):
        self.lines.append(f"link {path} {target}")


def with_mounts(capture, count):
    mountinfo = ["1 0 259:0 / / rw,relatime shared:1 - ext4 /dev/nvme0n1 rw"]
    fstab = ["/dev/nvme0n1 / ext4 defaults 0 1"]
    capture.listing("/sys/block", ["nvme0n1"])
    capture.file("/sys/block/nvme0n1/dev", "259:0")
    capture.listing("/sys/block/nvme0n1/slaves", [])
    capture.file("/sys/block/nvme0n1/queue/rotational", "0")
    capture.file("/sys/block/nvme0n1/queue/discard_max_bytes", "2147483136")
    capture.link("/sys/dev/block/259:0", "../../devices/pci0000:00/nvme/nvme0/block/nvme0n1")
    for number in range(1, count):
        part = f"nvme0n1p{number}"
        holds = number % 2 == 0
        options = "rw,commit=60" if holds else "rw"
        flags = "rw,noatime" if holds else "rw,relatime"
        words = "noatime,commit=60" if holds else "defaults,nofail"
        mountinfo.append(f"{number + 1} 1 259:{number} / /srv/volume-{number:05d} {flags} shared:{number} - ext4 /dev/{part} {options}")
        fstab.append(f"UUID={number:08x}-0000-4000-8000-000000000000\t/srv/volume-{number:05d}\text4\t{words}\t0 2")
        capture.link(f"/sys/dev/block/259:{number}", f"../../devices/pci0000:00/nvme/nvme0/block/nvme0n1/{part}")
        capture.file(f"/proc/fs/ext4/{part}/options", f"rw\nbarrier\nnodiscard\ncommit={60 if holds else 5}\ndata=ordered")
    capture.file("/proc/self/mountinfo", "\n".join(mountinfo))
    capture.file("/etc/fstab", "\n".join(fstab))
    for path in ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/usr/local/lib/systemd/system",
                 "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/generator",
                 "/run/systemd/generator.early", "/run/systemd/generator.late", "/run/systemd/transient", "/dev/disk/by-label"]:
        capture.missing("list", path)
    capture.missing("stat", "/run/systemd/system")
    return {"mountinfo": mountinfo, "fstab": fstab}


MOUNT_POLICY = """version = 1

[[mount]]
match = { target = "/srv/*", fstype = "ext4", encrypted = false }
options = ["noatime", "commit=60"]
"""


def with_disks(capture, count):
    names = [f"sd{number:05d}x" for number in range(count)]
    capture.listing("/sys/block", names)
    for number, name in enumerate(names):
        device = f"{8 + number // 65536}:{number * 16}"
        folder = f"/sys/block/{name}"
        capture.file(f"{folder}/dev", device)
        capture.file(f"{folder}/size", "1000000")
        capture.file(f"{folder}/removable", "0")
        capture.file(f"{folder}/device/model", f"DISK{number % 7}")
        capture.file(f"{folder}/device/vendor", "ATA")
        capture.file(f"{folder}/device/wwid", f"naa.5000{number:012x}")
        capture.missing("file", f"{folder}/wwid")
        capture.missing("file", f"{folder}/serial")
        capture.missing("file", f"{folder}/device/serial")
        capture.file(f"{folder}/queue/rotational", str(number % 2))
        capture.file(f"{folder}/queue/scheduler", SCHEDULERS[number % 2])
        capture.file(f"{folder}/queue/read_ahead_kb", str(128 << number % 2))
        capture.file(f"{folder}/queue/nr_requests", "64")
        capture.link(f"/sys/dev/block/{device}", f"../../devices/pci0000:00/ata{number}/host{number}/block/{name}")
        capture.file(f"/run/udev/data/b{device}", f"E:ID_BUS=ata\nE:ID_WWN=0x5000{number:012x}\nE:ID_MODEL=DISK{number % 7}")
    rules = "/etc/udev/rules.d"
    capture.listing(rules, ["60-site.rules"])
    capture.file(f"{rules}/60-site.rules",
                 'ACTION=="add|change", SUBSYSTEM=="block", ENV{ID_BUS}=="ata", ATTR{queue/rotational}=="0", ATTR{queue/scheduler}="none"')
    for path in ["/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"]:
        capture.missing("list", path)
    for path in [f"{rules}/99-storpol.rules", "/lib/modules/6.12.0/modules.builtin", "/lib/modules/6.12.0/modules.dep",
                 "/etc/tuned/active_profile"]:
        capture.missing("file", path)
    return {}


DISK_POLICY = """version = 1

[[block]]
match = { transport = "sata" }
scheduler = "none"
read-ahead = { at-most = "128KiB" }

[[block]]
match = { model = "DISK3" }
scheduler = "mq-deadline"
"""


def with_stacks(capture, count):
    """ext4 on a linear volume on dm-crypt on a disk, `count` block devices in all; every other mapping blocks discards."""
    names = []
    mountinfo = []
    for number in range(count // 3):
        disk, crypt, volume = f"sd{number:05d}x", f"dm-{2 * number}", f"dm-{2 * number + 1}"
        passes = number % 2 == 0
        shape = [(disk, f"8:{number * 16}", None, True), (crypt, f"252:{2 * number}", disk, passes),
                 (volume, f"252:{2 * number + 1}", crypt, passes)]
        for name, device, below, takes in shape:
            names.append(name)
            folder = f"/sys/block/{name}"
            capture.file(f"{folder}/dev", device)
            capture.file(f"{folder}/queue/rotational", "0")
            capture.file(f"{folder}/queue/discard_max_bytes", "2147450880" if takes else "0")
            capture.file(f"{folder}/queue/discard_granularity", "4096")
            capture.listing(f"{folder}/slaves", [below] if below else [])
            where = "virtual" if below else f"pci0000:00/ata{number}/host{number}"
            capture.link(f"/sys/dev/block/{device}", f"../../devices/{where}/block/{name}")
            if below:
                capture.link(f"{folder}/slaves/{below}", f"../../../../block/{below}")
        capture.file(f"/sys/block/{disk}/queue/discard_max_hw_bytes", "2147450880")
        for name, label, uuid in [(crypt, f"crypt{number}", f"CRYPT-LUKS2-{number:032x}-crypt{number}"),
                                  (volume, f"vg-volume{number}", f"LVM-{number:032x}")]:
            capture.file(f"/sys/block/{name}/dm/name", label)
            capture.file(f"/sys/block/{name}/dm/uuid", uuid)
        capture.lines.append(f'dm-table crypt{number} target=crypt flags={"allow_discards" if passes else ""}')
        capture.lines.append(f"dm-table vg-volume{number} target=linear")
        mountinfo.append(f"{number + 2} 1 252:{2 * number + 1} / /srv/volume-{number:05d} rw,relatime shared:{number + 1} - "
                         f"ext4 /dev/mapper/vg-volume{number} rw")
    capture.listing("/sys/block", names)
    capture.file("/proc/self/mountinfo", "\n".join(mountinfo))
    return {}


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in ("mounts", "disks", "stacks"):
        sys.exit(__doc__)
    out, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.makedirs(out, exist_ok=True)
    capture = Capture()
    texts = {"mounts": with_mounts, "disks": with_disks, "stacks": with_stacks}[kind](capture, count)
    texts["host.capture"] = capture.lines
    texts["policy.toml"] = [{"mounts": MOUNT_POLICY, "disks": DISK_POLICY, "stacks": "version = 1"}[kind]]
    texts["empty.toml"] = ["version = 1"]
    for name, lines in texts.items():
        with open(os.path.join(out, name), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
