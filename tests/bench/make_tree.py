#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory tree with many sysctl.d lines, and a policy for it; the same arguments give the same bytes.

usage: make_tree.py OUT [--files N] [--lines N] [--settings N]

OUT/root is for `storpol plan --root`; OUT/policy.toml asks for --settings keys of net.ipv4.conf, half of which the tree sets
otherwise. Keys repeat between files, so that precedence has something to decide.
"""
import argparse
import os


def key(number):
    return f"net.ipv4.conf.if{number:05d}.rp_filter"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--settings", type=int, default=100)
    arguments = parser.parse_args()
    directories = ["etc/sysctl.d", "usr/lib/sysctl.d", "run/sysctl.d"]
    for directory in directories:
        os.makedirs(os.path.join(arguments.out, "root", directory), exist_ok=True)
    per_file = arguments.lines // arguments.files
    keys = max(arguments.settings, arguments.lines // 2)
    for file in range(arguments.files):
        directory = directories[file % len(directories)]
        path = os.path.join(arguments.out, "root", directory, f"{file:04d}-bench.conf")
        with open(path, "w", encoding="ascii") as out:
            for line in range(per_file):
                number = (file * per_file + line) * 7919 % keys
                out.write(f"# interface {number}\n" if line % 10 == 0 else f"{key(number)} = {number % 2}\n")
    with open(os.path.join(arguments.out, "policy.toml"), "w", encoding="ascii") as out:
        out.write("version = 1\n\n[sysctl]\n")
        for number in range(arguments.settings):
            out.write(f'"{key(number)}" = 1\n')


if __name__ == "__main__":
    main()
