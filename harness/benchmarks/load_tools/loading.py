"""Measure loading into the null server: a file, raw and compressed, and rows generated while they are sent."""

from __future__ import annotations

from collections.abc import Iterator

from table import Line, versus
from work import Work, has, middle, paired, received, run


def lines(work: Work) -> Iterator[Line]:
    """Compare with bulk_load_influx. The server does not decompress, so that only clients count."""
    plain, sized, rows = work.iot_file()
    there = has("bulk_load_influx")
    for zipped, target in ((False, 3.0), (True, 2.0)):
        for workers in (1, 8):
            with work.server("--sealed" if zipped else "") as url:
                ours, theirs = paired(
                    work,
                    f"{work.benchload} load {work.iot()} --file {plain} --target influx --url {url} --append "
                    f"--workers {workers} --batch-rows 5000 {'--gzip' if zipped else ''}",
                    f"bulk_load_influx -urls {url} -db x -file {sized} -workers {workers} -batch-size 5000 "
                    f"-gzip={str(zipped).lower()} -do-db-create=false -do-abort-on-exist=false"
                    if there
                    else None,
                )
                sent = received(url)
            expected = 0 if zipped else rows * (len(ours) + len(theirs))
            if sent != expected:
                raise SystemExit(f"{sent} rows arrived, {expected} were expected: a tool did not send all.")
            what = f"load a file, {workers} {'worker' if workers == 1 else 'workers'}{', gzip' if zipped else ''}"
            peer = rows / middle(theirs, "wall") if theirs else None
            yield versus(what, "rows/s", rows / middle(ours, "wall"), "bulk_load_influx", peer, target)
            cost, limit = middle(ours, "cpu") / rows * 1e6, 0.15
            shown = (
                f"bulk_load_influx {middle(theirs, 'cpu') / rows * 1e6:.3f}"
                if theirs
                else "bulk_load_influx missing"
            )
            if zipped:
                yield Line(f"{what}, client CPU", f"{cost:.3f} CPU-s/M rows", shown)
            else:
                yield Line(
                    f"{what}, client CPU", f"{cost:.3f} CPU-s/M rows", shown, "", f"≤ {limit}", cost <= limit
                )


def on_the_fly(work: Work) -> Iterator[Line]:
    """Compare with generate_data piped into load_influx."""
    rows, _ = work.counted(work.iot())
    there = has("generate_data") and has("load_influx")
    with work.server() as url:
        generate = work.iot().replace("iot --seed", "--use-case iot --format influx --seed")
        generate = generate.replace("--start", "--timestamp-start").replace("--end", "--timestamp-end")
        generate = generate.replace("--interval", "--log-interval")
        theirs = (
            f"generate_data {generate} | load_influx --urls {url} --db-name x --workers 2 --batch-size 5000 "
            f"--gzip=false --do-create-db=false --do-abort-on-exist=false"
        )
        ours_runs, peer_runs = paired(
            work, f"{work.benchload} load {work.iot()} --target influx --url {url} --append --workers 2",
            theirs if there else None,
        )  # fmt: skip
        before = received(url)
        if there:
            run(theirs)
        peer = (received(url) - before) / middle(peer_runs, "wall") if there else None
    ours = rows / middle(ours_runs, "wall")
    yield versus("generate and load on the fly", "rows/s", ours, "generate_data into load_influx", peer, 8)
