# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap in memory by zram-generator: set up with zstd by its drop-in, kept over a reboot, refused while a service's limit has
no room for what it has swapped out, resized under use once it has, and rolled back."""

import time

SECONDS = 1500

PLAIN = """
[zram]
size = "60%"
algorithm = "zstd"
priority = 100
"""
SMALLER = PLAIN.replace("60%", "40%")

SETUP = "systemd-zram-setup@zram0.service"
DROP_IN = "/etc/systemd/zram-generator.conf.d/50-storpol.conf"
HOG = ("import os, time; kept = [os.urandom(2048) + bytes(2048) for _ in range(120 << 8)]; "
       "time.sleep(100000)")  # 120 MiB that compress to half


def drives():
    return []


def run(machine):
    machine.needs_policy(PLAIN, "zram")
    set_up(machine)
    machine.reboot()
    is_as_wanted(machine, 60)
    machine.in_sync()
    resized(machine)


def memory(machine):
    return int(machine.must(["awk", "/^MemTotal:/ { print $2 }", "/proc/meminfo"]).out) << 10


def swap(machine):
    """(kibibytes used, priority) of zram0; None where it is not in use."""
    for line in machine.guest.read("/proc/swaps").splitlines():
        words = line.split()
        if words[0] == "/dev/zram0":
            return int(words[3]), int(words[4])
    return None


def size(machine):
    return int(machine.guest.read("/sys/block/zram0/disksize"))


def is_as_wanted(machine, percent):
    found = swap(machine)
    machine.check(found is not None and found[1] == 100, f"zram0 is not in use with priority 100: {found}")
    wanted = memory(machine) * percent // 100
    machine.check(abs(size(machine) - wanted) <= max(wanted // 100, 1 << 20), f"{size(machine)} bytes, not {wanted}")
    algorithms = machine.guest.read("/sys/block/zram0/comp_algorithm")
    machine.check("[zstd]" in algorithms, f"the algorithm is {algorithms}")
    machine.must(["systemctl", "is-active", SETUP])


def calm(machine):
    """Waits for the pressure that swapping out made to pass: with it nothing may be swapped in, whatever the limits."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        full = machine.guest.read("/proc/pressure/memory").splitlines()[1]
        if float(full.split()[1].partition("=")[2]) < 1:
            return
        time.sleep(5)


def set_up(machine):
    machine.policy(PLAIN)
    machine.storpol("plan", "--detailed-exitcode", code=2, says=["zram-size = ram * 0.6", "set-up-zram:/dev/zram0"])
    machine.storpol("apply", "--yes", code=0)
    is_as_wanted(machine, 60)
    machine.in_sync()
    machine.check("[zram0]" in machine.guest.read(DROP_IN), "the drop-in names no device")
    machine.note("zstd by the drop-in")


def resized(machine):
    """A service with more swapped out than its limit has room for, were it to come back."""
    machine.must(["systemd-run", "--unit=hog", "-p", "MemoryMax=48M", "/usr/bin/python3", "-c", HOG])
    deadline = time.monotonic() + 240
    while (swap(machine) or (0, 0))[0] < 60 << 10 and time.monotonic() < deadline:
        time.sleep(2)
    used = swap(machine)[0]
    machine.check(used >= 60 << 10, f"the set-up is wrong: {used} KiB are swapped out")
    before = size(machine)
    calm(machine)
    machine.policy(SMALLER)
    machine.storpol("plan", says=["hog.service", "until a reboot"])
    machine.storpol("apply", "--yes", says=["hog.service"])
    machine.check(size(machine) == before and swap(machine) is not None, "the device was touched all the same")
    machine.must(["systemctl", "is-active", "hog.service"])
    machine.must(["systemctl", "set-property", "--runtime", "hog.service", "MemoryMax=infinity"])
    calm(machine)
    machine.storpol("apply", "--yes", code=0, timeout=300)
    is_as_wanted(machine, 40)
    machine.must(["systemctl", "is-active", "hog.service"])
    machine.in_sync()
    machine.note(f"resized with {used >> 10} MiB swapped out")
    machine.must(["systemctl", "stop", "hog.service"])
    machine.storpol("rollback", "--yes", code=0)
    found = swap(machine)
    machine.check(found is not None and abs(size(machine) - before) <= 1 << 20,
                  f"rolled back to {size(machine)} bytes in use {found}, not {before}")
