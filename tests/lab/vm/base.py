# SPDX-License-Identifier: GPL-3.0-or-later
"""What every part of the lab uses: where things lie, how programs are run, how a scenario ends."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "storpol-lab"
RELEASES = ("bookworm", "trixie")  # Debian 12 (Linux 6.1) and Debian 13 (Linux 6.12)

# Before a command line: it is killed when this process ends, however it ends (man 1 setpriv).
DIES_WITH_US = ["setpriv", "--pdeathsig", "KILL", "--"]


class Failure(Exception):
    """Something is not as the scenario wants it."""


class Unwell(Failure):
    """The lab itself failed: an image, a boot, a guest that fell silent, the time. It says nothing about storpol."""


class Skip(Exception):
    """The scenario cannot be run here; the text says why."""


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def run(argv, timeout, log=None, **options):
    """A program of this machine; its output goes to the file `log`. A failure shows the end of it."""
    argv = [str(word) for word in argv]
    with open(log or os.devnull, "ab") as output:
        output.write(("+ " + " ".join(argv) + "\n").encode())
        output.flush()
        options.setdefault("stdout", output)
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stderr=output, timeout=timeout, **options)
        except subprocess.TimeoutExpired:
            raise Unwell(f"{argv[0]}: no end within {timeout} s{tail_of(log)}") from None
    if done.returncode != 0:
        raise Unwell(f"{' '.join(argv[:4])}...: exit {done.returncode}{tail_of(log)}")
    return done.stdout


def tail_of(log, lines=15):
    if not log or not pathlib.Path(log).exists():
        return ""
    text = pathlib.Path(log).read_text(errors="replace").splitlines()[-lines:]
    return f"; {log} ends with\n    " + "\n    ".join(text)


def digest_of(*parts):
    """One short name for texts and files (of which the bytes count)."""
    state = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode()
        state.update(hashlib.sha256(data).digest())
    return state.hexdigest()[:12]


def cached(kind, release, digest, make):
    """The folder CACHE/KIND-RELEASE-DIGEST; make(folder) fills it once. Older ones of that kind and release go."""
    folder = CACHE / f"{kind}-{release}-{digest}"
    if folder.exists():
        return folder
    for old in CACHE.glob(f"{kind}-{release}-*"):
        remove(old)
    begun = time.monotonic()
    say(f"making {folder.name}")
    unfinished = CACHE / f"unfinished-{kind}-{release}"
    remove(unfinished)
    unfinished.mkdir(parents=True)
    make(unfinished)
    unfinished.rename(folder)
    say(f"made {folder.name} in {time.monotonic() - begun:.0f} s")
    return folder


def lock():
    """One run of the lab at a time: images and chroots are shared. Held until this process ends."""
    CACHE.mkdir(parents=True, exist_ok=True)
    file = os.open(CACHE / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another run of the lab goes on; waiting for it")
        fcntl.flock(file, fcntl.LOCK_EX)


def remove(path):
    """A folder of ours; nothing may be mounted below it (chroots are entered in mount namespaces of their own)."""
    if not path.exists():
        return
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    busy = [line for line in mounts if line.split()[4].startswith(f"{path}/")]
    if busy:
        raise Failure(f"{path} has mounts below it: {busy[0]}")
    shutil.rmtree(path)


def copy_sparse(source, target):
    run(["cp", "--sparse=always", "--reflink=auto", source, target], timeout=120)
