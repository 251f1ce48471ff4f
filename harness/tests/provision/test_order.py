"""The order of the sources, and the message if none has the system."""

import json

import pytest

from benchbook.errors import RequestError, Unavailable
from benchbook.provision.find import find, preview, previews
from benchbook.provision.request import Request

from .conftest import system


def environment(tmp_path, program, *, nix=False, host=False):
    found = {
        "PATH": str(tmp_path / "empty"),
        "BENCHBOOK_CACHE": str(tmp_path / "cache"),
        "DOCKER_HOST": f"unix://{tmp_path}/docker.sock",
    }
    if nix:
        mapping = tmp_path / "systems.json"
        mapping.write_text(json.dumps({"serverd-1.8": str(program("1.8.10", tmp_path / "store"))}))
        found["BENCHBOOK_NIX_SYSTEMS"] = str(mapping)
    if host:
        found["PATH"] = str(program("1.8.10", tmp_path / "host").parent)
    return found


def test_what_is_given_comes_before_nix_and_nix_before_the_host(server_system, program, tmp_path):
    around = environment(tmp_path, program, nix=True, host=True)
    own = {"serverd-1.8": str(program("1.8.10", tmp_path / "own"))}
    assert find(server_system, Request(given=own, environment=around)).source == "given"
    assert find(server_system, Request(environment=around)).source == "nix"
    del around["BENCHBOOK_NIX_SYSTEMS"]
    assert find(server_system, Request(environment=around)).source == "host"


def test_a_host_program_of_another_version_is_passed_over(server_system, program, tmp_path):
    around = environment(tmp_path, program) | {"PATH": str(program("1.8.9", tmp_path / "host").parent)}
    with pytest.raises(Unavailable, match=r"host: .*serverd reports version 1\.8\.9, not 1\.8\.10"):
        find(server_system, Request(environment=around))


def test_a_folder_is_searched_although_path_has_another_version(server_system, program, tmp_path):
    folders = [
        str(program("1.8.8", tmp_path / "first").parent),
        str(program("1.8.10", tmp_path / "own").parent),
    ]
    host = server_system.source.host.model_copy(update={"folders": folders})
    source = server_system.source.model_copy(update={"host": host})
    system = server_system.model_copy(update={"source": source})
    around = environment(tmp_path, program) | {"PATH": str(program("1.8.9", tmp_path / "host").parent)}
    found = find(system, Request(environment=around))
    assert (found.version, found.path) == ("1.8.10", tmp_path / "own" / "serverd")


def test_a_system_that_cannot_be_had_says_what_was_looked_for_and_what_gets_it(
    server_system, tmp_path, program
):
    with pytest.raises(Unavailable) as caught:
        find(server_system, Request(environment=environment(tmp_path, program)))
    words = str(caught.value)
    assert words.startswith("Server 1.8 is unavailable here: ")
    assert "nix: not started from the flake" in words
    assert (
        "docker: source.docker in systems/serverd-1.8.toml does not name a program of serverd:1.8.10" in words
    )
    assert "host: no serverd on PATH" in words
    assert "no go command on PATH" in words
    assert "go install -trimpath -ldflags '-X v=1.8.10' example.org/serverd@v1.8.10" in caught.value.hint
    assert "--system serverd-1.8=PATH" in caught.value.hint


def test_the_preview_raises_what_finding_would_raise(server_system, tmp_path, program):
    with pytest.raises(Unavailable, match="is unavailable here"):
        preview(server_system, Request(environment=environment(tmp_path, program)))


def test_the_preview_names_the_source(server_system, tmp_path, program):
    around = environment(tmp_path, program, nix=True, host=True)
    assert preview(server_system, Request(environment=around)).endswith("store/serverd (nix)")
    del around["BENCHBOOK_NIX_SYSTEMS"]
    assert preview(server_system, Request(environment=around)).endswith("host/serverd (on this machine)")


@pytest.mark.parametrize("text", ["no json", "[1]", '{"serverd-1.8": 1}'])
def test_a_broken_file_of_the_flake_is_a_mistake_in_the_request(server_system, tmp_path, text):
    mapping = tmp_path / "systems.json"
    mapping.write_text(text)
    with pytest.raises(RequestError, match="BENCHBOOK_NIX_SYSTEMS"):
        find(server_system, Request(environment={"PATH": "", "BENCHBOOK_NIX_SYSTEMS": str(mapping)}))


def test_a_store_path_of_a_package_holds_the_program_in_bin(server_system, tmp_path, program):
    package = tmp_path / "store" / "abc-serverd"
    program("1.8.10", package / "bin")
    mapping = tmp_path / "systems.json"
    mapping.write_text(json.dumps({"serverd-1.8": str(package)}))
    found = find(server_system, Request(environment={"PATH": "", "BENCHBOOK_NIX_SYSTEMS": str(mapping)}))
    assert found.path == package / "bin" / "serverd"


def test_previews_say_of_each_system_where_it_would_come_from_or_why_not(embedded_system):
    absent = system(name="x", embedded=True, source={"python": {"package": "no-such-binding"}})
    found = previews([embedded_system, absent], Request())
    assert list(found) == [embedded_system.name, "x"]
    assert str(found[embedded_system.name]).startswith("use ")
    assert isinstance(found["x"], Unavailable)
