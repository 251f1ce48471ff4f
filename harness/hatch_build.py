"""Put benchload and the built-in declarations into the wheel, for hatchling.

The wheel is for one machine type, because benchload is a program. It is static, so any Linux of that type can use it.
Build it in a clone: neither benchload's sources nor the declarations are in the folder of the package.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Machine type → its name in Go."""
CATALOGUE = (
    "systems/*", "storage/*", "datasets/*.toml", "datasets/published/*", "experiments/*.toml", "experiments/*/*.toml",
    "experiments/*/*.py", "experiments/*/*.md", "experiments/*/client/**/*.go", "experiments/*/client/go.*",
    "harness/benchload/go.*", "harness/benchload/**/*.go", "harness/benchload/**/*.table",
    "reports/*.qmd", "reports/_*", "reports/priors.json", "docs/*.md", "docs/apt-packages.txt",
    "benchbook.toml", "CITATION.cff",
)  # fmt: skip
"""Files of the clone that an installed Benchbook reads; published runs are not among them."""


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files, and names the machine type in the name of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build benchload, and list the files to add."""
        if version == "editable":  # it uses the clone as it is
            return
        package = Path(self.root)
        clone, source = package.parent, package / "benchload"
        if not (source / "go.mod").is_file() or not (clone / "systems").is_dir():
            raise SystemExit(
                "benchbook: build the wheel in a clone of Benchbook: its declarations are not here."
            )
        machine = os.environ.get("BENCHBOOK_MACHINE") or platform.machine()
        if machine not in MACHINES:
            raise SystemExit(
                f"benchbook: no wheel for the machine type {machine}; allowed: {', '.join(MACHINES)}."
            )
        program = Path(self.directory) / f"benchload-{machine}"
        build_benchload(source, program, machine)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}"
        build_data["force_include"] = {str(program): "benchbook/bin/benchload"} | {
            str(path): f"benchbook/catalogue/{path.relative_to(clone).as_posix()}"
            for pattern in CATALOGUE
            for path in sorted(clone.glob(pattern))
            if path.is_file() and not path.name.endswith("_test.go")
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the program, which is in the wheel now."""
        for program in Path(self.directory).glob("benchload-*"):
            program.unlink()


def build_benchload(source: Path, program: Path, machine: str) -> None:
    """Build the static program for a machine type; end with one sentence if that is impossible."""
    go = os.environ.get("BENCHBOOK_GO") or shutil.which("go")
    if go is None:
        raise SystemExit(
            "benchbook: the wheel contains benchload, which is built with Go, and there is no go on PATH."
            " Install Go, or name its program in BENCHBOOK_GO; `./bench package` brings one."
        )
    program.parent.mkdir(parents=True, exist_ok=True)
    around = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOOS": "linux",
        "GOARCH": MACHINES[machine],
        "GOTOOLCHAIN": "local",
    }
    done = subprocess.run(
        [go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, "."],
        cwd=source, env=around, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit("benchbook: benchload could not be built; see the lines above.")
