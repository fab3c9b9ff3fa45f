# SPDX-License-Identifier: GPL-3.0-or-later
"""One emulated machine: QEMU, its console in a log, commands over a virtio port."""

import base64
import dataclasses
import json
import re
import shlex
import socket
import subprocess
import threading
import time

from base import DIES_WITH_US, Failure, Unwell, run


@dataclasses.dataclass
class Ran:
    code: int
    out: str
    err: str
    command: str = ""

    @property
    def all(self):
        return self.out + self.err

    def says(self, words):
        return " ".join(words.split()) in " ".join(self.all.split())


class Guest:
    """Its drives keep what is on them from one start to the next; kernel and initramfs are read out of the boot drive
    before every start, so that what a guest did to its /boot is what boots next."""

    def __init__(self, folder, boot, drives, cmdline, deadline, accel="tcg", patience=1.0):
        self.folder = folder
        self.boot = boot
        self.drives = drives
        self.cmdline = cmdline
        self.deadline = deadline  # of time.monotonic()
        self.accel = accel
        self.patience = patience  # every time limit is multiplied by it
        self.clock = ""  # what its clock says at the next start, "2027-03-03T10:00:00" in UTC; empty: the time it is
        self.prompts = []  # (pattern of the console, answer typed there)
        self.qemu = None
        self.boots = 0
        self.boot_seconds = 0.0

    # Starting and stopping

    def start(self, timeout=600):
        self._take_kernel()
        begun = time.monotonic()
        for name in ("agent", "console"):
            (self.folder / f"{name}.sock").unlink(missing_ok=True)
        with open(self.folder / "qemu.log", "ab") as log:
            self.qemu = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.boots += 1
        self.console = Console(self._connect("console"), self.folder / "console.log", self.prompts)
        self.port = self._connect("agent")
        self.pending = b""
        hello = self._receive(min(timeout * self.patience, self._left()))
        if "hello" not in hello:
            raise Unwell(f"the guest's first line is {hello}")
        self.boot_seconds = time.monotonic() - begun

    def reboot(self):
        """An orderly one; the machine that comes up is a new process."""
        self._leave("reboot")
        self.start()

    def power_off(self):
        self._leave("poweroff")

    def stop(self):
        """At once, as a power cut."""
        if self.qemu and self.qemu.poll() is None:
            self.qemu.terminate()
            try:
                self.qemu.wait(10)
            except subprocess.TimeoutExpired:
                self.qemu.kill()
                self.qemu.wait()
        self.qemu = None

    def _leave(self, how):
        self.run(["systemctl", "--no-block", how])
        try:
            self.qemu.wait(min(300 * self.patience, self._left()))
        except subprocess.TimeoutExpired:
            raise Unwell(f"the guest did not {how}; {self.console.end()}") from None
        self.port.close()
        self.qemu = None

    # Commands

    def run(self, argv, timeout=120, input=""):
        if isinstance(argv, str):
            argv = ["bash", "-c", "set -eu -o pipefail\n" + argv]
        timeout = max(1, min(timeout * self.patience, self._left()))
        self._log("+ " + (argv[2] if argv[:2] == ["bash", "-c"] else shlex.join(argv)))
        answer = self._ask({"argv": argv, "input": input, "timeout": timeout}, timeout)
        ran = Ran(answer["code"], answer["out"], answer["err"], shlex.join(argv)[:300])
        self._log(ran.all.rstrip("\n") + (f"\n(exit {ran.code})" if ran.code else ""))
        return ran

    def must(self, argv, timeout=120, input=""):
        """As run(); a failure ends the scenario."""
        ran = self.run(argv, timeout, input)
        if ran.code != 0:
            raise Failure(f"{ran.command}: exit {ran.code}: {ran.all[-1500:]}")
        return ran

    def read(self, path):
        answer = self._ask({"get": path}, 60)
        if answer["code"] != 0:
            raise Failure(f"{path}: {answer['err']}")
        return base64.b64decode(answer["data"]).decode(errors="replace")

    def write(self, path, data, mode=0o644):
        data = data.encode() if isinstance(data, str) else data
        answer = self._ask({"put": path, "mode": mode, "data": base64.b64encode(data).decode()}, 120)
        if answer["code"] != 0:
            raise Failure(f"{path}: {answer['err']}")

    # Inside

    def _left(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Unwell("the scenario's time is over")
        return left

    def _log(self, text):
        with open(self.folder / "commands.log", "a", encoding="utf-8") as log:
            log.write(text + "\n")

    def _take_kernel(self):
        """The newest kernel of the boot drive and its initramfs. The journal is replayed first: debugfs does not."""
        log = self.folder / "boot.log"
        subprocess.run(["e2fsck", "-p", self.boot.file], capture_output=True, timeout=60, check=False)
        listing = run(["debugfs", "-R", "ls -p /", self.boot.file], 60, log, stdout=subprocess.PIPE).decode()
        kernels = [entry.split("/")[5] for entry in listing.splitlines() if "/vmlinuz-" in entry]
        if not kernels:
            raise Unwell("no kernel on the boot drive")
        version = max(kernels, key=lambda name: [int(part) for part in re.findall(r"\d+", name)]).split("-", 1)[1]
        for name in ("vmlinuz", "initrd.img"):
            (self.folder / name).unlink(missing_ok=True)
            run(["debugfs", "-R", f"dump /{name}-{version} {self.folder / name}", self.boot.file], 60, log)
            if not (self.folder / name).exists() or (self.folder / name).stat().st_size == 0:
                raise Unwell(f"no {name}-{version} on the boot drive")

    def _command(self):
        ports = []
        for name in ("agent", "console"):
            ports += ["-chardev", f"socket,id={name},path={self.folder / name}.sock,server=on,wait=off"]
        scsi = ["-device", "virtio-scsi-pci,id=scsi"] if any(drive.kind == "scsi" for drive in self.drives) else []
        # An emulated boot on a busy machine is no reason to give up on a service.
        waits = f"systemd.default_timeout_start_sec={300 * self.patience:.0f}"
        cmdline = f"{self.cmdline} console=ttyS0 panic=-1 mitigations=off systemd.show_status=false {waits}"
        return [
            *DIES_WITH_US, "qemu-system-x86_64", "-machine", f"q35,sata=off,smbus=off,accel={self.accel}",
            "-cpu", "max,la57=off,svm=off", "-m", "1024", "-smp", "2",
            *(["-rtc", f"base={self.clock}"] if self.clock else []),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", str(self.folder / "vmlinuz"), "-initrd", str(self.folder / "initrd.img"), "-append", cmdline,
            *ports, "-serial", "chardev:console", "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-device", "virtserialport,chardev=agent,name=storpol.lab", *scsi,
            *(word for drive in [self.boot, *self.drives] for word in drive.arguments()),
        ]

    def _connect(self, name):
        end = time.monotonic() + 20
        while True:
            port = socket.socket(socket.AF_UNIX)
            try:
                port.connect(str(self.folder / f"{name}.sock"))
                return port
            except OSError:
                port.close()
            if self.qemu.poll() is not None or time.monotonic() > end:
                raise Unwell(f"QEMU did not start: {(self.folder / 'qemu.log').read_text(errors='replace')[-500:]}")
            time.sleep(0.1)

    def _ask(self, request, timeout):
        self.port.settimeout(60)
        try:
            self.port.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise Unwell(f"the guest does not listen ({error}); {self.console.end()}") from None
        return self._receive(timeout + 60 * self.patience)

    def _receive(self, timeout):
        end = time.monotonic() + timeout
        while b"\n" not in self.pending:
            self.port.settimeout(max(0.1, end - time.monotonic()))
            try:
                chunk = self.port.recv(1 << 20)
            except TimeoutError:
                raise Unwell(f"the guest said nothing for {timeout:.0f} s; {self.console.end()}") from None
            if not chunk:
                raise Unwell(f"the guest is gone; {self.console.end()}")
            self.pending += chunk
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)


class Console:
    """Everything the guest prints, in a log; prompts that are expected are answered as a person would."""

    def __init__(self, port, log, prompts):
        self.log = log
        self.prompts = prompts
        self.port = port
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        unanswered = b""
        with open(self.log, "ab", buffering=0) as log:
            while True:
                try:
                    chunk = self.port.recv(1 << 16)
                except OSError:
                    return
                if not chunk:
                    return
                log.write(chunk)
                unanswered = (unanswered + chunk)[-4096:]
                for pattern, answer in self.prompts:
                    if re.search(pattern.encode(), unanswered):
                        unanswered = b""
                        self.port.sendall(answer.encode() + b"\n")

    def end(self):
        lines = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        return "the console ends with\n    " + "\n    ".join(lines)
