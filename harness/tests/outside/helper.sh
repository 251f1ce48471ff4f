#!/bin/bash
# A server that leaves a helper behind, in a session of its own.
[ "$1" = run ] || exec @INFLUXD@ "$@"
(setsid sleep 900 </dev/null >/dev/null 2>&1 & echo $! >>@PIDS@)
exec @INFLUXD@ "$@"
