#!/usr/bin/env bash
# Makes the Secrets of the chart helm/berth of the folder that `berth init` wrote, or brings them up to date. Prints no secret.
#
#   deploy/kubernetes/secrets.sh DIR [NAMESPACE [NAMESPACE_OF_AGENTS]]
#
# The namespaces, berth and berth-agents unless named, must be there. KUBECTL names another kubectl.
set -euo pipefail
directory=${1:?which folder did berth init write?}
namespace=${2:-berth}
agents=${3:-berth-agents}
kubectl=${KUBECTL:-kubectl}

[ -r "$directory/tls/ca.crt" ] || {
  echo "$directory is no folder of berth init: tls/ca.crt is not in it." >&2
  exit 1
}

# namespace name option…: made here and applied there, so that it can be run again.
apply() {
  local where=$1 name=$2
  shift 2
  "$kubectl" create secret generic "$name" "$@" --dry-run=client --output=yaml |
    "$kubectl" --namespace "$where" apply --server-side --force-conflicts --field-manager=berth-secrets --filename=-
}

# The last three are for whoever looks after it (docs/kubernetes.md).
for name in management-api controllers job-router migrate operator backup restore; do
  apply "$namespace" "berth-$name" --from-env-file="$directory/env/$name.env"
done
for where in "$namespace" "$agents"; do
  apply "$where" berth-authority --from-file="$directory/tls/ca.crt"
done
apply "$agents" berth-worker-agent --from-env-file="$directory/env/worker-agent.env"

brokers=(--from-file="$directory/tls/ca.crt")
for file in "$directory"/broker/broker-*.conf "$directory"/tls/broker-*.pem; do brokers+=(--from-file="$file"); done
apply "$namespace" berth-brokers "${brokers[@]}"

# Only where init was not told of another database. One Secret takes lines of a file or whole files, so each line becomes one.
if [ -r "$directory/env/postgres.env" ]; then
  lines=$(mktemp -d)
  trap 'rm -rf "$lines"' EXIT
  while IFS='=' read -r key value; do printf %s "$value" >"$lines/$key"; done <"$directory/env/postgres.env"
  apply "$namespace" berth-postgres --from-file="$lines" --from-file="$directory/tls/postgres.pem"
fi
