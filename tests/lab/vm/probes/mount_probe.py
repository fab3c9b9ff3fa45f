# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in the guest: mounts a device with words, changes the running mount, and says what the kernel held each time.

Input: {"fstype": "f2fs", "device": "/dev/...", "target": "/mnt", "cases": [CASE...]}
A case: {"mount": [WORD...] or null where it is mounted already and stays so,
         "then": [{"how": "fsconfig" or "mount", "words": [WORD...]}...]}
Output per case: a list of {"error": ERRNO, "shown": OPTIONS, "log": KERNEL MESSAGES}, the mount first.
"""

import ctypes
import json
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, FSPICK = 429, 430, 431, 432, 433  # the same on every architecture
SET_FLAG, SET_STRING, CREATE, RECONFIGURE = 0, 1, 6, 7  # linux/mount.h, enum fsconfig_command
MS_REMOUNT = 32
AT_FDCWD = -100


def call(number, *arguments):
    def as_c(value):
        if isinstance(value, int):
            return ctypes.c_long(value)
        return ctypes.c_char_p(value.encode() if value is not None else None)

    ctypes.set_errno(0)
    done = LIBC.syscall(number, *map(as_c, arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def configure(context, words):
    for word in words:
        key, equals, value = word.partition("=")
        call(FSCONFIG, context, SET_STRING if equals else SET_FLAG, key, value if equals else None, 0)


def mount(fstype, device, target, words):
    context = call(FSOPEN, fstype, 1)
    try:
        configure(context, [f"source={device}", *words])
        call(FSCONFIG, context, CREATE, None, None, 0)
        fd = call(FSMOUNT, context, 1, 0)
        try:
            call(MOVE_MOUNT, fd, "", AT_FDCWD, target, 4)
        finally:
            os.close(fd)
    finally:
        os.close(context)


def change(target, how, words):
    if how == "mount":  # mount(2): the words are all there is to say
        data = ",".join(words).encode()
        if LIBC.mount(None, target.encode(), None, MS_REMOUNT, data) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return
    context = call(FSPICK, AT_FDCWD, target, 1)
    try:
        configure(context, words)
        call(FSCONFIG, context, RECONFIGURE, None, None, 0)
    finally:
        os.close(context)


def shown(target):
    found = ""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            before, after = line.split(" - ")
            if before.split()[4] == target:
                found = after.split()[2]
    return found


class KernelLog:
    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def take(self):
        lines = []
        while True:
            try:
                lines.append(os.read(self.fd, 8192).decode(errors="replace").split(";", 1)[1].split("\n")[0])
            except (BlockingIOError, BrokenPipeError):
                return "; ".join(lines[-4:])


def attempt(log, target, action):
    log.take()
    try:
        action()
        error = 0
    except OSError as failure:
        error = failure.errno
    return {"error": error, "shown": shown(target), "log": log.take()}


def run_case(log, asked, case):
    target = asked["target"]
    if case["mount"] is None:
        return [attempt(log, target, lambda one=one: change(target, one["how"], one["words"])) for one in case["then"]]
    results = [attempt(log, target, lambda: mount(asked["fstype"], asked["device"], target, case["mount"]))]
    if results[0]["error"] == 0:
        for one in case.get("then", []):
            results.append(attempt(log, target, lambda one=one: change(target, one["how"], one["words"])))
        if LIBC.umount2(target.encode(), 0) != 0:
            raise OSError(ctypes.get_errno(), "umount")
    return results


def main():
    asked = json.load(sys.stdin)
    os.makedirs(asked["target"], exist_ok=True)
    log = KernelLog()
    json.dump([run_case(log, asked, case) for case in asked["cases"]], sys.stdout)


main()
