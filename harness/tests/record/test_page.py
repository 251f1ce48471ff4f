from __future__ import annotations

from benchbook.record import page
from benchbook.record.tables import BY_NAME, OF_RUN, OF_TRIAL, TABLES

CONTRACT = {
    "trials": "trial_id run_id experiment system cell block position status reason arm storage profile index",
    "levels": "trial_id factor level",
    "measurements": "trial_id phase metric value unit direction",
    "run_facts": "run_id topic key value",
    "answers": "trial_id query_type query_id digest row_count",
}


def test_the_page_is_up_to_date() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), "run: python -m benchbook.record.page"


def test_every_table_and_column_has_a_sentence() -> None:
    for table in TABLES:
        assert table.comment.endswith((".", "row.")), table.name
        assert len({column.name for column in table.columns}) == len(table.columns)
        for column in table.columns:
            assert column.comment.endswith((".", "…")), (table.name, column.name)


def test_every_row_belongs_to_a_trial_or_a_run() -> None:
    assert {table.name for table in TABLES} - {"schema_version"} == {
        table.name for table in (*OF_RUN, *OF_TRIAL)
    }
    for table in (*OF_RUN, *OF_TRIAL):
        assert table.owner in {column.name for column in table.columns if column.required}


def test_the_columns_that_others_rely_on_are_there() -> None:
    for name, wanted in CONTRACT.items():
        assert set(wanted.split()) <= {column.name for column in BY_NAME[name].columns}
