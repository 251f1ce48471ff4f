"""Download a wheel from the index that the host's uv uses: NAME VERSION FILE UV TARGET."""

import platform
import subprocess
import sys
import tomllib
import urllib.request

name, version, file, uv, target = sys.argv[1:]
command = [
    uv, "pip", "compile", "--quiet", "--no-cache", "--no-deps", "--only-binary", ":all:", "--format", "pylock.toml",
    "--python", sys.executable, "--python-platform", f"{platform.machine()}-manylinux_2_28", "-",
]  # fmt: skip
ran = subprocess.run(command, input=f"{name}=={version}", stdout=subprocess.PIPE, text=True, check=True)
wheels = [wheel for package in tomllib.loads(ran.stdout)["packages"] for wheel in package["wheels"]]
found = next(wheel["url"] for wheel in wheels if wheel["url"].rpartition("/")[2] == file)
urllib.request.urlretrieve(found, target)
