from pathlib import Path

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.plan import plan
from benchbook.run.estimate import median_trial_seconds


def test_runs_of_an_experiment_whose_name_only_begins_alike_are_not_its_own(tmp_path: Path) -> None:
    made = plan(Catalogue(), "quickstart", "smoke")
    cell = made.trials[0].cell
    for run_id in ("quickstart-20260101T000000-abcd", "quickstart-large-20260101T000000-abcd"):
        folder = tmp_path / "runs" / run_id / "trials" / "0000"
        folder.mkdir(parents=True)
        length = 1 if "large" not in run_id else 1000
        (folder / "trial.json").write_text(
            f'{{"profile": "smoke", "status": "ok", "cell": "{cell}", "duration_seconds": {length}}}'
        )
    assert median_trial_seconds(tmp_path, made) == {cell: 1.0}
