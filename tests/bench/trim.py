#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""storpol trim beside fstrim(8): on an idle disk, and with a 4 KiB O_DSYNC writer on the same filesystem.

usage: trim.py BUILD-DIRECTORY [--rounds 3] [--gib 3] [--fstype ext4|xfs] [--work DIRECTORY] [--json FILE]

Needs root, loop devices and some GiB. A fragmented filesystem (small files and some large ones, every second one
deleted, never trimmed) is made once in a sparse image; each run gets a fresh copy of it on a loop device with direct
I/O. A discard of a loop device is a hole punched into the file below, so this models a disk that is backed by a file or
a thin pool, not the firmware of an SSD. The runs of one round follow each other directly: compare within a round, as the
machine's other work moves all numbers. "freed" is what the image file gave back.
"""
import argparse
import array
import ctypes
import json
import mmap
import os
import random
import signal
import statistics
import subprocess
import sys
import time

RUNS = ("fstrim-idle", "storpol-idle", "fstrim-busy", "storpol-busy")
SMALL_ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def run(*arguments, **more):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, env=SMALL_ENV, **more).stdout


def fill(directory, gib, seed=1):
    """Three quarters of the bytes in files of 4 KiB to 256 KiB, one quarter in files of 2 to 16 MiB; half deleted."""
    rng = random.Random(seed)
    data = rng.randbytes(16 << 20)
    done = big = small = count = 0
    names = []
    while done < gib * 2**30:
        if count % 256 == 0:
            folder = os.path.join(directory, f"d{count // 256:05d}")
            os.mkdir(folder)
        if big * 3 < small:
            size = rng.randrange(2 << 20, 16 << 20) & ~4095
            big += size
        else:
            size = max(4096, int(4096 * 2 ** rng.uniform(0, 6)) & ~4095)
            small += size
        path = os.path.join(folder, f"f{count:06d}")
        at = rng.randrange(0, len(data) - size + 1) & ~4095
        with open(path, "wb", buffering=0) as file:
            file.write(memoryview(data)[at:at + size])
        names.append(path)
        done += size
        count += 1
    os.sync()
    for path in names:
        if rng.random() < 0.5:
            os.unlink(path)
    os.sync()


def write_until_stopped(path, log):
    """The writer: 4 KiB at random places of an allocated file, O_DIRECT and O_DSYNC. Start and length in ns of each."""
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    fd = os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_DSYNC)
    blocks = os.fstat(fd).st_size // 4096
    block = mmap.mmap(-1, 4096)
    block.write(os.urandom(4096))
    rng = random.Random(7)
    times = array.array("q")
    clock = time.monotonic_ns
    while not stop:
        at = rng.randrange(blocks) * 4096
        before = clock()
        os.pwrite(fd, block, at)
        after = clock()
        times.append(before)
        times.append(after - before)
    with open(log, "wb") as file:
        times.tofile(file)


def writer_numbers(log, begin, start, end):
    times = array.array("q")
    with open(log, "rb") as file:
        times.frombytes(file.read())
    before, during = [], []
    for index in range(0, len(times), 2):
        moment, length = times[index], times[index + 1]
        if begin + 2e9 <= moment < start:  # two seconds to warm up
            before.append(length)
        elif start <= moment <= end:
            during.append(length)
    seconds = {"before": (start - begin - 2e9) / 1e9, "during": (end - start) / 1e9}

    def numbers(lengths, name):
        lengths.sort()
        pick = lambda share: lengths[min(len(lengths) - 1, int(share * len(lengths)))] / 1e6 if lengths else float("nan")
        return {"iops": len(lengths) / max(seconds[name], 1e-3), "p50": pick(.5), "p99": pick(.99), "max": pick(1)}

    return numbers(before, "before"), numbers(during, "during")


class Disk:
    """A copy of the golden image, mounted from a loop device."""

    def __init__(self, work, golden):
        self.image = os.path.join(work, "work.img")
        self.target = os.path.join(work, "mnt")
        os.makedirs(self.target, exist_ok=True)
        run("cp", "--sparse=auto", golden, self.image)
        with open(self.image, "rb") as file:
            os.fsync(file.fileno())
        self.device = run("losetup", "-f", "--show", "--direct-io=on", self.image).strip()
        run("mount", "-o", "nodiscard,nouuid" if golden.endswith(".xfs") else "nodiscard", self.device, self.target)

    def used(self):
        os.sync()
        return os.stat(self.image).st_blocks * 512

    def discards(self):
        with open(f"/sys/block/{self.device[5:]}/stat", encoding="ascii") as file:
            return int(file.read().split()[11])

    def close(self):
        for _ in range(50):  # somebody may just be looking at it
            if subprocess.run(["umount", self.target], check=False, capture_output=True, env=SMALL_ENV).returncode == 0:
                break
            time.sleep(0.2)
        else:
            sys.exit(f"trim.py: {self.target} cannot be unmounted")
        run("losetup", "-d", self.device)
        os.unlink(self.image)


def make_golden(work, fstype, gib):
    golden = os.path.join(work, f"golden-{gib}.{fstype}")
    if os.path.exists(golden):
        return golden
    image = golden + ".part"
    run("truncate", "-s", "40G", image)
    if fstype == "ext4":
        run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", image)
    else:
        run("mkfs.xfs", "-q", "-K", "-f", image)
    target = os.path.join(work, "mnt")
    os.makedirs(target, exist_ok=True)
    run("mount", "-o", "loop,nodiscard", image, target)
    try:
        fill(target, gib)
        with open(os.path.join(target, "writer.dat"), "wb") as file:
            for _ in range(64):
                file.write(os.urandom(4 << 20))
            file.flush()
            os.fsync(file.fileno())
    finally:
        run("umount", target)
    os.rename(image, golden)
    return golden


def measure(disk, command, with_writer, work):
    log = os.path.join(work, "writer.log")
    writer = None
    if with_writer:
        writer = subprocess.Popen([sys.executable, __file__, "--writer", f"{disk.target}/writer.dat", log])
        begin = time.monotonic_ns()
        time.sleep(10)
    else:
        time.sleep(1)
    used, discards = disk.used(), disk.discards()
    start = time.monotonic_ns()
    out = run(*command)
    end = time.monotonic_ns()
    result = {"seconds": (end - start) / 1e9, "discards": disk.discards() - discards}
    if writer:
        time.sleep(1)
        writer.terminate()
        writer.wait()
        result["before"], result["during"] = writer_numbers(log, begin, start, end)
        os.unlink(log)
    result["freed"] = (used - disk.used()) >> 20
    result["says"] = out.strip().splitlines()
    if result["discards"] == 0:
        sys.exit("trim.py: nothing was discarded: " + out)
    return result


def run_once(arguments, golden, name):
    disk = Disk(arguments.work, golden)
    tool, load = name.split("-")
    storpol = os.path.join(arguments.build, "storpol")
    command = {"fstrim": ["fstrim", "-v", disk.target],
               "storpol": [storpol, "trim", "--verbose", "builtin:default", disk.target]}[tool]
    try:
        return measure(disk, command, load == "busy", arguments.work)
    finally:
        disk.close()


def line_of(name, result, verbose):
    text = f"  {name:13} {result['seconds']:7.2f} s  {result['discards']:6} discards  {result['freed']:5} MiB freed"
    if "during" in result:
        before, during = result["before"], result["during"]
        text += (f"  writer: IOPS {before['iops']:.0f} -> {during['iops']:.0f}, "
                 f"p99 {before['p99']:.2f} -> {during['p99']:.2f} ms (x{during['p99'] / before['p99']:.2f}), "
                 f"max {before['max']:.0f} -> {during['max']:.0f} ms")
    return "\n      ".join([text, *(result["says"] if verbose else [])])


def ratios(results):
    """What is promised, of one round."""
    worse = lambda name: results[name]["during"]["p99"] / results[name]["before"]["p99"]
    busy = results["storpol-busy"]
    return {
        "time on an idle disk, storpol / fstrim (at most 1.15)":
            results["storpol-idle"]["seconds"] / results["fstrim-idle"]["seconds"],
        "space freed, storpol / fstrim (1, or more on XFS)": results["storpol-idle"]["freed"] / max(1, results["fstrim-idle"]["freed"]),
        "p99 growth of the writer, storpol / fstrim (at most 0.5)": worse("storpol-busy") / worse("fstrim-busy"),
        "p99 growth of the writer beside fstrim": worse("fstrim-busy"),
        "p99 growth of the writer beside storpol": worse("storpol-busy"),
        "IOPS of the writer beside storpol / before (at least 0.7)": busy["during"]["iops"] / busy["before"]["iops"],
        "IOPS of the writer beside fstrim / before":
            results["fstrim-busy"]["during"]["iops"] / results["fstrim-busy"]["before"]["iops"],
    }


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--writer":
        return write_until_stopped(sys.argv[2], sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gib", type=float, default=3)
    parser.add_argument("--fstype", choices=["ext4", "xfs"], default="ext4")
    parser.add_argument("--work", default="/var/tmp/storpol-bench-trim")
    parser.add_argument("--only", help="one run, such as storpol-busy, and no ratios")
    parser.add_argument("--verbose", action="store_true", help="what the tools say too")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("trim.py: needs root for loop devices and FITRIM")
    # Mounts stay in a namespace of this process, and what storpol remembers in a directory that goes with it.
    if ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0:
        sys.exit("trim.py: cannot make a mount namespace: " + os.strerror(ctypes.get_errno()))
    run("mount", "--make-rprivate", "/")
    for directory in ("/var/lib/storpol", "/run/storpol"):
        os.makedirs(directory, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "mode=755", "none", directory)
    os.makedirs(arguments.work, exist_ok=True)
    golden = make_golden(arguments.work, arguments.fstype, arguments.gib)
    rounds, table = [], []
    for number in range(1, arguments.rounds + 1):
        print(f"round {number} of {arguments.rounds}, load {os.getloadavg()[0]:.1f}", flush=True)
        results = {}
        for name in [arguments.only] if arguments.only else RUNS:
            results[name] = run_once(arguments, golden, name)
            print(line_of(name, results[name], arguments.verbose), flush=True)
        rounds.append(results)
        if not arguments.only:
            table.append(ratios(results))
    if arguments.only:
        return
    print("ratios: each round, then the median")
    for what in table[0] if table else []:
        values = [row[what] for row in table]
        print(f"  {what}: {'  '.join(f'{value:.2f}' for value in values)}   median {statistics.median(values):.2f}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rounds": rounds, "ratios": table}, file, indent=1)


if __name__ == "__main__":
    main()
