import subprocess
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.host.packages import LIST, packages, programs

ROOT = Path(__file__).parents[3]


def listed(tmp_path, text):
    (tmp_path / LIST.parent).mkdir()
    (tmp_path / LIST).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_repositorys_list_holds_what_the_first_command_needs():
    found = packages(ROOT)
    base = {package.package for package in found if package.needed == "base"}
    assert base == {"python3", "python3-venv", "git", "ca-certificates"}
    assert len({package.package for package in found}) == len(found)


@pytest.mark.parametrize("needed", ["base", "ci", "optional"])
def test_the_documented_awk_command_reads_the_same_list(needed):
    command = next(line for line in (ROOT / LIST).read_text().splitlines() if "awk" in line)
    awk = command.lstrip("# ").partition(" |")[0].replace('"base"', f'"{needed}"')
    printed = subprocess.run(["sh", "-c", awk], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [package.package for package in packages(ROOT) if package.needed == needed]


def test_programs_are_found_by_name_file_and_module(tmp_path):
    root = listed(
        tmp_path,
        "# comment\n\n"
        "python3   python3        base      runs the harness\n"
        "venv      python:json    base      a module\n"
        "files     /etc           ci        a file\n"
        "nothing   no-such-thing  optional  an absent program\n"
        "modules   python:nothing optional  an absent module\n",
    )
    found = {program.package: program for program in programs(root)}
    assert (found["python3"].state, found["python3"].fix) == ("present", "")
    assert found["python3"].version.startswith("3.")
    assert (found["venv"].state, found["files"].state) == ("present", "present")
    assert (found["nothing"].state, found["modules"].state) == ("absent", "absent")
    assert found["nothing"].fix == "sudo apt-get install nothing"
    assert found["nothing"].purpose == "an absent program"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git git base", "line 2 has 3 columns; 4 are needed"),
        (
            "git git bas the revision",
            'line 2: there is no kind of need "bas"; allowed: base, ci, optional. Did you',
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, words):
    with pytest.raises(RequestError, match=r"apt-packages\.txt") as error:
        packages(listed(tmp_path, f"# first\n{line}\n"))
    assert words in str(error.value)


def test_a_missing_list_is_named(tmp_path):
    with pytest.raises(RequestError, match=r"apt-packages\.txt is unreadable"):
        packages(tmp_path)
