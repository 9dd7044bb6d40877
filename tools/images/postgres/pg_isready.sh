#!/bin/bash
# The part of pg_isready that deploy/compose uses: ends with 0 where the server at --host takes connections.
#
#   pg_isready --host=ADDRESS --username=USER [other options, which change nothing]
set -uo pipefail
for option in "$@"; do
  case $option in
    --host=*) host=${option#*=} ;;
    --username=*) user=${option#*=} ;;
  esac
done
exec 3<>"/dev/tcp/$host/5432" || exit 2
# The first message of protocol 3.0: its length, the version, and pairs of words that each end with a zero.
length=$((4 + 4 + 5 + ${#user} + 1 + 1))
printf '\0\0\0\x'"$(printf %02x "$length")"'\0\3\0\0user\0%s\0\0' "$user" >&3
# How to log in, or why it cannot be: it starts, or it ends.
LC_ALL=C read -r -t 3 -N 1 kind <&3
[ "$kind" = R ]
