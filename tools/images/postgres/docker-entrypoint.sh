#!/bin/bash
# As postgres:18 does with these variables: makes the user, its password and the database at the first start.
set -euo pipefail
: "${POSTGRES_PASSWORD:?}" "${POSTGRES_USER:=postgres}" "${POSTGRES_DB:=$POSTGRES_USER}"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") --encoding UTF8 --no-instructions
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  # Without a server, so without a client.
  postgres --single -D "$PGDATA" postgres <<<"CREATE DATABASE \"$POSTGRES_DB\""
fi
exec "$@" -k /var/run/postgresql -c listen_addresses='*'
