#!/bin/bash
# A start script that waits beside its server, which runs in a session of its own and gets no signal from it.
[ "$1" = run ] || exec @INFLUXD@ "$@"
(setsid @INFLUXD@ "$@" </dev/null >/dev/null 2>&1 & echo $! >>@PIDS@)
exec sleep 10000
