"""Tables in a page."""

from benchbook.report.table import Table


def test_a_stacked_table_names_the_column_of_each_cell_for_narrow_pages():
    page = Table(["Claim", 'Says "no"'], [["a", "b"]], stacked=True).html()
    assert 'class="bb-table bb-stacked"' in page
    assert '<td data-column="Claim">a</td>' in page
    assert '<td data-column="Says &quot;no&quot;">b</td>' in page


def test_other_tables_scroll_in_their_own_box():
    page = Table(["Cell"], [["a"]]).html()
    assert 'class="bb-table"' in page
    assert "<td>a</td>" in page
