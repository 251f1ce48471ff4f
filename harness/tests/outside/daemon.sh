#!/bin/bash
# A server that makes itself a daemon: the script ends, and the server runs in a session of its own.
[ "$1" = run ] || exec @INFLUXD@ "$@"
(setsid @INFLUXD@ "$@" </dev/null >/dev/null 2>&1 & echo $! >>@PIDS@)
