import getpass
import json
import socket
from pathlib import Path

from benchbook.host.facts import TOPICS, facts
from benchbook.host.reading import NOT_READABLE, Tree, readable


def leaves(value):
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def test_facts_of_this_machine_are_json_and_name_every_topic(tmp_path):
    found = facts(tmp_path / "not" / "yet")
    assert set(found) == {*TOPICS, "filesystem"}
    assert json.loads(json.dumps(found)) == found
    assert found["cpu"]["usable_cores"] >= 1
    assert found["filesystem"]["free_bytes"] > 0
    assert found["limits"]["open_files"]["soft"]


def test_a_machine_that_tells_nothing_is_no_exception_but_stated(tmp_path):
    found = facts(tmp_path, Tree(tmp_path / "empty"))
    for path in (
        "cpu.model",
        "memory.total_bytes",
        "kernel.aslr",
        "pressure.io",
        "steal.seconds",
        "load.load1",
    ):
        topic, key = path.split(".")
        assert found[topic][key].startswith(NOT_READABLE), path
    assert "no such file" in found["cpu"]["model"]
    assert not any(readable(value) for value in leaves(found["cgroup"]))


def test_facts_name_no_host_no_user_and_no_folder(tmp_path):
    secret = tmp_path / "customer-of-ours"
    secret.mkdir()
    text = json.dumps(facts(secret))
    assert "customer-of-ours" not in text
    assert str(Path.home()) not in text
    for name in (socket.gethostname(), getpass.getuser()):
        # Short names such as "vm" or "root" occur in other facts too.
        assert len(name) < 6 or name not in text
