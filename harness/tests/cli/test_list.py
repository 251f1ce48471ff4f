from pathlib import Path

from benchbook.cli import list_


def test_one_broken_declaration_does_not_hide_the_others(tmp_path: Path, monkeypatch, capsys) -> None:
    from benchbook.declare.catalogue import root

    (tmp_path / "experiments").mkdir()
    for folder in ("systems", "datasets", "storage"):
        (tmp_path / folder).symlink_to(root() / folder)
    (tmp_path / "experiments/quickstart").symlink_to(root() / "experiments/quickstart")
    (tmp_path / "experiments/broken").mkdir()
    (tmp_path / "experiments/broken/experiment.toml").write_text("title = [")
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    list_.command("experiments", Path("results"), as_json=False)
    shown = capsys.readouterr().out
    assert "quickstart" in shown
    assert "unreadable: experiments/broken/experiment.toml" in shown
