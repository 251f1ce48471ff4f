"""--system NAME=PATH-or-URL."""

import pytest

from benchbook.errors import RequestError
from benchbook.provision.find import find, preview
from benchbook.provision.request import Request


def given(system, value):
    return Request(given={system.name: value}, environment={"PATH": ""})


def test_a_program_is_taken_with_its_digest_and_stated_version(server_system, program):
    found = find(server_system, given(server_system, str(program("1.8.10"))))
    assert (found.source, found.version) == ("given", "1.8.10")
    assert found.path.name == "serverd"
    assert found.digest.startswith("sha256:")


def test_size_and_libraries_of_a_program_are_recorded(server_system, program):
    path = program("1.8.10")
    found = find(server_system, given(server_system, str(path)))
    assert (found.size, found.libraries) == (path.stat().st_size, ())


def test_a_running_server_is_taken_by_its_url(server_system):
    found = find(server_system, given(server_system, "http://db.example:8086/"))
    assert found.url == "http://db.example:8086"
    assert found.path is None
    assert preview(server_system, given(server_system, "http://h:1")) == "use the running server http://h:1"


@pytest.mark.parametrize(
    ("driver", "url"),
    [("redis", "redis://h:1"), ("mariadb", "mysql://h:1"), ("postgresql", "postgres://me@h:1")],
)
def test_a_driver_says_by_which_urls_it_takes_a_server(server_system, driver, url):
    system = server_system.model_copy(update={"driver": driver})
    assert find(system, given(system, url)).url == url
    with pytest.raises(RequestError, match=rf"not a URL of a server.*{url.partition(':')[0]}://HOST:PORT"):
        find(system, given(system, "http://h:1"))


def test_a_password_is_kept_out_of_the_results_and_of_the_words(server_system):
    with pytest.raises(RequestError, match=r"holds a password") as caught:
        find(server_system, given(server_system, "http://me:sesame@h:1"))
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://h:1", "http://", "http://h:port", "http://h:99999", "://x"])
def test_a_bad_url_is_a_mistake_in_the_request(server_system, url):
    with pytest.raises(RequestError, match=r"not a URL of a server.*http://HOST:PORT"):
        find(server_system, given(server_system, url))


def test_a_path_that_does_not_exist_is_a_mistake_in_the_request(server_system, tmp_path):
    with pytest.raises(RequestError, match=r"--system serverd-1\.8=.*there is no file"):
        find(server_system, given(server_system, str(tmp_path / "gone")))


def test_a_folder_is_a_mistake_in_the_request(server_system, tmp_path):
    with pytest.raises(RequestError, match="is not a file"):
        find(server_system, given(server_system, str(tmp_path)))


def test_a_file_that_is_not_executable_is_a_mistake_with_the_command_that_helps(server_system, tmp_path):
    (tmp_path / "serverd").write_text("")
    with pytest.raises(RequestError, match="chmod \\+x"):
        find(server_system, given(server_system, str(tmp_path / "serverd")))


def test_a_program_of_another_version_is_refused(server_system, program):
    with pytest.raises(
        RequestError, match=r"reports version 1\.7\.0, but serverd-1\.8 is pinned to 1\.8\.10"
    ):
        find(server_system, given(server_system, str(program("1.7.0"))))


def test_an_embedded_system_takes_no_program(embedded_system):
    with pytest.raises(RequestError, match="runs inside a Python process"):
        find(embedded_system, given(embedded_system, "/bin/true"))
