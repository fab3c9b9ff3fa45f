# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in the guest: one JSON request a line comes in on a virtio port, one JSON answer a line goes out.

    {"argv": ["lsblk"], "input": "", "timeout": 60}  ->  {"code": 0, "out": "...", "err": "..."}
    {"put": "/etc/fstab", "mode": 420, "data": BASE64}  ->  {"code": 0}
    {"get": "/etc/fstab"}  ->  {"code": 0, "data": BASE64}

The first line after a start is {"hello": BOOT-ID}.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import time

LIMIT = 4 << 20  # of each output, so that a runaway command cannot fill the host's memory


def run(request):
    child = subprocess.Popen(
        request["argv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        out, err = child.communicate(request.get("input", "").encode(), request["timeout"])
        code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        code, err = 124, err + b"\n(killed: no end within %d s)" % request["timeout"]
    return {"code": code, "out": out[:LIMIT].decode(errors="replace"), "err": err[:LIMIT].decode(errors="replace")}


def answer(request):
    if "put" in request:
        os.makedirs(os.path.dirname(request["put"]), exist_ok=True)
        with open(request["put"], "wb") as file:
            file.write(base64.b64decode(request["data"]))
        os.chmod(request["put"], request["mode"])
        return {"code": 0}
    if "get" in request:
        with open(request["get"], "rb") as file:
            return {"code": 0, "data": base64.b64encode(file.read()).decode()}
    return run(request)


def wait_for(holds, seconds, what):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            print(f"storpol-lab: {what} did not come within {seconds} s", flush=True)
            return
        time.sleep(1)


def has_booted():
    """Asked again and again: what `systemctl is-system-running --wait` waits for can be over before it listens."""
    state = subprocess.run(["systemctl", "is-system-running"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return state.stdout.strip() in (b"running", b"degraded", b"maintenance")


def main():
    os.environ.update(LC_ALL="C.UTF-8", HOME="/root", PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin")
    # No condition of the unit: it can be looked at before udev has made the link.
    wait_for(lambda: os.path.exists(sys.argv[1]), 240, sys.argv[1])
    port = open(sys.argv[1], "r+b", buffering=0)

    def say(message):
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[port.write(data) :]

    # Not before the boot is over, so that a command sees the machine as its services left it. Done here and not in the
    # unit: its own start is a part of the boot.
    wait_for(has_booted, 240, "the end of the boot")
    with open("/proc/sys/kernel/random/boot_id") as file:
        say({"hello": file.read().strip()})
    pending = []  # pieces of a line that has not ended: a request can be megabytes, and comes in small pieces
    while True:
        chunk = port.read(1 << 16)
        if not chunk:  # nobody at the other end
            return
        pending.append(chunk)
        if b"\n" not in chunk:
            continue
        *lines, rest = b"".join(pending).split(b"\n")
        pending = [rest]
        for line in lines:
            try:
                say(answer(json.loads(line)))
            except (OSError, ValueError, KeyError) as error:
                say({"code": 127, "out": "", "err": f"{type(error).__name__}: {error}"})


main()
