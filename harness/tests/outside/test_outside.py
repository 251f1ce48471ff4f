"""The inputs that misled readers once can be made; ``python -m tests.outside`` carries them out."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from benchbook.process.network import free_ports
from benchbook.process.wait import until
from tests.outside import __main__ as command
from tests.outside.project import HERE
from tests.outside.reproductions import EVERY


def test_each_reproduction_says_what_it_shows() -> None:
    assert len(EVERY) == len({one.__name__ for one in EVERY}) == 12
    assert all(one.__doc__ and "\n" not in one.__doc__.strip() for one in EVERY)


@pytest.mark.parametrize("script", ["daemon.sh", "detached.sh", "helper.sh", "supervisor.sh"])
def test_a_start_script_is_bash_and_asks_the_real_server_for_its_version(script: str, tmp_path: Path) -> None:
    made = tmp_path / script
    made.write_text(
        (HERE / script)
        .read_text()
        .replace("@INFLUXD@", "/bin/echo")
        .replace("@PIDS@", str(tmp_path / "pids"))
    )
    done = subprocess.run(["bash", made, "version"], capture_output=True, text=True, check=True)
    assert done.stdout == "version\n"
    assert not (tmp_path / "pids").exists()


@pytest.fixture
def stand_in(web: Any) -> Any:
    """The stand-in before a server of this test, which leaves questions 1 and 2 unanswered."""
    web.otherwise = '{"results": [{"series": []}]}'
    [port] = free_ports(1)
    upstream = web.url.rpartition(":")[2]
    process = subprocess.Popen([sys.executable, HERE / "stand_in.py", str(port), upstream, "--empty=1,2"])
    url = f"http://127.0.0.1:{port}"
    try:
        assert until(lambda: _answers(url), 30)
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return bool(_get(f"{url}/ping"))
    except OSError:
        return False


def _get(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as answer:
        return str(answer.read().decode())


def test_the_stand_in_empties_the_questions_that_it_was_told_and_begins_again(
    stand_in: str, web: Any
) -> None:
    web.otherwise = '{"results": [{"series": []}]}'
    question = f"{stand_in}/query?q=SELECT+max(a)+from+cpu+group+by+time(1m)"
    for _ in range(2):
        _get(f"{stand_in}/query?q=CREATE+DATABASE+x")
        assert ["series" in _get(question) for _ in range(4)] == [True, False, False, True]


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["outside", "nothing"])
    with pytest.raises(SystemExit, match="nothing is no reproduction"):
        command.main()
