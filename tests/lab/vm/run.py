#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual-machine lab: runs scenarios in emulated Debian machines. See README.md."""

import argparse
import importlib
import os
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import image  # noqa: E402
from base import HERE, RELEASES, SOURCE, Failure, Skip, Unwell, lock  # noqa: E402
from machine import Machine  # noqa: E402

ALL_SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def scenarios():
    return sorted(path.stem.replace("_", "-") for path in (HERE / "scenarios").glob("[a-z]*.py"))


def load(name):
    return importlib.import_module("scenarios." + name.replace("-", "_"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="*", help=f"all where none is named: {', '.join(scenarios())}")
    parser.add_argument("--release", choices=RELEASES, action="append", help="both where left out")
    parser.add_argument("--accel", default="tcg", choices=("tcg", "kvm"), help="kvm where it is known to work here")
    parser.add_argument("--source", type=pathlib.Path, default=SOURCE, help="build storpol from this tree")
    parser.add_argument("--binary", type=pathlib.Path, help="take this storpol, built on the same release")
    parser.add_argument("--images", action="store_true", help="make the images and storpol, run nothing")
    parser.add_argument("--patience", type=float, default=1.0, help="multiplies every time limit: 3 on a busy machine")
    parser.add_argument("--if-asked", action="store_true", help="do nothing unless STORPOL_LAB=1 is set")
    parser.add_argument("--brief", action="store_true", help="the scenarios that are marked as brief")
    asked = parser.parse_args()
    unknown = sorted(set(asked.scenario) - set(scenarios()))
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}; there are {', '.join(scenarios())}")
    return asked


def run_one(name, release, asked):
    """(PASS, FAIL or SKIP, what to say of it)"""
    scenario = load(name)
    if release not in getattr(scenario, "RELEASES", RELEASES):
        return "SKIP", f"not for {release}"
    machine = None
    try:
        images = getattr(scenario, "images", image.base_image)(release)
        storpol = image.binary_layer(asked.binary) if asked.binary else image.storpol_layer(release, asked.source)
        machine = Machine(name, release, images, scenario.drives(), scenario.SECONDS, asked.accel)
        machine.guest.clock = getattr(scenario, "CLOCK", "")
        machine.start(storpol)
        scenario.run(machine)
        return "PASS", "; ".join(machine.notes)
    except Skip as reason:
        return "SKIP", str(reason)
    except Unwell as trouble:
        # Where it was not asked for by name (ctest), a lab that cannot be set up is no fault of what it tests.
        return ("SKIP" if asked.if_asked else "FAIL"), f"the lab failed: {trouble}"
    except (Failure, OSError, ValueError, LookupError) as failure:
        where = f"\n    logs: {machine.folder}" if machine else ""
        return "FAIL", f"{failure if isinstance(failure, Failure) else repr(failure)}{where}"
    finally:
        if machine:
            machine.close()


def report(verdict, name, release, seconds, text):
    print(f"{verdict} {name} {release} {seconds:.0f} s{': ' if text else ''}{text}", flush=True)


def make_images(releases, source):
    for release in releases:
        try:
            image.base_image(release)
            image.storpol_layer(release, source)
        except (Failure, Skip) as failure:
            print(f"FAIL images {release}: {failure}")
            return 1
    return 0


def main():
    asked = arguments()
    missing = image.missing_here()
    if asked.if_asked and os.environ.get("STORPOL_LAB") != "1":
        missing = "STORPOL_LAB=1 is not set"
    if missing:
        print(f"SKIP all: {missing}")
        return ALL_SKIPPED
    lock()
    Machine.patience = asked.patience
    releases = asked.release or RELEASES
    if asked.images:
        return make_images(releases, asked.source)
    names = asked.scenario or [name for name in scenarios() if not asked.brief or getattr(load(name), "BRIEF", False)]
    verdicts = []
    for release in releases:
        for name in names:
            begun = time.monotonic()
            verdict, text = run_one(name, release, asked)
            verdicts.append(verdict)
            report(verdict, name, release, time.monotonic() - begun, text)
    print(f"{verdicts.count('PASS')} passed, {verdicts.count('FAIL')} failed, {verdicts.count('SKIP')} skipped")
    if "FAIL" in verdicts:
        return 1
    return 0 if "PASS" in verdicts else ALL_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
