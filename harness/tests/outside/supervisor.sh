#!/bin/bash
# A supervisor, which starts its server again each time that it has died.
[ "$1" = run ] || exec @INFLUXD@ "$@"
trap 'kill "$server"; wait "$server"; exit 0' TERM INT
while :; do
  @INFLUXD@ "$@" &
  server=$!
  echo "$server" >@PIDS@
  wait "$server"
done
