#!/usr/bin/env bash
# Prints the Python interpreter of a virtual environment with pinned packages, which is made where it is not there yet.
#
#   libs/testing/src/python/make-environment.sh FOLDER NAME==VERSION…
#
# Environments, uv, which makes them, and what uv has downloaded are kept in FOLDER. Whoever asks for an environment that
# another process is making waits for it. One without its mark was not finished: it is removed and made again.
set -euo pipefail

UV=0.13.9
STEP_S=300
WAIT_S=600
half_made=''

# uv reads nothing of what pip is told about indexes, and would ask another one, or none.
pip_setting() { # name
  local line
  line=$(grep -E "\.$1=" <<<"$pip_settings" | tail -n 1) || return 0
  line=${line#*=?}
  printf '%b\n' "${line%?}" | xargs
}

tell_uv_what_pip_knows() {
  local pip_settings index more_indexes links='' link certificates hosts
  pip_settings=$("$uv_folder/bin/python" -m pip config list)
  index=$(pip_setting index-url) more_indexes=$(pip_setting extra-index-url)
  certificates=$(pip_setting cert) hosts=$(pip_setting trusted-host)
  # pip passes over a folder that is not there; uv fails.
  for link in $(pip_setting find-links); do
    if [[ $link == *://* || -e $link ]]; then links+=${links:+,}$link; fi
  done
  if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
  # Of several indexes pip takes the latest version that one has.
  if [ -n "$more_indexes" ]; then export UV_INDEX=$more_indexes UV_INDEX_STRATEGY=unsafe-best-match; fi
  if [ -n "$links" ]; then export UV_FIND_LINKS=$links; fi
  if [ -n "$certificates" ]; then export SSL_CERT_FILE=$certificates; fi
  if [ -n "$hosts" ]; then export UV_INSECURE_HOST=$hosts; fi
  export UV_CACHE_DIR=$cache/downloads UV_HTTP_TIMEOUT=$STEP_S UV_PYTHON_DOWNLOADS=never
}

is_whole() { # environment
  [ -e "$1/berth-complete" ] && [ -x "$1/bin/python" ]
}

step() {
  timeout --kill-after 5 "$STEP_S" "$@" >&2
}

make_uv() {
  step python3 -m venv "$uv_folder"
  step "$uv_folder/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$UV"
}

make_environment() {
  tell_uv_what_pip_knows
  step "$uv_folder/bin/uv" venv --quiet --python "$uv_folder/bin/python" "$environment"
  step "$uv_folder/bin/uv" pip install --quiet --compile-bytecode --python "$environment/bin/python" "$@"
}

# Only one process makes it. The lock goes with the last program that was started here: none of them outlives it.
make_once() { # folder command…
  local folder=$1
  shift
  if is_whole "$folder"; then return 0; fi
  exec 9>"$folder.lock"
  flock --wait "$WAIT_S" 9 || { echo "$folder: another process has been making it for $WAIT_S s" >&2; return 1; }
  if ! is_whole "$folder"; then
    rm -rf "$folder"
    half_made=$folder
    "$@"
    touch "$folder/berth-complete"
    half_made=''
  fi
  exec 9>&-
}

main() {
  [ $# -ge 2 ] || { echo "Usage: $0 FOLDER NAME==VERSION…" >&2; exit 2; }
  local cache=$1 uv_folder environment name
  shift
  # Another Python than the one that made an environment does not find what is in it.
  cache+=/$(python3 -c 'import sys; print(sys.implementation.cache_tag)')
  name=$(IFS=+ && echo "$*")
  uv_folder=$cache/uv-$UV environment=$cache/${name//==/-}
  mkdir -p "$cache"
  trap '[ -z "$half_made" ] || rm -rf "$half_made"' EXIT
  trap 'exit 1' INT TERM HUP
  make_once "$uv_folder" make_uv
  make_once "$environment" make_environment "$@"
  echo "$environment/bin/python"
}

main "$@"
