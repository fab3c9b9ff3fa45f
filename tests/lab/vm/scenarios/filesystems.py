# SPDX-License-Identifier: GPL-3.0-or-later
"""f2fs and vfat, which few kernels of build machines have: the option tables word by word against this kernel, then
plan, apply, drift and rollback. A remount of f2fs forgets what it does not name; one of vfat changes nothing."""

import json
import re

from base import HERE
from drives import MIB, Drive

SECONDS = 900
BRIEF = True

# Values for words whose value is free. A word that is not here and needs a value is left out of the check.
SAMPLES = {
    "f2fs": {"reserve_root": "100", "inline_xattr_size": "20", "compress_log_size": "4", "compress_algorithm": "zstd"},
    "vfat": {"uid": "1000", "gid": "1000", "umask": "077", "fmask": "0133", "dmask": "0077", "allow_utime": "0022",
             "codepage": "850", "iocharset": "iso8859-1", "time_offset": "60"},
}  # fmt: skip
# What no machine of the lab has, or what needs another word beside it.
LEFT_OUT = {
    "f2fs": ["inlinecrypt", "resuid", "resgid", "usrjquota", "grpjquota", "prjjquota", "jqfmt"],
    "vfat": [],
}

# 6.1 takes it in a remount, 6.12 does not: the table says so in a note.
EITHER_WAY = ["mode=lfs"]


def drives():
    return [Drive("flash"), Drive("card", size=256 * MIB)]


def run(machine):
    flash, card = (machine.drives[name].device() for name in ("flash", "card"))
    machine.guest.write("/root/mount_probe.py", (HERE / "probes/mount_probe.py").read_text())
    features = "extra_attr,inode_checksum,sb_checksum,compression,quota,project_quota,flexible_inline_xattr"
    machine.must(f"mkfs.f2fs -q -f -O {features} {flash}; mkfs.vfat {card};"
                 "modprobe -a f2fs vfat nls_cp437 nls_cp850 nls_iso8859-1 nls_ascii nls_utf8")
    checked = [check_table(machine, "f2fs", flash), check_table(machine, "vfat", card)]
    machine.note(f"{checked[0]} words of f2fs and {checked[1]} of vfat are as the table says")
    machine.must(["mkfs.f2fs", "-q", "-f", flash])
    reconcile(machine, flash, card)


# The tables


def check_table(machine, fstype, device):
    kernel = tuple(int(number) for number in machine.must(["uname", "-r"]).out.split("-")[0].split(".")[:2])
    rows = table_of(machine.must(["storpol", "schema", "--reference"]).out, fstype)
    words = [(row, word, known) for row in rows for word, known in words_of(row, fstype, kernel)]
    default = probe(machine, fstype, device, [{"mount": []}])[0][0]
    machine.check(default["error"] == 0, f"mount of {fstype}: {default}")
    again = [word for word in default["shown"].split(",") if word not in ("rw", "lazytime")] if fstype == "f2fs" else []
    changes = [{"how": "fsconfig", "words": [*without(again, row, word), word]} for row, word, _ in words]
    mounts = probe(machine, fstype, device, [{"mount": [word]} for _, word, _ in words])
    remounts = probe(machine, fstype, device, [{"mount": [], "then": [change]} for change in changes])
    wrong = []
    for (row, word, known), mount, remount in zip(words, mounts, remounts):
        if (mount[0]["error"] == 0) != known:
            wrong.append(f"{word}: mount says {mount[0]['error']} ({mount[0]['log']})")
        elif known and word not in EITHER_WAY:
            wrong += compare(row, word, default["shown"], mount[0]["shown"], remount[1])
    machine.check(not wrong, f"the {fstype} table is not what this kernel does:\n  " + "\n  ".join(wrong))
    return len(words)


def table_of(reference, fstype):
    """[(setting, words, default, by remount)] of a chapter of the reference."""
    chapter = reference.split(f"\n### {fstype}\n")[1].split("\n#")[0]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:5])
            for line in chapter.splitlines() if line.startswith("| `.")]


def words_of(row, fstype, kernel):
    """[(word as mount takes it, whether this kernel is to know it)]"""
    if row[0].strip("`.") in LEFT_OUT[fstype] + ["lazytime"]:
        return []
    found = []
    for word, note in re.findall(r"`([^`]+)`((?: \([^)]*\))*)", row[1]):
        since, until = (re.search(rf"{bound} (\d+)\.(\d+)", note) for bound in ("since", "until"))
        known = not (since and kernel < tuple(map(int, since.groups()))) and not (
            until and kernel >= tuple(map(int, until.groups())))
        key, equals, values = word.partition("=")
        if not equals:
            found.append((word, known))
        elif key in SAMPLES[fstype]:
            found.append((f"{key}={SAMPLES[fstype][key]}", known))
        elif values not in ("N", "OCTAL", "SIZE", "..."):
            found += [(f"{key}={value.split('=')[0]}", known) for value in values.split("/")]
    return found


def without(shown, row, word):
    """What is shown, less the words of this row: a remount names all else again, as storpol does."""
    keys = [name.split("=")[0] for name in re.findall(r"`([^`]+)`", row[1])]
    return [one for one in shown if one.split("=")[0] not in keys and one.split("=")[0] != word.split("=")[0]]


def compare(row, word, default, mounted, remount):
    """What a remount does against what the row says."""
    same = set(remount["shown"].split(",")) == set(mounted.split(","))
    unchanged = set(remount["shown"].split(",")) == set(default.split(","))
    says = row[3].split(":")[0].split(";")[0]
    if set(mounted.split(",")) == set(default.split(",")):  # the default, or not shown: nothing to tell apart
        return [] if remount["error"] == 0 else [f"{word}: refused though it changes nothing ({remount['log']})"]
    right = {
        "yes": remount["error"] == 0 and same,
        "on only": remount["error"] == 0 and same,
        "refused": remount["error"] != 0,
        "ignored": remount["error"] == 0 and unchanged,
    }[says]
    return [] if right else [f"{word}: '{says}', but {remount['error']} {remount['shown']} ({remount['log']})"]


def probe(machine, fstype, device, cases, target="/probe"):
    asked = {"fstype": fstype, "device": device, "target": target, "cases": cases}
    return json.loads(machine.must(["python3", "/root/mount_probe.py"], 300, json.dumps(asked)).out)


# plan, apply, drift, rollback

POLICY = """
[[mount]]
match = { target = "/flash" }
options = ["fsync_mode=strict", "nodiscard", "noflush_merge", "gc_merge", "noatime"]

[[mount]]
match = { target = "/card" }
options = ["discard", "flush", "noatime"]
"""
KEPT = ["background_gc=sync", "noinline_dentry", "active_logs=4", "alloc_mode=reuse"]  # of fstab, not of the policy
WANTED = ["fsync_mode=strict", "nodiscard", "gc_merge"]


def reconcile(machine, flash, card):
    machine.must(f"mkdir -p /flash /card; printf '%s /flash f2fs {','.join(KEPT)} 0 0\n%s /card vfat defaults 0 0\n'"
                 f" {flash} {card} >> /etc/fstab; systemctl daemon-reload; mount /flash; mount /card")
    fstab = machine.guest.read("/etc/fstab")
    machine.policy(POLICY)
    machine.storpol("plan", "--detailed-exitcode", code=2, says=["/flash", "/card"])
    machine.storpol("apply", "--yes", code=0)
    machine.check(machine.guest.read("/etc/fstab") != fstab, "fstab is as before")
    holds(machine, "/flash", [*KEPT, *WANTED], ["flush_merge"])
    machine.trims_through("/flash", machine.drives["flash"])
    waits_for_the_card(machine)

    # Somebody's remount names one option and undoes the others.
    change = {"how": "fsconfig", "words": ["fsync_mode=posix"]}
    lost = probe(machine, "f2fs", flash, [{"mount": None, "then": [change]}], "/flash")
    machine.check(lost[0][0]["error"] == 0, f"remount: {lost}")
    machine.storpol("drift", code=2, says="fsync_mode")
    machine.storpol("apply", "--yes", code=0)
    machine.in_sync()
    holds(machine, "/flash", WANTED, ["flush_merge"])

    machine.must("umount /flash; mount /flash")
    holds(machine, "/flash", [*KEPT, *WANTED], ["flush_merge"])
    machine.in_sync()
    machine.must("umount /card; umount /flash")
    machine.reboot()
    machine.in_sync()
    undo(machine)


def waits_for_the_card(machine):
    """vfat takes no option while it is mounted: all is in the file and waits."""
    machine.storpol("plan", "--detailed-exitcode", code=0, says="waits for the next mount")
    machine.storpol("drift", code=0)
    machine.storpol("drift", "--strict", code=2)
    machine.must("umount /card; mount /card")
    holds(machine, "/card", ["discard", "flush"], [])
    machine.in_sync()


def undo(machine):
    """Rollback of a second apply: files byte for byte, and what holds live word for word."""
    applied, held = machine.guest.read("/etc/fstab"), machine.mount_line("/flash")
    machine.policy(POLICY.replace('"nodiscard"', '"discard"').replace("noatime", "relatime").replace("strict", "posix"))
    machine.storpol("apply", "--yes", code=0)
    holds(machine, "/flash", [*KEPT, "discard", "fsync_mode=posix"], [])
    machine.storpol("rollback", "--yes", code=0)
    machine.check(machine.guest.read("/etc/fstab") == applied, "rollback left fstab different")
    machine.check(machine.mount_line("/flash") == held,
                  f"rollback left /flash different: {machine.mount_line('/flash')}, not {held}")


def holds(machine, target, words, absent):
    shown = machine.mount_line(target)[1].split(",")
    missing = [word for word in words if word not in shown]
    extra = [word for word in absent if word in shown]
    machine.check(not missing and not extra, f"{target} lacks {missing}, has {extra}: {','.join(shown)}")
