#!/usr/bin/env python3
"""Builds the wheel of the Python package, without any package index.

    python3 build_wheel.py BUILD_FOLDER [--out FOLDER]

BUILD_FOLDER is where CMake built Flotsam. A wheel is a zip file: the package with its bindings, the library, the program,
the scenes and the add-on for Blender, and a folder that describes them. Prints the path of the wheel. The same input gives
the same bytes.
"""

import argparse
import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATE = (1980, 1, 1, 0, 0, 0)  # of all files: the wheel does not depend on when it was built

METADATA = """Metadata-Version: 2.1
Name: flotsam
Version: {version}
Summary: Fluids and solids that push each other, by smoothed particle hydrodynamics
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy>=1.20
"""
WHEEL = """Wheel-Version: 1.0
Generator: build_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def version():
    return re.search(r"project\(flotsam VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def bindings():
    return subprocess.run([sys.executable, HERE / "make_bindings.py", ROOT / "include" / "flotsam"], check=True,
                          capture_output=True).stdout


def package_files(build):
    """Where each file is in the wheel, and its content."""
    for path in sorted((HERE / "flotsam").glob("*")):
        if path.suffix in (".py", ".typed"):
            yield f"flotsam/{path.name}", path.read_bytes()
    yield "flotsam/_abi.py", bindings()
    yield "flotsam/blender.py", (ROOT / "tools" / "flotsam_blender.py").read_bytes()
    for name in ("libflotsam.so", "libflotsam-scenes.so"):
        yield f"flotsam/lib/{name}", (build / "lib" / name).resolve().read_bytes()
    yield "flotsam/bin/flotsam", (build / "bin" / "flotsam").read_bytes()
    for path in sorted((ROOT / "scenes").rglob("*")):
        if path.is_file():
            yield f"flotsam/share/flotsam/scenes/{path.relative_to(ROOT / 'scenes')}", path.read_bytes()


def add(archive, rows, name, content):
    about = zipfile.ZipInfo(name, DATE)
    is_program = name.startswith(("flotsam/bin/", "flotsam/lib/"))
    about.external_attr = (0o100755 if is_program else 0o100644) << 16
    about.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(about, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows.append(f"{name},sha256={digest},{len(content)}\n")


def write_wheel(path, build, tag):
    about, rows = f"flotsam-{version()}.dist-info", []
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in package_files(build):
            add(archive, rows, name, content)
        add(archive, rows, f"{about}/METADATA", METADATA.format(version=version()).encode())
        add(archive, rows, f"{about}/WHEEL", WHEEL.format(tag=tag).encode())
        add(archive, rows, f"{about}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        rows.append(f"{about}/RECORD,,\n")
        archive.writestr(zipfile.ZipInfo(f"{about}/RECORD", DATE), "".join(rows))


def main():
    parser = argparse.ArgumentParser(description="Builds the wheel of the Python package.")
    parser.add_argument("build", type=Path, help="the folder in which CMake built Flotsam")
    parser.add_argument("--out", type=Path, help="where the wheel goes (default: BUILD/python)")
    arguments = parser.parse_args()
    out = arguments.out or arguments.build / "python"
    out.mkdir(parents=True, exist_ok=True)
    tag = f"py3-none-linux_{platform.machine()}"
    path = out / f"flotsam-{version()}-{tag}.whl"
    write_wheel(path, arguments.build, tag)
    print(path)


if __name__ == "__main__":
    main()
