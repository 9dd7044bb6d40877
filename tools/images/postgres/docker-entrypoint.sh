#!/bin/bash
# As postgres:18 does with these variables: makes the user, its password and the database at the first start.
set -euo pipefail
: "${POSTGRES_PASSWORD:?}" "${POSTGRES_USER:=postgres}" "${POSTGRES_DB:=$POSTGRES_USER}"
socket=/var/run/postgresql

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") --encoding UTF8 --no-instructions
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --pgdata "$PGDATA" --options "-c listen_addresses='' -k $socket" --wait start
  psql --host "$socket" --username "$POSTGRES_USER" --dbname postgres --command "CREATE DATABASE \"$POSTGRES_DB\""
  pg_ctl --pgdata "$PGDATA" --mode fast --wait stop
fi
exec "$@" -k "$socket" -c listen_addresses='*'
