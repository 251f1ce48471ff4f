"""The configuration of InfluxDB 1.x."""

import tomllib

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems import influxdb1 as config
from benchbook.systems.driver import Place


def test_the_text_is_toml_with_the_arms_settings_in_their_sections():
    arm = {"data.wal-fsync-delay": "100ms", "http.log-enabled": False, "data.cache-max-memory-size": 7}
    flat = config.settings('/a "quoted" folder', "127.0.0.1:1", "127.0.0.1:2", arm)
    assert tomllib.loads(config.text(flat)) == {
        "reporting-disabled": True,
        "bind-address": "127.0.0.1:2",
        "http": {"bind-address": "127.0.0.1:1", "log-enabled": False},
        "meta": {"dir": '/a "quoted" folder/meta'},
        "data": {
            "dir": '/a "quoted" folder/data',
            "wal-dir": '/a "quoted" folder/wal',
            "wal-fsync-delay": "100ms",
            "cache-max-memory-size": 7,
        },
    }


def test_the_text_does_not_depend_on_the_order_of_settings():
    assert config.text({"a.x": 1, "b": 2}) == config.text({"b": 2, "a.x": 1})


def test_an_arm_may_not_move_the_data():
    with pytest.raises(TrialFailed, match=r"data\.dir"):
        config.settings("d", "h", "r", {"data.dir": "/elsewhere"})


def test_a_setting_that_the_server_does_not_know_names_the_nearest(tmp_path):
    program = tmp_path / "influxd"
    program.write_text("#!/bin/sh\nprintf '[data]\\nwal-fsync-delay = \"0s\"\\n'\n")
    program.chmod(0o755)
    config.check_known(place(program, {"data.wal-fsync-delay": "1s"}), tmp_path / "c")
    with pytest.raises(
        TrialFailed, match=r'no setting "data\.wal-fsync-dealy"\. Did you mean "data\.wal-fsync-delay"'
    ):
        config.check_known(place(program, {"data.wal-fsync-dealy": "1s"}), tmp_path / "c")


def place(program, settings):
    return Place(
        Program("influxdb", "1", "given", path=program), "tuned", settings, program, program, program
    )
