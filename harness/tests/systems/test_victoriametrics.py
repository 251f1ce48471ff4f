"""VictoriaMetrics: its flags, and its answers."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.victoriametrics import driver

VERSION = 'vm_app_version{version="victoria-metrics-20220405-tags-v1.79.5-0-g1", short_version="v1.79.5"} 1\n'
NAMES = "GET /api/v1/label/__name__/values"


@pytest.fixture
def external(place, web):
    return driver(place("victoriametrics-1.79", "1.79", url=web.url))


def test_data_is_kept_for_a_century_and_the_arm_has_the_last_word(place):
    one = driver(place("vm", settings={"dedup.minScrapeInterval": "1s", "retentionPeriod": "2y"}))
    assert one.configure()["arguments"] == (
        "-dedup.minScrapeInterval=1s -httpListenAddr={address} -retentionPeriod=2y -storageDataPath={data}\n"
    )
    command = one.command()
    assert f"-storageDataPath={one.place.data}" in command
    assert f"-httpListenAddr={one.url.removeprefix('http://')}" in command
    assert "retentionPeriod=100y" in driver(place("vm")).configure()["arguments"]


def test_the_version_is_in_its_metrics_or_that_of_its_package(external, web):
    web.answers["GET /metrics"] = VERSION
    assert external.version() == "1.79.5"
    web.answers["GET /metrics"] = 'vm_app_version{version="", short_version=""} 1\n'
    assert external.version() == "1.79"


def test_it_is_ready_when_its_health_says_so(external, web):
    assert not external.ready()
    web.answers["GET /health"] = "OK"
    assert external.ready()


def test_series_of_the_database_are_refused(external, web):
    web.answers[NAMES] = {"data": []}
    external.prepare()
    assert web.asked[0].parameters["match[]"] == '{db="benchbook"}'
    web.answers[NAMES] = {"data": ["cpu_user"]}
    with pytest.raises(TrialFailed, match='already holds data: series of the database "benchbook"'):
        external.prepare()


def test_values_are_counted_by_series_and_rows_are_those_of_the_fullest_field(external, web):
    web.answers = {
        "GET /internal/force_flush": "",
        NAMES: {"data": ["cpu_usage_user", "cpu_usage_idle", "mem_free"]},
        'sum(count_over_time({__name__="cpu_usage_user"': {"data": {"result": [{"value": [0, "12"]}]}},
        'sum(count_over_time({__name__="cpu_usage_idle"': {"data": {"result": [{"value": [0, "7"]}]}},
        'sum(count_over_time({__name__="mem_free"': {"data": {"result": []}},
    }
    assert external.count() == {
        "cpu": TableCount(12, {"usage_user": 12, "usage_idle": 7}, exact=False),
        "mem": TableCount(0, {"free": 0}, exact=False),
    }


def test_settling_waits_until_no_merge_runs(place, web, monkeypatch):
    one = driver(place("vm"))
    one.configure()
    monkeypatch.setattr(one, "url", web.url)
    merges = iter([2, 1, 0])
    web.answers = {
        "GET /internal/force_flush": "",
        "GET /internal/force_merge": "",
        "GET /metrics": lambda _: f'vm_active_merges{{type="storage/small"}} {next(merges)}\n',
    }
    one.settle()
    assert next(merges, None) is None


def test_merges_of_an_external_server_are_not_forced(external, web):
    web.answers["GET /internal/force_flush"] = ""
    external.settle()
    assert [one.path for one in web.asked] == ["/internal/force_flush"]
