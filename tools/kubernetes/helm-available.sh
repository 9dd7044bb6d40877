#!/usr/bin/env bash
# Succeeds where `build.sh helm` has Helm or can build it; otherwise prints the reason and fails.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

[ -d "$programs" ] || [ -d "$helm_programs" ] || PATH=$PATH:/usr/local/go/bin command -v go >/dev/null ||
  refuse 'Helm is not built, and there is no Go to build it.'
