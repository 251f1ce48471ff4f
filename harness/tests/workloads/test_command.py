"""The workload ``command``: placeholders, missing tools, hyperfine's export and its metrics."""

import json
import os
import stat
from pathlib import Path

import pytest

from benchbook.declare.experiment import Phase
from benchbook.errors import RequestError, TrialFailed, Unavailable
from benchbook.workloads import command
from benchbook.workloads.command import CommandOptions


def options(**changes):
    given = {"tool": "ours", "commands": {"ours": "sh -c true", "theirs": "no-such-tool {url}"}}
    return CommandOptions.model_validate(given | changes)


@pytest.fixture
def hyperfine(tmp_path, monkeypatch):
    """Put a stand-in for hyperfine on PATH that runs the command once and exports fixed times."""
    exported = {"results": [{"times": [2.0, 1.0, 4.0], "user": 0.5, "system": 0.25}]}
    program = tmp_path / "bin" / "hyperfine"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\nfor last; do case $last in --export-json=*) out=${last#*=};; esac; done\n"
        f'bash -c "$last" || exit 1\necho \'{json.dumps(exported)}\' > "$out"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


def test_a_tool_without_a_command_is_a_mistake_that_names_the_nearest():
    with pytest.raises(ValueError, match='did you mean "ours"'):
        options(tool="our")


def test_an_unknown_place_is_a_mistake_that_names_the_nearest():
    with pytest.raises(ValueError, match=r'did you mean "\{input\}"'):
        options(commands={"ours": "cat {inputs}"})


def test_braces_that_do_not_fit_are_a_mistake():
    with pytest.raises(ValueError, match="braces"):
        options(commands={"ours": "cat {input"})


def test_the_mistake_reaches_the_declaration_of_an_experiment():
    with pytest.raises((ValueError, RequestError), match="tool"):
        Phase(name="load", workload="command", options={"tool": "x", "commands": {"ours": "true"}})


def test_a_tool_that_is_not_on_path_is_unavailable(hyperfine):
    with pytest.raises(Unavailable, match="theirs is unavailable here: no-such-tool is not on PATH"):
        command.command(options(tool="theirs"), {"url": "http://x"})


def test_every_program_of_a_pipe_is_looked_for(hyperfine):
    with pytest.raises(Unavailable, match="no-such-tool"):
        command.command(options(commands={"ours": "echo x | A=1 no-such-tool"}), {})


def test_without_hyperfine_all_tools_are_unavailable(monkeypatch):
    real = command.shutil.which
    monkeypatch.setattr(command.shutil, "which", lambda name: None if name == "hyperfine" else real(name))
    with pytest.raises(Unavailable, match="apt-get install hyperfine"):
        command.command(options(), {})


def test_times_and_rates(hyperfine, tmp_path):
    timed = command.time_runs("echo words", options(), "load ours", tmp_path, None)
    found = {one.metric: one.value for one in command.measurements("load", timed, 600)}
    assert found == {
        "command_seconds": 2.0,
        "command_seconds_min": 1.0,
        "command_seconds_max": 4.0,
        "client_cpu_seconds": 0.75,
        "command_runs": 3.0,
        "rows": 600.0,
        "rows_per_second": 300.0,
        "rows_per_cpu_second": 800.0,
    }
    assert (tmp_path / "load-ours.log").read_text() == "words\n"


def test_a_command_that_fails_fails_the_trial_in_its_own_words(hyperfine, tmp_path):
    with pytest.raises(TrialFailed, match="the disk is full"):
        command.time_runs("echo the disk is full; false", options(), "load ours", tmp_path, None)


def test_of_long_output_beginning_and_end_are_kept(hyperfine, tmp_path):
    command.time_runs(
        "echo first; head -c 3000000 /dev/zero; echo last", options(), "load ours", tmp_path, None
    )
    kept = (tmp_path / "load-ours.log").read_bytes()
    assert len(kept) < 140_000
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"last\n")


def test_all_output_is_kept_where_it_is_asked_for(hyperfine, tmp_path):
    command.time_runs("seq 100000", options(output="all"), "load ours", tmp_path, None)
    assert (tmp_path / "load-ours.log").read_text().split() == [str(one) for one in range(1, 100_001)]


def test_output_that_is_not_wanted_is_not_kept_but_messages_are(hyperfine, tmp_path):
    command.time_runs("seq 1000; echo a warning >&2", options(output="none"), "load ours", tmp_path, None)
    assert (tmp_path / "load-ours.log").read_text() == "a warning\n"


def test_the_output_of_a_command_that_fails_is_cut_too(hyperfine, tmp_path):
    with pytest.raises(TrialFailed, match="the disk is full"):
        command.time_runs(
            "head -c 3000000 /dev/zero; echo the disk is full; false", options(), "t", tmp_path, None
        )
    assert (tmp_path / "t.log").stat().st_size < 140_000


def test_what_is_not_counted_has_no_rate():
    timed = command.Timed([1.0, 1.0], 0.1, 0.1)
    assert all("rows" not in one.metric for one in command.measurements("x", timed, None))


def test_lines_are_counted():
    assert command.lines("printf 'a\\nb\\nc\\n'") == 3
    with pytest.raises(TrialFailed, match="code 7"):
        command.lines("exit 7")


def test_the_dataset_is_written_with_its_size_where_a_command_asks_for_it(tmp_path):
    class Stub:
        generator = "iot"

        @staticmethod
        def flags():
            return ()

    tool = tmp_path / "benchload"
    tool.write_text("#!/bin/sh\necho row\n")
    tool.chmod(0o755)
    file = tmp_path / "input"
    for text, want in (("cat {input}", "row\n"), ("cat {sized}", "row\ndataset-size:1,5\n")):
        command.prepare(
            tool, Stub(), {"rows": 1, "values": 5}, file, options(commands={"ours": text}, input="influx")
        )
        assert file.read_text() == want
    command.prepare(tool, Stub(), {}, Path("/nowhere/at/all"), options())


def test_only_a_server_that_counts_can_be_asked_what_it_received():
    with pytest.raises(TrialFailed, match="null-server"):
        command.received(object())


def test_a_pipe_of_which_any_program_fails_has_no_time(hyperfine, tmp_path):
    with pytest.raises(TrialFailed, match="load ours failed"):
        command.time_runs("false | cat", options(), "load ours", tmp_path, None)
    with pytest.raises(TrialFailed, match="exited with code 1"):
        command.lines("false | cat")
