"""MariaDB: initialisation of its data folder; test_mysql.py has the rest."""

import os

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import OrdinaryUser
from benchbook.systems.mariadb import driver


@pytest.fixture
def local(place, monkeypatch):
    def make(setpriv=None, **settings):
        monkeypatch.setattr(
            "benchbook.systems.mysql.ordinary_user",
            lambda name: OrdinaryUser(name, os.getuid(), os.getgid(), setpriv),
        )
        return driver(place("mariadbd", settings=settings))

    return make


def install(folder):
    folder.mkdir(exist_ok=True)
    made = folder / "mariadb-install-db"
    made.write_text(f'#!/bin/sh\necho "$@" > {folder}/installed\n')
    made.chmod(0o755)
    return made


def test_the_program_beside_the_server_makes_the_data_folder(local, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    one = local("/usr/bin/setpriv")
    made = install(tmp_path / "scripts")
    assert "mysqlx" not in one.configure()["my.cnf"]
    assert one.initialise_command()[0] == str(made)
    assert (tmp_path / "scripts" / "installed").read_text().split() == [
        "--defaults-file=my.cnf", "--datadir=.", "--skip-test-db",
        "--auth-root-authentication-method=normal", "--user=mysql",
    ]  # fmt: skip


def test_the_program_of_path_is_the_next_choice(local, tmp_path, monkeypatch):
    made = install(tmp_path / "elsewhere")
    monkeypatch.setenv("PATH", f"{tmp_path}/elsewhere:/bin")
    assert local().initialise_command()[0] == str(made)


def test_without_the_program_the_package_is_named(local, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        TrialFailed, match="mariadb-install-db, which creates MariaDB's data folder"
    ) as caught:
        local().configure()
    assert "apt-get install mariadb-server" in caught.value.hint
