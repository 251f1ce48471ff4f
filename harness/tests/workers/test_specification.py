"""Query specifications and their SQL."""

import hashlib
import json

import pytest

from benchbook.workers.engine import Specification
from benchbook.workers.query import Dialect, quoted, read, render

LINE = {
    "id": 1,
    "type": "1-host-1-hr",
    "table": "cpu",
    "field": "usage_user",
    "aggregate": "max",
    "bucket_ns": 60,
    "hosts": ["host_1"],
    "start_ns": 5,
    "end_ns": 10,
    "group_by_host": False,
}
DIALECT = Dialect(time_to_ns='"time"', ns_to_time="?", divide="/")


def specification(**changes):
    return Specification(**(LINE | changes | {"hosts": tuple(changes.get("hosts", LINE["hosts"]))}))


def test_a_file_is_read_in_its_order_with_its_digest(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text(
        json.dumps(LINE) + "\n\n" + json.dumps(LINE | {"id": 2, "hosts": None, "later": 1}) + "\n"
    )
    found = read(file)
    assert [one.id for one in found.specifications] == [1, 2]
    assert found.specifications[1].hosts == ()
    assert found.digest == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "q.jsonl, line 1: "),
        (json.dumps({"id": 1}), "lacks type, table"),
        (json.dumps(LINE | {"aggregate": "median"}), 'aggregate "median"; allowed: max, mean'),
        (json.dumps(LINE | {"bucket_ns": 0}), "bucket_ns must be a positive integer"),
    ],
)
def test_a_line_that_is_no_specification_is_named(tmp_path, line, words):
    file = tmp_path / "q.jsonl"
    file.write_text(line)
    with pytest.raises(ValueError, match=words):
        read(file)


def test_values_are_bound_and_buckets_begin_at_multiples_of_their_length():
    text, parameters = render(specification(), DIALECT)
    assert text == (
        'SELECT "time" / 60 * 60 AS bucket, NULL AS host, max("usage_user") AS value FROM "cpu" '
        'WHERE "time" >= ? AND "time" < ? AND "hostname" IN (?) GROUP BY 1 ORDER BY 1'
    )
    assert parameters == [5, 10, "host_1"]


def test_all_hosts_by_host():
    text, parameters = render(specification(hosts=[], group_by_host=True, aggregate="mean"), DIALECT)
    assert '"hostname" AS host, avg(' in text
    assert text.endswith("GROUP BY 1, 2 ORDER BY 2, 1")
    assert "IN (" not in text
    assert parameters == [5, 10]


def test_names_are_quoted_whatever_they_hold():
    assert quoted('a"; DROP TABLE cpu; --') == '"a""; DROP TABLE cpu; --"'
