"""Chart of bytes on disk by part: data, log, and the rest, which an empty server mostly has too."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import Wanted, chosen
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.run import Run
from benchbook.report import theme
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

PARTS = {"disk_data_bytes": "data", "disk_wal_bytes": "log"}
"""Metric of a part → its name; the rest of ``disk_bytes`` is what the server keeps for itself."""
REST = "server's own files"
SHADES = {"data": 1.0, "log": 0.5, REST: 0.22}
ROW = 34


def chart(
    run: Run, title: str = "Smallest data on disk", only: dict[str, Wanted] | None = None
) -> Figure | Markdown:
    """Draw the bytes on disk after settling, a bar for each cell, stacked by part; systems are ranked by their data."""
    if refusal := refused(run, title):
        return refusal
    rows = parts(run, only)
    if not rows:
        return missing(title, "no valid trial of this run measured bytes on disk")
    least = min(rows, key=lambda label: rows[label][1].get("data", float("inf")))
    others = [held["data"] for label, (_, held) in rows.items() if label != least and "data" in held]
    own = quantity.text(rows[least][1].get("data"), "B")
    following = quantity.text(min(others), "B") if others else ""
    if own == following:
        finding = f"{title}: {own} of data in several setups"
    else:
        finding = f"{title}: {least}, {own} of data" + (
            f"; the next smallest has {following}" if following else ""
        )
    trials = sorted({len(one.points) for one, _ in rows.values()})
    number = quantity.counted(trials[0], "trial")
    subtitle = (
        f"Bytes on disk after background work, linear axis; less is better; n = {number} of each setup. "
        f"Dark: data; pale: log; palest: {REST}, most of which an empty server has too"
    )
    return Figure(
        theme.scaled_title(run, finding),
        _draw(rows),
        _alternative(rows),
        _table(run, rows),
        subtitle=subtitle,
    )


def parts(run: Run, only: dict[str, Wanted] | None = None) -> dict[str, tuple[Estimate, dict[str, float]]]:
    """Return label → the estimate of all bytes of a cell, and the bytes of each part."""
    whole = {one.cell.name: one for one in estimates(run, "trial", "disk_bytes") if one.value}
    known = {
        metric: {one.cell.name: one.value for one in estimates(run, "trial", metric) if one.value is not None}
        for metric in PARTS
    }
    found = {}
    for name, cell in chosen(run, only).items():
        if name not in whole:
            continue
        held = {part: known[metric][name] for metric, part in PARTS.items() if name in known[metric]}
        rest = (whole[name].value or 0.0) - sum(held.values())
        found[cell.label] = (whole[name], held | ({REST: rest} if rest > 0 else {}))
    return found


def _draw(rows: dict[str, tuple[Estimate, dict[str, float]]]) -> Any:
    import altair as alt

    labels = list(rows)
    divisor, unit = quantity.scale(max(one.value or 0.0 for one, _ in rows.values()), "B")
    bars: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    for label, (_, held) in rows.items():
        start = 0.0
        for part, size in held.items():
            end = start + size / divisor
            bars.append(
                {
                    "cell": label,
                    "part": part,
                    "from": start,
                    "to": end,
                    "shade": SHADES[part],
                    "size": quantity.text(size, "B"),
                }
            )
            start = end
        ends.append({"cell": label, "to": start, "text": f"{quantity.text(held.get('data'), 'B')} data"})
    y = alt.Y(
        "cell:N", title=None, sort=None, scale=alt.Scale(domain=labels, padding=0.3),
        axis=alt.Axis(
            grid=False, labelExpr=theme.expression(labels), labelLineHeight=theme.LINE_HEIGHT, labelOverlap=False
        ),
    )  # fmt: skip
    # Room for the text at the end of the longest bar.
    most = max(row["to"] for row in ends) * 1.55
    x = alt.X("from:Q", title=f"Bytes on disk ({unit})", scale=alt.Scale(domain=[0, most], nice=False))
    systems = [rows[label][0].cell.system for label in labels]
    return alt.layer(
        alt.Chart(alt.InlineData(values=bars))
        .mark_bar()
        .encode(
            y=y, x=x, x2="to:Q", color=alt.Color("cell:N", scale=theme.colours(systems, labels), legend=None),
            opacity=alt.Opacity("shade:Q", scale=None, legend=None),
            tooltip=[alt.Tooltip("cell:N"), alt.Tooltip("part:N"), alt.Tooltip("size:N")],
        ),
        alt.Chart(alt.InlineData(values=ends))
        .mark_text(align="left", dx=4)
        .encode(y=y, x=alt.X("to:Q", scale=alt.Scale(domain=[0, most], nice=False)), text="text:N"),
    ).properties(width="container", height=theme.height(labels, ROW) * len(labels))  # fmt: skip


def _alternative(rows: dict[str, tuple[Estimate, dict[str, float]]]) -> str:
    shown = [
        f"{label} {one.text()}: "
        + ", ".join(f"{quantity.text(size, 'B')} {part}" for part, size in held.items())
        for label, (one, held) in rows.items()
    ]
    return f"Bytes on disk after background work, a bar for each setup: {'; '.join(shown)}."


def table(run: Run, only: dict[str, Wanted] | None = None) -> Table | Markdown:
    """Return a row for each cell: bytes of each part, of all, and of data per row."""
    rows = parts(run, only)
    if not rows:
        return missing("The size on disk", "no valid trial of this run measured bytes on disk")
    return _table(run, rows)


def _table(run: Run, rows: dict[str, tuple[Estimate, dict[str, float]]]) -> Table:
    loaded = {one.cell.name: one.value for phase in run.loads for one in estimates(run, phase, "rows")}
    lines = []
    for label, (one, held) in rows.items():
        count = loaded.get(one.cell.name)
        each = held["data"] / count if count and "data" in held else None
        lines.append(
            [
                label,
                *(quantity.text(held.get(part), "B") for part in SHADES),
                one.text(),
                quantity.text(each, "B"),
            ]
        )
    columns = ["System", "Data", "Log", REST.capitalize(), "All", "Data per row"]
    return Table(columns, lines, numeric=frozenset(columns[1:]))
