#!/bin/bash
# Health of the process of Berth in this container: ends with 0 where its operations port answers well, else with 1.
#
#   berth-health [/healthz | /readyz]
#
# /healthz, the default, tells whether it is alive; /readyz whether what it depends on is there, too. No program is started
# for it, since every container is asked every few seconds.
set -uo pipefail
# Whoever listens everywhere is asked on the loopback; another address is the only one where it listens.
case ${BERTH_HTTP_HOST:-} in
  '' | 0.0.0.0 | ::) address=127.0.0.1 ;;
  *) address=$BERTH_HTTP_HOST ;;
esac
exec 3<>"/dev/tcp/$address/$BERTH_OPERATIONS_PORT" || exit 1
printf 'GET %s HTTP/1.0\r\n\r\n' "${1:-/healthz}" >&3
read -r -t 4 _ status _ <&3
# `docker inspect` shows what a check printed.
head -c 1000 <&3
[ "$status" = 200 ]
