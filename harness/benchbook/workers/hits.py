"""ClickBench: the columns of its table, its 43 questions in each dialect, and what is compared of their answers.

``hits.sql`` has the publication's statements, one a line. Where ties leave the order of rows open, a comment completes
it. The timed statement lacks the comment; systems are compared by the answers to the completed statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.workers.engine import Row, Specification
from benchbook.workers.questions import QuestionSet

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = "hits"
SQL = {
    f"q{number}": text
    for number, text in enumerate(Path(__file__).with_suffix(".sql").read_text().splitlines(), 1)
}
"""Question → the publication's statement for DuckDB, with what completes its order in a comment."""
ADAPTED: dict[str, dict[str, str]] = {
    "duckdb": {},
    # chDB adds whole numbers in 64 bits, and the sum of all users needs more.
    "chdb": {"STRLEN(": "length(", "AVG(UserID)": "AVG(toFloat64(UserID))"},
    "polars": {"STRLEN(": "LENGTH("},
    "postgresql": {"STRLEN(": "length("},
    "sqlite": {
        "STRLEN(": "length(",
        "extract(minute FROM EventTime)": "strftime('%M', EventTime)",
        r"REGEXP_REPLACE(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1')": (
            "iif(host LIKE 'www.%', substr(host, 5), host)"
        ),
        "FROM hits WHERE Referer <> '' GROUP": (
            "FROM (SELECT Referer, substr(rest, 1, instr(rest, '/') - 1) AS host FROM (SELECT Referer, "
            "substr(Referer, instr(Referer, '://') + 3) AS rest FROM hits WHERE Referer <> '')) GROUP"
        ),
        "DATE_TRUNC('minute', EventTime)": "strftime('%Y-%m-%d %H:%M:00', EventTime)",
    },
}
"""Dialect → text of the publication's statement → its text in the dialect; the only differences between systems."""
COMPLETED = {"sqlite": {"strftime('%M', EventTime)": "CAST(strftime('%M', EventTime) AS INTEGER)"}}
"""Dialect → text of the timed statement → its text in the completed one; SQLite's minutes of q19 are texts."""
LARGE_GROUP = "100000"
"""Rows above which q28 and q29 list a group of the publication's 100 million; here the same share of the rows."""

COLUMNS: dict[str, str] = dict(
    re.findall(
        r"(\w+) (\w+)",
        """
    WatchID BIGINT, JavaEnable SMALLINT, Title TEXT, GoodEvent SMALLINT, EventTime TIMESTAMP, EventDate DATE,
    CounterID INTEGER, ClientIP INTEGER, RegionID INTEGER, UserID BIGINT, CounterClass SMALLINT, OS SMALLINT,
    UserAgent SMALLINT, URL TEXT, Referer TEXT, IsRefresh SMALLINT, RefererCategoryID SMALLINT,
    RefererRegionID INTEGER, URLCategoryID SMALLINT, URLRegionID INTEGER, ResolutionWidth SMALLINT,
    ResolutionHeight SMALLINT, ResolutionDepth SMALLINT, FlashMajor SMALLINT, FlashMinor SMALLINT, FlashMinor2 TEXT,
    NetMajor SMALLINT, NetMinor SMALLINT, UserAgentMajor SMALLINT, UserAgentMinor TEXT, CookieEnable SMALLINT,
    JavascriptEnable SMALLINT, IsMobile SMALLINT, MobilePhone SMALLINT, MobilePhoneModel TEXT, Params TEXT,
    IPNetworkID INTEGER, TraficSourceID SMALLINT, SearchEngineID SMALLINT, SearchPhrase TEXT, AdvEngineID SMALLINT,
    IsArtifical SMALLINT, WindowClientWidth SMALLINT, WindowClientHeight SMALLINT, ClientTimeZone SMALLINT,
    ClientEventTime TIMESTAMP, SilverlightVersion1 SMALLINT, SilverlightVersion2 SMALLINT,
    SilverlightVersion3 INTEGER, SilverlightVersion4 SMALLINT, PageCharset TEXT, CodeVersion INTEGER, IsLink SMALLINT,
    IsDownload SMALLINT, IsNotBounce SMALLINT, FUniqID BIGINT, OriginalURL TEXT, HID INTEGER, IsOldCounter SMALLINT,
    IsEvent SMALLINT, IsParameter SMALLINT, DontCountHits SMALLINT, WithHash SMALLINT, HitColor TEXT,
    LocalEventTime TIMESTAMP, Age SMALLINT, Sex SMALLINT, Income SMALLINT, Interests SMALLINT, Robotness SMALLINT,
    RemoteIP INTEGER, WindowName INTEGER, OpenerName INTEGER, HistoryLength SMALLINT, BrowserLanguage TEXT,
    BrowserCountry TEXT, SocialNetwork TEXT, SocialAction TEXT, HTTPError SMALLINT, SendTiming INTEGER,
    DNSTiming INTEGER, ConnectTiming INTEGER, ResponseStartTiming INTEGER, ResponseEndTiming INTEGER,
    FetchTiming INTEGER, SocialSourceNetworkID SMALLINT, SocialSourcePage TEXT, ParamPrice BIGINT, ParamOrderID TEXT,
    ParamCurrency TEXT, ParamCurrencyID SMALLINT, OpenstatServiceName TEXT, OpenstatCampaignID TEXT, OpenstatAdID TEXT,
    OpenstatSourceID TEXT, UTMSource TEXT, UTMMedium TEXT, UTMCampaign TEXT, UTMContent TEXT, UTMTerm TEXT,
    FromTag TEXT, HasGCLID SMALLINT, RefererHash BIGINT, URLHash BIGINT, CLID INTEGER
        """,
    )
)
"""Column → its type in the publication; TEXT also for its two columns of other text types."""
NUMBERS = tuple(name for name, kind in COLUMNS.items() if kind != "TEXT")
"""Columns that are not text: the fields of benchload's table."""
DDL = ", ".join(f"{name} {kind} NOT NULL" for name, kind in COLUMNS.items())
KEY = "PRIMARY KEY (CounterID, EventDate, UserID, EventTime, WatchID)"
"""The key of the publication's tables in SQLite and chDB."""


def typed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch of benchload with the publication's columns in their order and with their types."""
    import pyarrow as pa

    types = {
        "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64(), "TEXT": pa.string(),
        "TIMESTAMP": pa.timestamp("s"), "DATE": pa.int32(),
    }  # fmt: skip
    columns = []
    for name, kind in COLUMNS.items():
        column = batch.column(name).cast(types[kind])
        columns.append(column.cast(pa.date32()) if kind == "DATE" else column)
    return pa.RecordBatch.from_arrays(columns, list(COLUMNS))


def statement(specification: Specification, dialect: str, *, complete: bool = False) -> str:
    """Return a question in a dialect; ``complete`` also makes the answers of all systems comparable."""
    text = re.sub(r" ?/\*(.*?)\*/", r"\1" if complete else "", SQL[specification.form])
    completed = COMPLETED.get(dialect, {}) if complete else {}
    for published, adapted in (ADAPTED[dialect] | completed).items():
        text = text.replace(published, adapted)
    return text.replace(LARGE_GROUP, f"{specification.limit:.0f}")


def compared(answer: Sequence[Sequence[Any]]) -> list[Row]:
    """Return the number of rows of an answer and every value; times become text."""
    found: list[Row] = [(0, "rows", len(answer))]
    for place, row in enumerate(answer):
        for column, value in enumerate(row):
            plain = value if isinstance(value, int | float | str) else str(value)
            found.append((place, f"column {column}", plain))
    return found


questions = QuestionSet(
    tables=(TABLE,),
    dialects=frozenset(ADAPTED),
    text=lambda asked, dialect: statement(asked, dialect, complete=asked.compared),
    compared=lambda _, answer: compared(answer),
    columns=DDL,
    key=KEY,
    numbers=NUMBERS,
    convert=typed,
)
