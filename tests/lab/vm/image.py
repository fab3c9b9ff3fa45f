# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian images, and storpol built for them, each made once and kept outside the repository.

build-RELEASE    a chroot with the compiler and storpol's build packages; its build directory stays in it
ccache-RELEASE   what ccache holds of it, for when that chroot is made again
tree-RELEASE     the guest's packages, unpacked
base-RELEASE     root.img and boot.img of a guest: that tree and a few files
storpol-RELEASE  storpol.tar.gz: what `cmake --install` of the source tree puts below /

The packages come from where this machine takes its own: no name of a server is written here.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

from base import CACHE, DIES_WITH_US, HERE, SOURCE, Failure, Skip, cached, digest_of, remove, run

PACKAGES = """
    systemd-sysv systemd dbus udev kmod procps util-linux fdisk python3 linux-image-amd64 initramfs-tools zstd
    cryptsetup cryptsetup-initramfs lvm2 thin-provisioning-tools mdadm
    xfsprogs btrfs-progs e2fsprogs f2fs-tools dosfstools systemd-zram-generator
""".split()
RELEASE_PACKAGES = {"bookworm": [], "trixie": ["systemd-cryptsetup"]}

# Left out of the images, which are copied for every scenario: drivers and texts that no guest here has a use for.
LEFT_OUT = [
    "/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*",
    *(f"{top}/lib/modules/*/kernel/{part}/*" for top in ("", "/usr")
      for part in ("sound", "drivers/gpu", "drivers/media", "drivers/net", "drivers/infiniband", "net/bluetooth")),
]

FILES = {
    "etc/fstab": "LABEL=lab-root / ext4 errors=remount-ro 0 1\nLABEL=lab-boot /boot ext4 defaults 0 2\n",
    "etc/hostname": "lab\n",
    "etc/hosts": "127.0.0.1 localhost lab\n",
    "etc/machine-id": "5702901000000000000000000000001a\n",
    # A list in place of "most", and light compression: an initramfs is made in seconds under emulation too.
    "etc/initramfs-tools/conf.d/lab": "MODULES=list\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\nRESUME=none\n",
    "etc/initramfs-tools/modules": "nvme\nvirtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\next4\nxfs\nbtrfs\n",
    # Nothing of the lab waits for these, and they would run beside what is measured.
    "etc/systemd/system/apt-daily.timer": None,
    "etc/systemd/system/apt-daily-upgrade.timer": None,
    "etc/systemd/system/e2scrub_all.timer": None,
    "etc/systemd/system/e2scrub_reap.service": None,
    "etc/systemd/system/mdmonitor-oneshot.timer": None,
    "etc/systemd/system/mdcheck_start.timer": None,
    "etc/systemd/system/systemd-timesyncd.service": None,
}


def mirror():
    """Where this machine gets Debian's main archive from."""
    fields = "$(REPO_URI)\t$(ORIGIN)\t$(LABEL)"
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"],
        capture_output=True, text=True, timeout=60, check=False,
    )
    for line in listed.stdout.splitlines():
        address, origin, label = line.split("\t")
        if (origin, label) == ("Debian", "Debian"):
            return address
    raise Skip("apt on this machine has no source of Debian's archive (or 'apt-get update' was never run)")


def build_packages():
    """As ./bootstrap has them: there is one list."""
    text = (SOURCE / "bootstrap").read_text()
    found = re.search(r"^build_packages=\((.*?)\)", text, re.M | re.S)
    if not found:
        raise Failure("no build_packages=(...) in ./bootstrap")
    return found.group(1).split()


def debootstrap(release, packages, folder, log, left_out=()):
    options = [f"--dpkgopt=path-exclude={pattern}" for pattern in left_out]
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory", "--skip=check/qemu", *options]
    try:
        run([*command, f"--include={','.join(packages)}", release, folder, mirror()], timeout=1800, log=log)
    except Failure as failure:
        raise Skip(f"the packages of {release} cannot be had: {failure}") from None


def in_chroot(root, argv, timeout, log, ccache=None, **options):
    """In namespaces of its own, so that no mount and no process is left whatever happens.

    `ccache`: a folder seen as /ccache."""
    script = f"mount -t proc proc '{root}/proc' && exec chroot '{root}' \"$@\""
    if ccache:
        for folder in (ccache, root / "ccache"):
            folder.mkdir(exist_ok=True)
        script = f"mount --bind '{ccache}' '{root}/ccache' && {script}"
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "CCACHE_DIR": "/ccache"}
    enter = [*DIES_WITH_US, "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script, "-"]
    return run([*enter, *argv], timeout, log, env=environment, **options)


def build_chroot(release):
    packages = build_packages()

    def make(folder):
        debootstrap(release, packages, folder / "root", folder / "log")

    return cached("build", release, digest_of(release, *packages), make) / "root"


def runtime_packages(release):
    """The libraries behind the -dev packages that storpol is built with."""
    names = [name for name in build_packages() if name.endswith("-dev")]
    listed = in_chroot(build_chroot(release), ["dpkg-query", "-W", "-f", "${Depends}\n", *names], 60, None,
                       stdout=subprocess.PIPE).decode()
    needed = {word.split()[0].split(":")[0] for word in re.split(r"[,|\n]", listed) if word.strip()}
    return sorted(name for name in needed if name.startswith("lib") and not name.endswith("-dev"))


def tree(release):
    packages = [*PACKAGES, *RELEASE_PACKAGES[release], *runtime_packages(release)]

    def make(folder):
        debootstrap(release, packages, folder / "root", folder / "log", LEFT_OUT)

    return cached("tree", release, digest_of(release, *packages, *LEFT_OUT), make)


def base_image(release):
    """The folder with root.img, boot.img and boot.json, for the guest whose / is ext4 on a drive of its own."""
    packages = tree(release)
    agent = sorted((HERE / "guest").iterdir())

    def make(folder):
        root = folder / "root"
        run(["cp", "-a", "--reflink=auto", packages / "root", root], 300)
        furnish(root)
        in_chroot(root, ["update-initramfs", "-u", "-k", "all"], 600, folder / "log")
        pack(root, folder)
        remove(root)

    return cached("base", release, digest_of(packages.name, json.dumps(FILES), *agent), make)


def furnish(root):
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink(missing_ok=True)
            path.symlink_to("/dev/null")
        else:
            path.write_text(text)
    library = root / "usr/local/lib/storpol-lab"
    library.mkdir(parents=True)
    shutil.copy(HERE / "guest/agent.py", library)
    unit = "storpol-lab-agent.service"
    shutil.copy(HERE / "guest" / unit, root / "etc/systemd/system")
    wants = root / "etc/systemd/system/sysinit.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / unit).symlink_to(f"/etc/systemd/system/{unit}")


def pack(root, folder):
    """/boot is a drive of its own, so that kernel and initramfs can be read out of it before every start."""
    boot = folder / "boot"
    shutil.copytree(root / "boot", boot, symlinks=True)
    for path in (root / "boot").iterdir():
        remove(path) if path.is_dir() else path.unlink()
    for label, tree, size in (("lab-root", root, "3G"), ("lab-boot", boot, "256M")):
        file = folder / f"{label.removeprefix('lab-')}.img"
        run(["truncate", "-s", size, file], 10)
        run(["mke2fs", "-q", "-t", "ext4", "-L", label, "-d", tree, file], 300, folder / "log")
    remove(boot)
    (folder / "boot.json").write_text(json.dumps({"cmdline": "root=LABEL=lab-root ro"}))


def storpol_layer(release, source):
    """storpol.tar.gz of a source tree as it is now."""
    root = build_chroot(release)
    copy_source(source, root / "source")
    digest = digest_of(release, *sorted(path for path in (root / "source").rglob("*") if path.is_file()))

    def make(folder):
        log = folder / "log"
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSTORPOL_TESTS=OFF", "-DCMAKE_INSTALL_PREFIX=/usr",
                   "-DCMAKE_INSTALL_SYSCONFDIR=/etc"]
        in_chroot(root, ["cmake", "-S", "/source", "-B", "/build", *options], 300, log)
        build = ["cmake", "--build", "/build", "--parallel", str(os.cpu_count())]
        in_chroot(root, build, 3600, log, CACHE / f"ccache-{release}")
        remove(root / "installed")
        in_chroot(root, ["env", "DESTDIR=/installed", "cmake", "--install", "/build", "--strip"], 300, log)
        run(["tar", "-C", root / "installed", "-czf", folder / "storpol.tar.gz", "."], 120, log)

    return cached("storpol", release, digest, make) / "storpol.tar.gz"


def binary_layer(binary):
    """storpol.tar.gz of a program that was built elsewhere: for quick turns on the release that it was built on."""
    installed = CACHE / "binary"
    remove(installed)
    (installed / "usr/sbin").mkdir(parents=True)
    run(["strip", "-o", installed / "usr/sbin/storpol", binary], 300)
    run(["tar", "-C", installed, "--owner=0", "--group=0", "-czf", CACHE / "binary.tar.gz", "usr"], 300)
    return CACHE / "binary.tar.gz"


def copy_source(origin, target):
    """The files the build reads. What did not change keeps its time, so that Ninja and ccache do little."""
    wanted = set()
    for top in ("CMakeLists.txt", "docs", "engine", "integration", "policies", "resources"):
        start = origin / top
        paths = [start] if start.is_file() else [path for path in start.rglob("*") if path.is_file()]
        wanted.update(path.relative_to(origin) for path in paths)
    for name in wanted:
        source, copy = origin / name, target / name
        if not copy.exists() or copy.stat().st_mtime_ns != source.stat().st_mtime_ns:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    for path in [path for path in target.rglob("*") if path.is_file()]:
        if path.relative_to(target) not in wanted:
            path.unlink()


def missing_here():
    """Why the lab cannot run on this machine; empty where it can."""
    if os.geteuid() != 0:
        return "only root can make the images"
    programs = ("qemu-system-x86_64", "mmdebstrap", "apt-get", "mke2fs", "e2fsck", "debugfs", "unshare")
    missing = [name for name in programs if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if missing:
        return f"not installed: {', '.join(missing)} (./bootstrap lab installs them)"
    return ""
