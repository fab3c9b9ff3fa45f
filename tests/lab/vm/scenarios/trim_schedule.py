# SPDX-License-Identifier: GPL-3.0-or-later
"""A stock host's weekly fstrim.timer becomes daily with a floor, and weekly again by rollback. Then: runs missed while
the machine was off, the one after the boot, evidence, a service that fails, and storpol's own runner in the service."""

import re
import time

import story
from base import Failure
from drives import MIB, Drive

SECONDS = 2400
CLOCK = "2027-03-03T10:00:00"  # a Wednesday: the weekly run was on Monday

DAILY = """
[discard]
filesystem = "periodic"

[fstrim]
schedule = "daily"
catch-up = true
random-delay = "0s"
min-extent = "1MiB"
io-class = "idle"
nice = 10
evidence = { max-age = "3d", max-zero-byte-runs = 4 }
"""
DELAY = 150  # seconds after the start of the kernel
DELAYED = DAILY.replace("catch-up = true", f'catch-up = false\nboot-delay = "{DELAY}s"')
RUNNER = DAILY + 'runner = "storpol"\nfull-pass = "monthly"\n'

UNITS = ["fstrim.timer", "fstrim.service"]


def drives():
    return [Drive("data")]


def run(machine):
    machine.needs("explain", "trim")
    data = machine.drives["data"]
    says_clock(machine, CLOCK)
    story.mount_fresh(machine, data.device(), "/data", "ext4")
    adopted(machine)
    missed_while_off(machine, data)
    delayed(machine, data)
    failing(machine)
    runner(machine, data)


def start_at(machine, moment):
    machine.guest.clock = moment
    machine.guest.start()
    says_clock(machine, moment)


def says_clock(machine, moment):
    now = machine.must(["date", "-u", "+%FT%T"]).out
    machine.check(now[:10] == moment[:10], f"the set-up is wrong: the guest's clock says {now}, not {moment}")


def properties(machine, unit, *names):
    listed = machine.must(["systemctl", "show", *([unit] if unit else []), *(f"-p{name}" for name in names)]).out
    return dict(line.split("=", 1) for line in listed.splitlines() if "=" in line)


# Weekly to daily and back


def adopted(machine):
    stock = machine.must(["systemctl", "cat", *UNITS]).out
    before = properties(machine, "fstrim.timer", "TimersCalendar", "ActiveState")
    machine.check("OnCalendar=Mon" in before["TimersCalendar"], f"the set-up is wrong: {before}")
    machine.policy(DAILY)
    machine.storpol("plan", "--detailed-exitcode", code=2, says=["daily", "never ran", "fstrim.timer"])
    # All is written and live; that nothing has run yet no apply can mend, and says so.
    machine.storpol("apply", "--yes", code=2, says="never ran")
    is_daily(machine)
    machine.storpol("drift", code=2, says="never ran")
    machine.storpol("rollback", "--yes", code=0)
    machine.check(machine.must(["systemctl", "cat", *UNITS]).out == stock, "rollback left the units different")
    after = properties(machine, "fstrim.timer", "TimersCalendar", "ActiveState")
    machine.check(weekly(after) == weekly(before), f"rollback left the timer at {after}, it was {before}")
    machine.storpol("apply", "--yes", code=2)
    is_daily(machine)


def weekly(timer):
    """Without the next time, which depends on when it is asked."""
    return re.sub(r" next_elapse=.*?}", "", timer["TimersCalendar"]), timer["ActiveState"]


def is_daily(machine):
    shown = machine.must(["systemctl", "cat", *UNITS]).out
    for line in ("50-storpol.conf", "OnCalendar=daily", "--minimum 1048576", "IOSchedulingClass=idle"):
        machine.check(line in shown, f"systemctl cat has no {line}:\n{shown}")
    timer = properties(machine, "fstrim.timer", "TimersCalendar", "Persistent", "NeedDaemonReload", "ActiveState",
                       "RandomizedDelayUSec", "NextElapseUSecRealtime")
    calendars = re.findall(r"OnCalendar=(.*?) ;", timer["TimersCalendar"])
    machine.check(calendars == ["*-*-* 00:00:00"], f"the timer runs at {calendars}")
    machine.check((timer["Persistent"], timer["NeedDaemonReload"], timer["ActiveState"]) == ("yes", "no", "active"),
                  f"the timer is {timer}")
    machine.check("2027-03-04 00:00" in timer["NextElapseUSecRealtime"], f"the next run is due at {timer}")
    service = properties(machine, "fstrim.service", "IOSchedulingClass", "Nice", "ExecStart")
    machine.check(service["Nice"] == "10" and service["ExecStart"].count("argv[]") == 1, f"the service is {service}")


# What the machine missed


def missed_while_off(machine, data):
    """Three midnights pass while it is off. Its next start trims at once, and nothing waits for that."""
    machine.dirty("/data")
    machine.guest.power_off()
    before = data.allocated()
    start_at(machine, "2027-03-06T09:30:00")
    began = ran_by(machine, 300)
    freed = (before - data.allocated()) // MIB
    machine.check(freed > 96, f"the run after the boot freed {freed} of 128 MiB")
    machine.note(f"missed run made up {began:.0f} s after the start of the kernel, {freed} MiB freed")
    no_boot_waits(machine)
    machine.storpol("drift", code=0)
    machine.storpol("plan", "--detailed-exitcode", code=0)
    machine.storpol("explain", "fstrim", code=0)


def delayed(machine, data):
    """Another way: no catch-up, one run a while after each boot."""
    machine.policy(DELAYED)
    machine.storpol("apply", "--yes", code=0)
    machine.dirty("/data")
    machine.guest.power_off()
    before = data.allocated()
    start_at(machine, "2027-03-12T09:30:00")
    manager = properties(machine, "", "UserspaceTimestampMonotonic", "FinishTimestampMonotonic")
    finish = int(manager["FinishTimestampMonotonic"]) / 1e6
    if finish < DELAY:
        machine.check(data.allocated() >= before - 32 * MIB, "it trimmed before its delay")
        machine.storpol("drift", code=2, says="overdue")
    began = ran_by(machine, DELAY + 300)
    machine.check(began >= DELAY, f"it began {began:.0f} s after the start of the kernel, before its delay")
    freed = (before - data.allocated()) // MIB
    machine.check(freed > 96, f"the run after the boot freed {freed} of 128 MiB")
    machine.note(f"delayed run began at {began:.0f} s, boot over at {finish:.0f} s")
    no_boot_waits(machine)
    machine.in_sync()


def ran_by(machine, seconds):
    """Waits for the service to have run since the boot; when it began, in seconds of the kernel's clock."""
    end = time.monotonic() + seconds * machine.patience
    while True:
        service = properties(machine, "fstrim.service", "ExecMainStartTimestampMonotonic", "ActiveState", "Result")
        if int(service["ExecMainStartTimestampMonotonic"]) > 0 and service["ActiveState"] == "inactive":
            machine.check(service["Result"] == "success", f"the service ended with {service}")
            return int(service["ExecMainStartTimestampMonotonic"]) / 1e6
        if time.monotonic() > end:
            raise Failure(f"fstrim.service did not run within {seconds} s of the boot: {service}")
        time.sleep(3)


def no_boot_waits(machine):
    """No unit of the boot is ordered behind the service, and the target of the boot was not."""
    behind = properties(machine, "fstrim.service", "Before")["Before"].split()
    machine.check(set(behind) <= {"shutdown.target"}, f"{behind} wait for fstrim.service")
    chain = machine.must("systemd-analyze critical-chain multi-user.target").out
    machine.check("fstrim" not in chain, f"the boot waited for it:\n{chain}")


# A service that fails


def failing(machine):
    machine.guest.write("/etc/systemd/system/fstrim.service.d/90-broken.conf", "[Service]\nExecStartPre=/bin/false\n")
    machine.must("systemctl daemon-reload")
    ran = machine.run(["systemctl", "start", "fstrim.service"])
    machine.check(ran.code != 0, "the set-up is wrong: the service did not fail")
    machine.storpol("drift", code=2, says=["failing", "exit-code"])
    machine.must("rm /etc/systemd/system/fstrim.service.d/90-broken.conf; systemctl daemon-reload;"
                 "systemctl start fstrim.service")
    machine.in_sync()


# storpol's own runner


def runner(machine, data):
    machine.policy(RUNNER)
    machine.storpol("plan", "--detailed-exitcode", code=2, says="let storpol trim do it")
    machine.storpol("apply", "--yes", code=0)
    service = properties(machine, "fstrim.service", "ExecStart", "SystemCallFilter", "PrivateNetwork")
    machine.check("/storpol trim --scheduled" in service["ExecStart"], f"the service runs {service['ExecStart']}")
    machine.check(service["SystemCallFilter"] and service["PrivateNetwork"] == "yes", f"no sandbox: {service}")
    machine.dirty("/data")
    before = data.allocated()
    machine.must(["systemctl", "start", "fstrim.service"], timeout=600)
    freed = (before - data.allocated()) // MIB
    machine.check(freed > 96, f"storpol trim in the service freed {freed} of 128 MiB")
    machine.note(f"storpol trim freed {freed} MiB")
    entries = machine.must("journalctl -o cat --no-pager -u fstrim.service"
                           " MESSAGE_ID=5d7a4e2f90c14f3c8f0be3b1a6d2c748").out
    machine.check("/data" in entries, f"the journal has no entry of /data:\n{entries}")
    records = machine.must("cat /var/lib/storpol/trim/*.json").out
    machine.check('"/data"' in records, f"no record of /data:\n{records}")
    machine.in_sync()
    machine.storpol("rollback", "--yes", code=0)
    service = properties(machine, "fstrim.service", "ExecStart")
    machine.check("/fstrim " in service["ExecStart"], f"after rollback the service runs {service['ExecStart']}")
