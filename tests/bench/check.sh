#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check.sh POLICY: the questions of that benchmark policy as people ask them in a shell script: each vm key now and in
# sysctl.d, and each disk's scheduler now and in udev rules. Reads the policy that run.py wrote: "key = value" lines.
drift=0
while read -r key equals value; do
    case $key in
        '[vm]') in_vm=1; continue ;;
        '[['*) in_vm=; continue ;;
        '' | version | match | scheduler) continue ;;
    esac
    [ -n "$in_vm" ] && [ "$equals" = = ] || continue
    [ "$(sysctl -n "vm.$key")" = "$value" ] || { echo "vm.$key now"; drift=2; }
    line=$(cat /etc/sysctl.d/*.conf /etc/sysctl.conf 2>/dev/null | grep "^ *vm\.$key *=" | tail -n 1)
    [ "${line#*=}" = " $value" ] || { echo "vm.$key at boot"; drift=2; }
done < "$1"
for file in /sys/block/*/queue/scheduler; do
    case $file in */loop* | */zram* | */ram*) continue ;; esac
    grep -q '\[none\]' "$file" || { echo "$file"; drift=2; }
    grep -qs 'queue/scheduler}="none"' /etc/udev/rules.d/*.rules || { echo "$file at boot"; drift=2; }
done
exit $drift
