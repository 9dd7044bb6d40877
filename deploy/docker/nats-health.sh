#!/bin/bash
# Health of the nats-server in this container: ends with 0 where it answers well, else with 1.
#
#   nats-health [PATH]          /healthz?js-server-only=true unless given: the server, whatever its streams wait for
#
# Its monitor listens on the loopback of the container alone, on port 8222 or NATS_MONITOR_PORT.
set -uo pipefail
exec 3<>"/dev/tcp/127.0.0.1/${NATS_MONITOR_PORT:-8222}" || exit 1
printf 'GET %s HTTP/1.0\r\n\r\n' "${1:-/healthz?js-server-only=true}" >&3
read -r -t 4 _ status _ <&3
# `docker inspect` shows what a check printed.
head -c 1000 <&3
[ "$status" = 200 ]
