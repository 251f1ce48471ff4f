"""The client of an experiment: a Go module on benchload as a library, built once."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbook.errors import Unavailable
from benchbook.process import spawn
from benchbook.provision.client import client, find, key
from benchbook.provision.request import Request

BENCHLOAD = Path(__file__).parents[2] / "benchload"

SOURCE = """package main

import (
	"benchbook/benchload/command"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/system"
)

type nothing struct{}

func (nothing) Next(int64) bool           { return true }
func (nothing) Do() (drive.Result, error) { return drive.Result{}, nil }
func (nothing) Ended(*system.Failure)     {}
func (nothing) Interrupt()                {}
func (nothing) Close()                    {}

type rest struct{ command.Pace }

func (r *rest) Run(c *command.Console) error {
	pace, err := r.Loop(7, 1)
	if err != nil {
		return err
	}
	w, err := r.Workload(c, event.Start{Workload: "rest"})
	if err != nil {
		return err
	}
	defer w.Close()
	w.Begin()
	connect := func(int) (drive.Client, error) { return nothing{}, nil }
	summary, _, err := w.Run(&drive.Work{Client: connect, Pace: pace}, "rest")
	if err != nil {
		return err
	}
	return w.Finish(summary, false)
}

func main() {
	command.Program{Name: "rester", Version: "1", Commands: struct {
		Rest rest `cmd:"" help:"Do nothing."`
	}{}}.Main()
}
"""


@pytest.fixture
def module(tmp_path):
    """Return a client's folder in an experiment, whose module needs what benchload needs."""
    folder = tmp_path / "experiments" / "rest" / "client"
    folder.mkdir(parents=True)
    (folder / "main.go").write_text(SOURCE)
    shutil.copy(BENCHLOAD / "go.sum", folder)
    _, _, needs = (BENCHLOAD / "go.mod").read_text().partition("\n")
    (folder / "go.mod").write_text(
        f"module rester\n{needs}\nrequire benchbook/benchload v0.0.0\nreplace benchbook/benchload => {BENCHLOAD}\n"
    )
    return folder


@pytest.fixture
def request_to(tmp_path):
    go = os.environ.get("BENCHBOOK_GO") or shutil.which("go")
    if go is None:
        pytest.skip("no go command on PATH")
    if os.environ.get("GOPROXY") == "off":
        pytest.skip("GOPROXY=off: only benchload's own build has its libraries")
    return Request(go=Path(go), cache=tmp_path / "cache")


def test_a_client_writes_the_events_of_benchload_and_is_built_once(module, request_to):
    program = client(module, BENCHLOAD, request_to)
    done = subprocess.run([program, "rest", "--workers=2"], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["v"] for one in events} == {1}
    assert (events[0]["type"], events[0]["program"], events[0]["workload"]) == ("start", "rester 1", "rest")
    assert (events[-1]["type"], events[-1]["operations"], events[-1]["errors"]) == ("summary", 7, 0)
    (module / "main_test.go").write_text("package main\n")  # is no part of the program
    built = program.stat().st_mtime_ns
    assert client(module, BENCHLOAD, Request(go=Path("/nowhere"), cache=request_to.cache)) == program
    assert program.stat().st_mtime_ns == built


def test_a_client_that_names_no_place_of_benchload_is_built_on_that_of_benchbook(
    module, request_to, tmp_path
):
    """So a project outside of the clone needs none of its paths; the program is the same wherever it is."""
    (module / "go.mod").write_text("module rester\n\ngo 1.25\n")
    (module / "go.sum").unlink()
    program = client(module, BENCHLOAD, request_to)
    done = subprocess.run([program, "rest", "--workers=2"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1])["operations"] == 7
    content = program.read_bytes()
    assert not [place for place in (module, BENCHLOAD) if str(place).encode() in content]
    (module / "main.go").write_text("package main\n\nfunc main() { rest() }\n")
    with pytest.raises(Unavailable, match="undefined: rest") as refused:
        client(module, BENCHLOAD, request_to)
    assert refused.value.hint.endswith(f"cd {module} && go work init . {BENCHLOAD} && go build")


def test_other_sources_of_either_module_are_another_program(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "main.go").write_text("package main\n")
    first = key(one, other)
    (other / "main.go").write_text("package main // changed\n")
    assert key(one, other) != first
    (other / "main.go").rename(other / "program.go")
    assert len({first, key(one, other), key(other, one), key(one)}) == 4


def test_a_client_that_does_not_compile_names_the_cause(module, request_to):
    (module / "main.go").write_text("package main\n\nfunc main() { rest() }\n")
    with pytest.raises(Unavailable, match=r"the client rest could not be built from .*undefined: rest"):
        client(module, BENCHLOAD, request_to)


def test_without_go_the_message_names_the_folder(module, tmp_path):
    with pytest.raises(Unavailable, match=r"no go command on PATH to build it from .*rest/client") as refused:
        client(module, BENCHLOAD, Request(cache=tmp_path / "cache", environment={"PATH": str(tmp_path)}))
    assert "./bench" in refused.value.hint


def test_an_experiment_without_a_client_uses_benchload(monkeypatch):
    monkeypatch.setattr(spawn, "find_benchload", lambda: Path("/benchload"))
    assert find("other", Request(environment={})) == Path("/benchload")


def test_the_client_of_an_experiment_takes_the_place_of_benchload(request_to):
    program = find("kline-mysql-vs-kv", request_to)
    assert b"vcs.revision" not in program.read_bytes()
    flags = ["--seed=1", "--scale=2", "--start=2020-01-06T00:00:00Z", "--days=1"]
    for dataset, rows in (
        (["kline", *flags], 480),
        (["devops", *flags[:3], "--end=2020-01-06T00:00:10Z"], 18),
    ):
        done = subprocess.run(
            [program, "generate", *dataset, "--digest"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["rows"] == rows
