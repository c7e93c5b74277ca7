"""Builds the Python package for pip (PEP 517), with CMake and the standard library alone: nothing is downloaded.

Environment: DTS_CMAKE_ARGS adds arguments to CMake's configuration; DTS_BUILD_DIR names the build directory, which is
kept, so that the next build compiles what has changed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[2]
Settings = Optional[dict[str, Any]]


def version() -> str:
    """The project's, from its one place."""
    found = re.search(r"project\(dts VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    return found[1]


def metadata() -> str:
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: dts",
            f"Version: {version()}",
            "Summary: Decoding Tree Sketching: a reasoning model that thinks in parallel, without training",
            "License: MIT",
            "Requires-Python: >=3.9",
            "Provides-Extra: frames",
            'Requires-Dist: pandas; extra == "frames"',
            "Provides-Extra: hf",
            'Requires-Dist: torch; extra == "hf"',
            'Requires-Dist: transformers; extra == "hf"',
            "Description-Content-Type: text/markdown",
            "",
            (ROOT / "docs" / "python.md").read_text(),
        ]
    )


def tag() -> str:
    """Which Pythons may install it: this one, on this system."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def compile_module() -> Path:
    """Compiles the extension module for the Python that runs this; returns the folder with the whole package."""
    # One for each Python: what CMake has found of one is wrong for another.
    which = hashlib.sha256(sys.base_prefix.encode()).hexdigest()[:6]
    build = Path(os.environ.get("DTS_BUILD_DIR") or ROOT / "build" / f"wheel-{sys.implementation.cache_tag}-{which}")
    configure = [
        "cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DDTS_BUILD_PYTHON=ON", "-DDTS_BUILD_TESTS=OFF",
        f"-DPython_EXECUTABLE={sys.executable}",
        *shlex.split(os.environ.get("DTS_CMAKE_ARGS", "")),
    ]  # fmt: skip
    run(configure)
    run(["cmake", "--build", str(build), "--target", "dts_python"])
    return build / "python" / "dts"


def run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is needed to build dts: apt-get install cmake ninja-build g++ (docs/installation.md)")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{command[0]} failed with {error.returncode}: its words are above; docs/installation.md may help")


class Wheel:
    """A wheel being written: files, then the record of their hashes."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same content, the same wheel
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, info: str) -> None:
        name = f"{info}/RECORD"
        self._zip.writestr(name, "\n".join([*self._record, f"{name},,", ""]))
        self._zip.close()


def add_information(wheel: Wheel, info: str) -> None:
    wheel.add(f"{info}/METADATA", metadata().encode())
    text = f"Wheel-Version: 1.0\nGenerator: dts\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    wheel.add(f"{info}/WHEEL", text.encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())


def prepare_metadata_for_build_wheel(directory: str, settings: Settings = None) -> str:
    """PEP 517: what the package is, without building it."""
    name = f"dts-{version()}.dist-info"
    (Path(directory) / name).mkdir()
    (Path(directory) / name / "METADATA").write_text(metadata())
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(directory: str, settings: Settings = None, metadata_directory: str | None = None) -> str:
    """PEP 517."""
    package = compile_module()
    name = f"dts-{version()}-{tag()}.whl"
    wheel = Wheel(Path(directory) / name)
    with tempfile.TemporaryDirectory() as directory:
        bundled = Path(directory)
        bundle(package, bundled)
        for root in (package, bundled):
            for path in sorted(root.rglob("*")):
                # A module that was bundled is the one in that folder.
                if path.is_file() and "__pycache__" not in path.parts and (root == bundled or ".so" not in path.name):
                    mode = 0o755 if ".so" in path.name else 0o644
                    wheel.add(f"dts/{path.relative_to(root)}", path.read_bytes(), mode)
    info = f"dts-{version()}.dist-info"
    add_information(wheel, info)
    wheel.close(info)
    return name


def bundle(package: Path, folder: Path) -> None:
    """The compiled module into `folder`, and into `folder`/lib what it needs beside the system's own libraries: it may be
    installed where they are not.
    """
    modules = list(package.glob("_core*.so"))
    run([str(ROOT / "packaging" / "bundle.sh"), f"{folder}/lib", *map(str, modules)])
    copies = [folder / module.name for module in modules]
    for module, copy in zip(modules, copies):
        shutil.copyfile(module, copy)
    run(["strip", "--strip-unneeded", *map(str, copies)])
    if shutil.which("patchelf"):
        run([str(ROOT / "packaging" / "rename_libraries.sh"), f"{folder}/lib", *map(str, copies)])
    else:
        print("dts: without patchelf the libraries keep their names, and other extensions may meet them", file=sys.stderr)


def build_editable(directory: str, settings: Settings = None, metadata_directory: str | None = None) -> str:
    """PEP 660: the package stays in the build directory, whose Python files are links to the source."""
    package = compile_module()
    name = f"dts-{version()}-{tag()}.whl"
    wheel = Wheel(Path(directory) / name)
    wheel.add("dts.pth", f"{package.parent}\n".encode())
    info = f"dts-{version()}.dist-info"
    add_information(wheel, info)
    wheel.close(info)
    return name


def build_sdist(directory: str, settings: Settings = None) -> str:
    """PEP 517: what git has of the tree."""
    name = f"dts-{version()}"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    with tarfile.open(Path(directory) / f"{name}.tar.gz", "w:gz") as archive:
        for file in filter(None, files.split("\0")):
            archive.add(ROOT / file, f"{name}/{file}")
        information = metadata().encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(information)
        archive.addfile(entry, io.BytesIO(information))
    return f"{name}.tar.gz"


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """PEP 517: nothing that pip would have to download."""
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


if __name__ == "__main__":  # `make wheel`
    destination = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    destination.mkdir(parents=True, exist_ok=True)
    print(destination / build_wheel(str(destination)))
