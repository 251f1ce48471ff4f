"""Opens pages in headless Chromium and returns what the page itself says of errors, requests, charts and width.

A small server on loopback hands out the folder and puts a probe into each page; every other host is blocked. The
probe waits until all charts are drawn, or long enough, and writes what it found into the document.
"""

from __future__ import annotations

import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--enable-logging=stderr", "--v=0", "--virtual-time-budget=30000",
)  # fmt: skip
TIMEOUT_SECONDS = 120
ATTEMPTS = 3
"""On a busy machine, the browser's virtual time may end before the page does."""
EARLY = """<script>
window.probed = [];
addEventListener("error", (event) => probed.push(String(event.message || event.target?.src || event.type)), true);
addEventListener("unhandledrejection", (event) => probed.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => probed.push("refused " + event.blockedURI));
for (const name of ["error", "warn"]) {
  const said = console[name].bind(console);
  console[name] = (...words) => { probed.push(name + ": " + words.join(" ")); said(...words); };
}
</script>"""
LATE = """<script>
const marks = "path, rect, circle, line, text";
const drawn = (figure) => figure.classList.contains("is-live") && figure.querySelector(".bb-live svg");
const settled = () => new Promise((resolve) => setTimeout(resolve, 60));
const pressed = async (figure) => {
  const saved = [], what = figure.querySelector(".bb-what");
  // Reading a Blob takes real time, which the browser's virtual time does not wait for: keep the text.
  const Whole = window.Blob;
  window.Blob = function (parts, options) {
    return Object.assign(new Whole(parts, options), { whole: parts.join("") });
  };
  URL.createObjectURL = (blob) => { saved.push(blob.whole); return "blob:probe"; };
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  const ticks = () => figure.querySelector(".bb-live svg")?.textContent;
  const points = () => figure.querySelectorAll(".bb-live .mark-symbol path, .bb-live .mark-line path").length;
  const found = {
    said: [what?.textContent], ticks: [ticks()], files: {}, rows: figure.querySelectorAll("tr").length, chips: [],
  };
  for (const button of figure.querySelectorAll(".bb-tools button")) {
    const before = points();
    button.click();
    if (button.classList.contains("bb-chip")) {
      await settled(); const hidden = [points(), button.getAttribute("aria-pressed")];
      button.click();
      await settled(); found.chips.push([before, ...hidden, points(), button.getAttribute("aria-pressed")]);
    }
    if (!button.textContent.endsWith("axis")) continue;
    await settled(); found.said.push(what.textContent); found.ticks.push(ticks());
    button.click();
    await settled(); found.said.push(what.textContent); found.ticks.push(ticks());
  }
  for (let at = 0; at < saved.length; at += 2) found.files[saved[at + 1]] = saved[at];
  window.Blob = Whole;
  return found;
};
const tell = async () => {
  const root = document.documentElement;
  const told = {
    errors: probed,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    charts: [...document.querySelectorAll(".bb-figure:not([hidden])")].map((figure) => ({
      title: figure.querySelector("figcaption").textContent,
      live: Boolean(drawn(figure)),
      marks: figure.querySelectorAll(".bb-live .mark-rect path, .bb-live .mark-symbol path, .bb-live .mark-line path, "
        + ".bb-live .mark-rule line, .bb-live .mark-area path").length,
      width: figure.getBoundingClientRect().width,
      svg: figure.querySelector(".bb-live svg")?.getBoundingClientRect().right ?? 0,
    })),
    tools: [],
    viewport: innerWidth,
    content: root.scrollWidth,
    wide: [...document.querySelectorAll("main *")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".bb-table, pre, svg"))
      .slice(0, 5).map((one) => one.tagName + "." + one.className),
  };
  const press = parent.location.search.endsWith("&press");
  const figures = press ? document.querySelectorAll(".bb-figure:not([hidden])") : [];
  for (const figure of figures) told.tools.push(await pressed(figure));
  parent.document.documentElement.setAttribute("data-probe", JSON.stringify(told));
};
addEventListener("load", () => {
  const begun = Date.now();
  const look = () => {
    const figures = [...document.querySelectorAll(".bb-figure:not([hidden])")];
    if (figures.every(drawn) || Date.now() - begun > 25000) setTimeout(tell, 300);
    else setTimeout(look, 100);
  };
  look();
});
</script>"""

FRAME = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body style="margin:0">
<iframe src="{page}" style="border:0;width:{width}px;height:2000px"></iframe></body></html>"""
"""A page in a frame: a window of Chromium is never narrower than 500 pixels."""


@dataclass(frozen=True)
class Visit:
    """Facts of a page, and the messages and requests of the browser."""

    errors: list[str]
    requests: list[str]
    charts: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    """For each chart whose buttons were pressed: the files that they save, and what the button of the axis changes."""
    viewport: int
    content: int
    wide: list[str]
    console: list[str]


def program() -> str | None:
    """Return the path of Chromium, or None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def need() -> None:
    """Skip the test, by the name of what is missing, where there is no Chromium."""
    if program() is None:
        pytest.skip("there is no chromium on PATH (Debian: apt-get install chromium)")


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Hands out files, with the probe inside each page."""

    def do_GET(self) -> None:
        place, _, width = self.path.partition("?width=")
        if width:
            self._page(FRAME.format(width=int(width.removesuffix("&press")), page=place))
            return
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        page = path.read_text(encoding="utf-8")
        before, _, after = page.replace("<head>", f"<head>{EARLY}", 1).rpartition("</body>")
        self._page(f"{before}{LATE}</body>{after}")

    def _page(self, page: str) -> None:
        content = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the browser's log names missing files."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on a free loopback port for the length of a block; gives its address."""
    handler = functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def dump(address: str, width: int) -> tuple[str, str]:
    """Open an address at a width in pixels; return the document as it is then, and the browser's log."""
    chromium = program()
    assert chromium is not None
    with tempfile.TemporaryDirectory(prefix="benchbook-browser-") as profile:
        command = [
            chromium,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={max(width, 500)},2000",
            "--dump-dom",
            address,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    return done.stdout, done.stderr


def visit(address: str, width: int, *, press: bool = False) -> Visit:
    """Open a page of ``serving``, ``press`` the buttons of its charts, and return what it says of itself."""
    for _ in range(ATTEMPTS):
        document, log = dump(f"{address}?width={width}{'&press' if press else ''}", width)
        found = re.search(r'data-probe="([^"]*)"', document)
        if found:
            break
    assert found, f"{address} did not come to its end: {log[-2000:]}"
    told = json.loads(html.unescape(found[1]))
    console = [line for line in log.splitlines() if "CONSOLE" in line]
    return Visit(**told, console=console)
