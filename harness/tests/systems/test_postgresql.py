"""PostgreSQL: its configuration, its cluster and its answers, with scripts in place of its programs."""

from __future__ import annotations

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import OrdinaryUser
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import DatasetRequest, LoadRequest, QueryRequest, TableCount
from benchbook.systems.postgresql import driver
from benchbook.systems.python_worker import WorkerClient
from benchbook.systems.server import Layout
from benchbook.systems.sql_client import Questions

DESCRIBED = "synchronous_commit\tuser\tWAL\nshared_buffers\tpostmaster\tMemory\n"
POSTGRES = f"""
[ "$1" = --describe-config ] && printf '{DESCRIBED}' && exit
echo "$@" > "$(dirname "$0")/started"
sleep 60
"""
INITDB = """
while [ $# -gt 0 ]; do
  case $1 in --pgdata) folder=$2 ;; --pwfile) cat "$2" > "$(dirname "$0")/password" ;; esac
  shift
done
[ -e "$folder" ] && echo "the cluster exists" >&2 && exit 1
mkdir "$folder" && echo "max_connections = 100" > "$folder/postgresql.conf"
"""
PSQL = """
for last; do :; done
case $last in
  *pg_database) printf 'postgres\\nbenchbook\\n' ;;
  *datname*IN*) printf '17\\n' ;;
  *pg_tables*) [ -e "$(dirname "$0")/tables" ] && cat "$(dirname "$0")/tables" ;;
  *information_schema.columns*) printf 'cpu,time\\ncpu,user\\npg_class,oid\\n' ;;
  SELECT*count*FROM*cpu*) printf '12,12,7\\n' ;;
  *autovacuum*) printf '0\\n' ;;
  *server_version) printf '15.19 (Debian 15.19-0+deb12u1)\\n' ;;
  *) echo "ERROR:  unknown: $last" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def local(place, tmp_path, monkeypatch):
    """Return a maker of drivers whose programs are scripts, all run as the tests' own user."""
    monkeypatch.setattr(
        "benchbook.systems.postgresql.ordinary_user", lambda _: OrdinaryUser("tester", 0, 0, None)
    )

    def make(**settings):
        made = place("postgres", "15", POSTGRES, settings=settings)
        for name, script in (("initdb", INITDB), ("psql", PSQL)):
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}")
            (tmp_path / "bin" / name).chmod(0o755)
        return driver(made)

    return make


def written(one, port="5432"):
    return one.files(Layout("d", "c", "l", "127.0.0.1", {"port": port}))["benchbook.conf"]


def test_only_differences_are_written_and_the_port_is_no_part_of_them(local) -> None:
    one = local(synchronous_commit="off", fsync=True, max_connections=9)
    assert written(one, "{port}").splitlines() == [
        "fsync = on",
        "listen_addresses = '127.0.0.1'",
        "max_connections = 9",
        "port = {port}",
        "synchronous_commit = 'off'",
        "unix_socket_directories = ''",
    ]


def test_a_quote_in_a_value_stays_in_it(local) -> None:
    assert "log_line_prefix = 'it''s'" in written(local(log_line_prefix="it's"))


def test_a_setting_that_the_server_knows_passes(local) -> None:
    local(shared_buffers="1GB").configure()


def test_a_misspelled_setting_is_refused_with_the_nearest(local) -> None:
    with pytest.raises(TrialFailed, match='no setting "synchronous_comit"') as caught:
        local(synchronous_comit="off").configure()
    assert 'Did you mean "synchronous_commit"?' in caught.value.hint


def test_what_the_harness_sets_is_refused(local) -> None:
    with pytest.raises(TrialFailed, match='sets "port", which the harness sets'):
        local(port=5432).configure()


def test_the_cluster_is_made_once_and_started_twice(local, tmp_path) -> None:
    one = local()
    one.configure()
    conf = tmp_path / "data" / "cluster" / "postgresql.conf"
    assert conf.read_text().startswith("max_connections = 100\nlisten_addresses")
    assert (tmp_path / "bin" / "password").read_text().strip() == one.client_environment()["PGPASSWORD"]
    assert not (tmp_path / "data" / "password").exists()
    for _ in range(2):  # as for a cold cache
        one.start()
        assert one.processes()
        one.stop()
    assert conf.read_text().count("listen_addresses") == 1


def test_what_initdb_says_is_told(local, tmp_path) -> None:
    one = local()
    (tmp_path / "data" / "cluster").mkdir()
    with pytest.raises(TrialFailed, match="initdb could not create the cluster: the cluster exists"):
        one.configure()


def test_the_address_has_the_user_and_no_password(local) -> None:
    one = local()
    one.configure()
    assert one.url.startswith("postgres://benchbook@127.0.0.1:")
    assert one.client_environment()["PGPASSWORD"] not in one.url


def test_version_tables_and_counts_are_read_from_its_answers(local, tmp_path) -> None:
    one = local()
    one.configure()
    assert one.version() == "15.19"
    (tmp_path / "bin" / "tables").write_text("cpu\n")
    assert one.count() == {"cpu": TableCount(12, {"time": 12, "user": 7})}
    with pytest.raises(TrialFailed, match='the database "benchbook" contains cpu') as caught:
        one.prepare()
    assert "dropdb benchbook" in caught.value.hint


def test_a_refused_statement_is_told_with_its_error(local) -> None:
    one = local()
    one.configure()
    with pytest.raises(TrialFailed, match="PostgreSQL refuses «nonsense»: ERROR: unknown: nonsense"):
        one.psql().rows("nonsense")


def test_an_external_server_is_asked_at_its_address(place, monkeypatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "correct horse")
    one = driver(place("postgresql-15", "15", url="postgres://ada@db.example:5433"))
    psql = one.psql("x")
    assert (psql.host, psql.port, psql.user, psql.password) == ("db.example", 5433, "ada", "correct horse")
    bare = driver(place("postgresql-15", "15", url="postgres://db.example")).psql()
    assert (bare.port, bare.user) == (5432, "postgres")


@pytest.mark.parametrize(("by_worker", "asker"), [(True, "worker"), (False, "benchload")])
def test_a_worker_asks_sets_of_questions_and_benchload_all_others(
    local, monkeypatch, tmp_path, by_worker, asker
) -> None:
    connected = []
    monkeypatch.setattr(Questions, "start", lambda worker: setattr(worker, "worker", True))
    monkeypatch.setattr(
        Questions, "ask", lambda _, do, **to: connected.append((do, to["path"], to["settings"]))
    )
    for kind, name in ((WorkerClient, "worker"), (BenchloadClient, "benchload")):
        for call in ("load", "query"):
            monkeypatch.setattr(kind, call, lambda *_, said=f"{name} {call}": iter([said]))
    one = local()
    one.configure()
    client = one.client(tmp_path / "benchload")
    said = [
        *client.load(LoadRequest(DatasetRequest("any", (), {}, by_worker), 1, 10)),
        *client.query(QueryRequest(tmp_path / "queries")),
    ]
    assert said == [f"{asker} load", f"{asker} query"]
    opened = ("open", one.url, {"database": "benchbook", "password": one._password})
    assert connected == ([opened] if asker == "worker" else [])


def test_each_database_has_a_worker(local) -> None:
    one = local()
    clients = [one.database_client(one.program, name, one.log) for name in ("benchbook", "benchbook_2")]
    assert [client._questions._database for client in clients] == ["benchbook", "benchbook_2"]
    assert [one._questions[name] for name in ("benchbook", "benchbook_2")] == [c._questions for c in clients]
