"""A machine with several nodes of memory, emulated by QEMU in software: it boots a Debian kernel and sees this machine's files as they are,
but for what it writes itself, which is gone when it ends. It has as many processors as nodes, and none of the distances that it tells:
times there mean nothing."""

import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc && $B mount -t sysfs sys /sys && $B mount -t devtmpfs dev /dev
for module in /modules/*; do $B insmod $module; done
$B mkdir /host /own /new
$B mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose host /host
$B mount -t tmpfs own /own && $B mkdir /own/upper /own/work
$B mount -t overlay -o lowerdir=/host,upperdir=/own/upper,workdir=/own/work overlay /new
for each in proc sys dev; do $B mount --move /$each /new/$each; done
$B mkdir -p /new/dev/shm && $B mount -t tmpfs shm /new/dev/shm
$B cp /script /new/guest-script
$B stty -F /new/dev/ttyS1 raw
$B chroot /new /bin/sh /guest-script < /new/dev/null > /new/dev/ttyS1 2>&1
$B printf '\\nguest ended with %d\\n' $? > /new/dev/ttyS1
$B sync
$B poweroff -f
"""


class Missing(Exception):
    """What a guest needs is not here."""


def program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Missing(f"there is no {name}: 'apt install {package}' gets it")
    return found


def kernel() -> tuple[pathlib.Path, pathlib.Path]:
    """A kernel and its modules. Raises Missing."""
    root = pathlib.Path(os.environ.get("RDAM_GUEST_KERNEL", "/"))
    for image in sorted(root.glob("boot/vmlinuz-*"), reverse=True):
        version = image.name.removeprefix("vmlinuz-")
        for modules in (root / "lib/modules" / version, root / "usr/lib/modules" / version):
            if next(modules.rglob("9pnet_virtio.ko*"), None) is not None:
                return image, modules
    raise Missing(f"there is no kernel with modules for 9p in {root}: 'apt-get download' the package that linux-image-amd64 depends on, "
                  "'dpkg-deb -x' it into a folder, and name that in RDAM_GUEST_KERNEL")


def content(module: pathlib.Path) -> bytes:
    return lzma.decompress(module.read_bytes()) if module.suffix == ".xz" else module.read_bytes()


def with_dependencies(folder: pathlib.Path, wanted: Iterable[str]) -> list[bytes]:
    """Modules, each behind those that it needs."""
    files = {path.name.partition(".")[0].replace("-", "_"): path for path in folder.rglob("*.ko*")}
    order: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in order or name not in files:  # built into the kernel
            return
        found = content(files[name])
        needs = re.search(rb"\0depends=([^\0]*)", found)
        for other in needs[1].decode().split(",") if needs and needs[1] else ():
            add(other.replace("-", "_"))
        order[name] = found

    for name in wanted:
        add(name)
    return list(order.values())


def make_initrd(folder: pathlib.Path, modules: Sequence[bytes], script: str) -> pathlib.Path:
    root = folder / "initrd"
    for name in ("bin", "modules", "proc", "sys", "dev"):
        (root / name).mkdir(parents=True)
    busybox = program("busybox", "busybox-static")
    shutil.copy(busybox, root / "bin/busybox")
    for number, module in enumerate(modules):
        (root / f"modules/{number:02}.ko").write_bytes(module)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    (root / "script").write_text(script)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*"))) + "\n"
    packed = subprocess.run([busybox, "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), capture_output=True, check=True).stdout
    (folder / "initrd.cpio").write_bytes(packed)
    return folder / "initrd.cpio"


def ring(nodes: int) -> list[list[int]]:
    """Distances as of sockets in a ring: 10 in a node, 10 more for each hop."""
    return [[10 + 10 * min((one - other) % nodes, (other - one) % nodes) for other in range(nodes)] for one in range(nodes)]


def run(script: str, nodes: int, time_limit: float, memory_mib: int = 640) -> tuple[int | None, str]:
    """Runs a shell script, as root, where there are so many nodes, each with a processor and so much memory: how it ended, and what it printed; None
    and what was on the console if it did not end. Raises Missing."""
    image, modules = kernel()
    qemu = program("qemu-system-x86_64", "qemu-system-x86")
    with tempfile.TemporaryDirectory(prefix="rdam-guest-") as name:
        folder = pathlib.Path(name)
        initrd = make_initrd(folder, with_dependencies(modules, MODULES), script)
        command = [qemu, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(nodes), "-m", f"{nodes * memory_mib}", "-display", "none",
                   "-nodefaults", "-no-reboot", "-kernel", image, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1",
                   "-serial", f"file:{folder}/console", "-serial", f"file:{folder}/output",
                   "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
                   "-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]
        for node in range(nodes):
            command += ["-object", f"memory-backend-ram,id=memory{node},size={memory_mib}M",
                        "-numa", f"node,nodeid={node},cpus={node},memdev=memory{node}"]
        command += [word for one, row in enumerate(ring(nodes)) for other, value in enumerate(row) if one < other
                    for word in ("-numa", f"dist,src={one},dst={other},val={value}")]
        try:
            done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, timeout=time_limit, check=False)
            why = done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:  # which has killed it
            why = f"it did not end within {time_limit:.0f} s\n"
        printed = (folder / "output").read_text(errors="replace") if (folder / "output").exists() else ""
        ended = re.search(r"\nguest ended with (\d+)\r?\n\Z", printed)
        if ended:
            return int(ended[1]), printed[:ended.start()]
        console = (folder / "console").read_text(errors="replace") if (folder / "console").exists() else ""
        return None, f"{printed}\n{why}{console[-3000:]}"
