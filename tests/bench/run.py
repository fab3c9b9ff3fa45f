#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan costs beside the floor (storpol_floor: the same files opened and read, nothing else).

usage: run.py BUILD_DIRECTORY [--rounds N]

Prints, for the running machine and for made trees of growing size, the median CPU time of floor and plan, their ratio, the
peak memory of plan, its system calls and the programs it starts; then captures with many mounts and disks, mountinfo and
fstab parsed by libmount alone and by our parsers (ten rounds in one process); then the same check of this machine by the
floor, storpol, a shell script and ansible. The runs of one row alternate within one series, because
CPU times of two series on a shared machine do not compare. Targets: plan at most twice the floor plus 5 ms, under 20 MiB, no
program started, linear in lines, mounts and disks; parsers at most twice libmount. Packages: python3; strace and
ansible-playbook are left out where missing.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VM_KEYS = ["swappiness", "page-cluster", "watermark_boost_factor", "watermark_scale_factor", "dirty_ratio",
           "dirty_background_ratio", "vfs_cache_pressure", "dirty_expire_centisecs", "dirty_writeback_centisecs",
           "stat_interval"]


def measure(build, rounds, commands):
    """Per command: median CPU microseconds, least CPU microseconds, greatest peak KiB, exit codes seen."""
    arguments = [os.path.join(build, "tests/bench/storpol_measure"), str(rounds)]
    for command in commands:
        arguments += ["--"] + command
    lines = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [[int(word) for word in line.split()] for line in lines]
    out = []
    for number in range(len(commands)):
        own = [row for row in rows if row[0] == number]
        cpu = [row[1] for row in own]
        out.append({"cpu": statistics.median(cpu), "least": min(cpu), "rss": max(row[2] for row in own),
                    "codes": sorted({row[3] for row in own})})
    return out


def system_calls(command):
    """(system calls, programs started beyond the first), or None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as trace:
        subprocess.run(["strace", "-f", "-qq", "-o", trace.name] + command, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        lines = [line for line in trace if "(" in line]
    return len(lines), sum("execve(" in line for line in lines) - 1


def report(name, build, rounds, floor, plan):
    if measure(build, 1, [plan])[0]["cpu"] > 1_000_000:
        rounds = min(rounds, 3)  # far over the target: a rough number is enough
    floor_cost, plan_cost = measure(build, rounds, [floor, plan])
    calls = system_calls(plan)
    floor_calls = system_calls(floor)
    target = 2 * floor_cost["cpu"] + 5000
    verdict = "ok" if plan_cost["cpu"] <= target and plan_cost["rss"] < 20 * 1024 else "OVER"
    calls_text = f"{calls[0]:7d} {floor_calls[0]:7d} {calls[1]:5d}" if calls else "      -       -     -"
    print(f"{name:34s} {floor_cost['cpu'] / 1000:8.2f} {plan_cost['cpu'] / 1000:8.2f} {plan_cost['least'] / 1000:8.2f}"
          f" {plan_cost['cpu'] / max(floor_cost['cpu'], 1):6.1f} {plan_cost['rss'] / 1024:8.1f} {calls_text}  {verdict}"
          f"{'' if plan_cost['codes'] == [0] else ' exit codes ' + str(plan_cost['codes'])}", flush=True)


def real_disks():
    """Disks with hardware of their own, as a [[block]] rule means them."""
    skipped = ("loop", "zram", "ram", "dm-", "md", "sr")
    return [disk for disk in sorted(os.listdir("/sys/block")) if not disk.startswith(skipped)]


def report_peers(build, rounds, folder, storpol, floor):
    """The same check of this machine by the floor, storpol, a shell script and ansible, in turn within one series."""
    policy = os.path.join(folder, "peers.toml")
    disks = real_disks()
    with open(policy, "w", encoding="ascii") as out:
        out.write("version = 1\n\n[vm]\n" + "".join(f"{key} = 1\n" for key in VM_KEYS))
        for disk in disks:
            out.write(f'\n[[block]]\nmatch = {{ name = "{disk}" }}\nscheduler = "none"\n')
    commands = {
        "floor": [floor, "", policy] + ["vm." + key for key in VM_KEYS],
        "storpol plan": [storpol, "plan", policy],
        "shell script": ["/bin/sh", os.path.join(HERE, "check.sh"), policy],
    }
    print(f"\nthis machine, {len(VM_KEYS)} vm keys and {len(disks)} disks, now and at boot{'':14s} cpu ms   least    MiB   x floor  calls execs")
    costs = dict(zip(commands, measure(build, rounds, list(commands.values()))))
    ansible = shutil.which("ansible-playbook")
    if ansible:
        extra = json.dumps({"keys": {key: 1 for key in VM_KEYS}, "disks": disks})
        commands["ansible --check"] = [ansible, "--check", "-i", "localhost,", "-e", extra, os.path.join(HERE, "check.yml")]
        # Seconds each: few rounds, and the floor beside them.
        pair = measure(build, 3, [commands["floor"], commands["ansible --check"]])
        costs["ansible --check"] = pair[1]
    for name, cost in costs.items():
        calls = system_calls(commands[name]) if name != "ansible --check" else None  # minutes under strace
        calls_text = f"{calls[0]:7d} {calls[1]:4d}" if calls else "      -    -"
        print(f"  {name:66s} {cost['cpu'] / 1000:8.2f} {cost['least'] / 1000:7.2f} {cost['rss'] / 1024:6.1f}"
              f" {cost['cpu'] / max(costs['floor']['cpu'], 1):9.1f} {calls_text}  exit codes {cost['codes']}", flush=True)
    if not ansible:
        print("  ansible --check: left out, ansible-playbook is not installed (pip install ansible-core)")


def report_scale(build, rounds, folder, storpol):
    """Captures of made-up hosts of growing size: what a plan costs above reading the capture, and above libmount."""
    parse = os.path.join(build, "tests/bench/storpol_parse")
    print(f"\n{'captures':34s} {'empty ms':>9s} {'plan ms':>9s} {'MiB':>7s} {'libmount':>9s} {'parsers':>9s} {'x':>5s}")
    for kind, count in [("mounts", 1000), ("mounts", 10_000), ("disks", 1000), ("disks", 10_000), ("stacks", 1000), ("stacks", 10_000)]:
        out = os.path.join(folder, f"{kind}-{count}")
        subprocess.run([sys.executable, os.path.join(HERE, "make_capture.py"), out, kind, str(count)], check=True)
        host = os.path.join(out, "host.capture")
        commands = [[storpol, "plan", "--host", host, os.path.join(out, name)] for name in ("empty.toml", "policy.toml")]
        if kind == "stacks":  # the discard path of every filesystem
            commands[1] = [storpol, "explain", "--host", host]
        if kind == "mounts":
            texts = [os.path.join(out, name) for name in ("mountinfo", "fstab")]
            commands += [[parse, "libmount", "10"] + texts, [parse, "storpol", "10"] + texts]
        costs = measure(build, max(3, rounds // 8), commands)
        parsers = ""
        if kind == "mounts":
            libmount, own = costs[2]["cpu"] / 10, costs[3]["cpu"] / 10
            parsers = f" {libmount / 1000:9.2f} {own / 1000:9.2f} {own / max(libmount, 1):5.2f}"
        print(f"{count:6d} {kind:27s} {costs[0]['cpu'] / 1000:9.1f} {costs[1]['cpu'] / 1000:9.1f} {costs[1]['rss'] / 1024:7.1f}{parsers}"
              f"{'' if costs[1]['codes'] == [0] else ' exit codes ' + str(costs[1]['codes'])}", flush=True)


def live_policy(folder):
    path = os.path.join(folder, "vm.toml")
    with open(path, "w", encoding="ascii") as out:
        out.write("version = 1\n\n[vm]\n" + "".join(f"{key} = 1\n" for key in VM_KEYS))
    return path


def run_all(build, rounds, folder):
    storpol = os.path.join(build, "storpol")
    floor = os.path.join(build, "tests/bench/storpol_floor")
    print(f"{'':34s} {'floor ms':>8s} {'plan ms':>8s} {'least':>8s} {'ratio':>6s} {'peak MiB':>8s} {'calls':>7s} {'floor':>7s} {'execs':>5s}")
    policy = live_policy(folder)
    report("starting (--version)", build, rounds, [floor, "/nonexistent", "/nonexistent"], [storpol, "--version"])
    report("this machine, 10 vm keys", build, rounds, [floor, "", policy] + ["vm." + key for key in VM_KEYS],
           [storpol, "plan", policy])
    last = None
    for files, lines, settings in [(10, 1000, 10), (100, 10_000, 10), (100, 100_000, 10), (100, 10_000, 100), (100, 10_000, 1000)]:
        tree = os.path.join(folder, f"tree-{files}-{lines}-{settings}")
        subprocess.run([sys.executable, os.path.join(HERE, "make_tree.py"), tree, "--files", str(files), "--lines", str(lines),
                        "--settings", str(settings)], check=True)
        policy = os.path.join(tree, "policy.toml")
        root = os.path.join(tree, "root")
        few = max(3, rounds // 4)
        report(f"tree: {lines} lines, {files} files, {settings} keys", build, few, [floor, root, policy],
               [storpol, "plan", "--root", root, policy])
    report_scale(build, rounds, folder, storpol)
    report_peers(build, rounds, folder, storpol, floor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="storpol-bench-") as folder:
        run_all(os.path.abspath(arguments.build), arguments.rounds, folder)


if __name__ == "__main__":
    main()
