"""A packed-day service in Python: ``benchload bars-service`` as the kind of program that QData was.

``GET /bars?stock=N&from=S&to=S`` returns the packed bars of that range; ``GET /ping`` returns whether the store
answers. It is one process with one event loop (Tornado), and reads the store through ``redis.asyncio``.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from datetime import UTC, datetime, timedelta

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

BAR_BYTES = 28
TIME = slice(2, 6)
CONNECTIONS = 96
"""Connections to the store, as many as QData had."""
DAY_SECONDS = 86400
MOST_DAYS = 366
MOST_STOCKS = 65_535


def fields(stock: int, first: int, last: int) -> list[str]:
    """Return the hash fields of a stock's weekdays in a time range.

    >>> fields(7, 1578009600, 1578355200)
    ['000007_20200103', '000007_20200106', '000007_20200107']
    """
    day = datetime.fromtimestamp(first - first % DAY_SECONDS, UTC)
    found = []
    while day.timestamp() <= last:
        if day.weekday() < 5:
            found.append(f"{stock:06d}_{day:%Y%m%d}")
        day += timedelta(days=1)
    return found


def cut(packed: bytes, first: int, last: int) -> bytes:
    """Return the packed bars of a day within a time range."""

    def time_of(bar: int) -> int:
        place = bar * BAR_BYTES
        return int.from_bytes(packed[place + TIME.start : place + TIME.stop], "little")

    begin, end = 0, len(packed) // BAR_BYTES
    while begin < end and time_of(begin) < first:
        begin += 1
    while end > begin and time_of(end - 1) > last:
        end -= 1
    return packed[begin * BAR_BYTES : end * BAR_BYTES]


class Bars(RequestHandler):
    """``GET /bars``."""

    def initialize(self, store: Redis) -> None:
        """Set the store."""
        self.store = store

    async def get(self) -> None:
        """Answer with the bars, or with an error."""
        try:
            stock, first, last = (int(self.get_query_argument(name)) for name in ("stock", "from", "to"))
        except ValueError:
            self._refuse(400, "stock, from and to must be whole numbers; times are seconds since 1970")
            return
        if not (1 <= stock <= MOST_STOCKS and 0 <= first <= last <= first + MOST_DAYS * DAY_SECONDS):
            self._refuse(
                400,
                f"stock={stock} from={first} to={last} must name a stock and a range of at most {MOST_DAYS} days",
            )
            return
        try:
            days = await self.store.hmget(f"{stock:06d}"[1:5], fields(stock, first, last))
        except RedisError as error:
            self._refuse(502, str(error))
            return
        body = b"".join(cut(day, first, last) for day in days if isinstance(day, bytes))
        if not body:
            self._refuse(404, "no bars in this range")
            return
        self.set_header("Content-Type", "application/octet-stream")
        self.write(body)

    def _refuse(self, status: int, message: str) -> None:
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(message)


class Ping(Bars):
    """``GET /ping``."""

    async def get(self) -> None:
        """Answer whether the store is reachable."""
        try:
            await self.store.ping()
        except RedisError as error:
            self._refuse(503, str(error))


async def serve(host: str, port: int, store: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    pool = BlockingConnectionPool.from_url(store, max_connections=CONNECTIONS, timeout=30)
    client = Redis(connection_pool=pool)
    application = Application([("/bars", Bars, {"store": client}), ("/ping", Ping, {"store": client})])
    server = HTTPServer(application)
    server.listen(port, host)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    server.stop()
    await client.aclose()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", required=True, help="HOST:PORT")
    parser.add_argument("--store", required=True, help="redis://HOST:PORT")
    arguments = parser.parse_args()
    host, _, port = arguments.listen.rpartition(":")
    asyncio.run(serve(host, int(port), arguments.store))


if __name__ == "__main__":
    main()
