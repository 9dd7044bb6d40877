#!/usr/bin/env bash
# Makes an image in the engine of DOCKER_HOST, without any image registry: a minimal Debian from the mirror that this
# machine's own apt uses. Needs root and debootstrap.
#
#   tools/engine/base-image.sh [python]   berth/python-base:bookworm, with Python, and iptables for agents
#   tools/engine/base-image.sh debian     berth/debian-base:bookworm, without manuals and translations
#   tools/engine/base-image.sh KIND amd64 | arm64
#                                         for that architecture; where it is not this machine's, the tag ends in -amd64 or
#                                         -arm64, and the kernel has to know an emulator: `apt-get install qemu-user-static`
#
# The file system is built once (45 s) and kept in ${XDG_CACHE_HOME:-~/.cache}/berth; after that it is loaded (4 s).
# Whatever certificates this machine trusts, the image trusts too, or nothing could be installed behind a proxy that
# signs for itself.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

kind=${1:-python}
release=bookworm
own=$(dpkg --print-architecture)
architecture=${2:-$own}
image=berth/$kind-base:$release
[ "$architecture" = "$own" ] || image=$image-$architecture
unwanted=()
case $kind in
  python) packages=python3,python3-venv,ca-certificates,iptables command='["python3"]' ;;
  debian)
    packages=ca-certificates command='["bash"]'
    unwanted=(usr/share/man usr/share/info usr/share/locale usr/share/groff usr/share/lintian)
    ;;
  *) echo "There is no base image $kind: python, debian." >&2; exit 2 ;;
esac
bundle=etc/ssl/certs/ca-certificates.crt

cache=${XDG_CACHE_HOME:-$HOME/.cache}/berth
mkdir -p "$cache"
recipe=$(printf '%s %s' "$release" "$packages" | sha256sum | cut -c 1-12)
root_file=$cache/$kind-base-$release-$architecture-$recipe.tar.gz
work=$(mktemp -d "${TMPDIR:-/tmp}/berth-base-image-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# The address in the sources that serve this release; known before the first `apt-get update`.
mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
    awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }'
}

build_root() {
  local from proxy=
  from=${BERTH_DEBIAN_MIRROR:-$(mirror)}
  if [ -z "$from" ]; then
    echo "No apt source of this machine serves Debian $release; BERTH_DEBIAN_MIRROR may name a mirror." >&2
    exit 1
  fi
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if [ -n "$proxy" ]; then export http_proxy=${http_proxy:-$proxy}; fi
  echo "Building a Debian $release for $architecture with $packages, once; this takes about a minute." >&2
  if ! debootstrap --arch "$architecture" --variant=minbase --include="$packages" "$release" "$work/root" "$from" >"$work/log" 2>&1; then
    tail -20 "$work/log" >&2
    exit 1
  fi
  local folder
  for folder in "${unwanted[@]}"; do rm -rf "$work/root/$folder"/*; done
  # Whose work it is and under which licence stays.
  [ "$kind" = python ] || find "$work/root/usr/share/doc" ! -type d ! -name copyright -delete
  tar --create --directory "$work/root" --numeric-owner \
    --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./var/log/*' \
    --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude="./$bundle" . | gzip -1 >"$root_file.$$"
  cp "$work/root/$bundle" "$root_file.certificates"
  mv "$root_file.$$" "$root_file"
  rm -rf --one-file-system "$work/root"
}

# Debian's certificates, then the machine's, then whatever this shell's programs were told to trust besides.
trusted() {
  local file
  for file in "$root_file.certificates" "/$bundle" "${SSL_CERT_FILE:-}" "${PIP_CERT:-}" "${REQUESTS_CA_BUNDLE:-}" "${NODE_EXTRA_CA_CERTS:-}"; do
    if [ -f "$file" ]; then realpath "$file"; fi
  done | awk '!seen[$0]++' | while read -r file; do
    cat "$file"
    echo
  done
}

# One at a time: others wait here and then find the file.
exec 9>"$cache/base-image.lock"
flock 9
[ -e "$root_file" ] || build_root

mkdir -p "$work/more/${bundle%/*}"
trusted >"$work/more/$bundle"
content=$recipe-$(sha256sum <"$work/more/$bundle" | cut -c 1-12)
if [ "$(docker image inspect --format '{{index .Config.Labels "berth.content"}}' "$image" 2>/dev/null)" = "$content" ]; then
  echo "$image is up to date."
  exit 0
fi
gzip -dc "$root_file" >"$work/root.tar"
# Left out of the file above, because an engine refuses a path that occurs twice.
tar --append --file "$work/root.tar" --directory "$work/more" --numeric-owner --owner 0 --group 0 "./$bundle"
# A newer pip than Debian's brings certificates of its own and would not look at the system's.
# Loaded, not imported: an older engine takes whatever it imports for its own architecture.
"${BASH_SOURCE[0]%/*}/../kubernetes/image.sh" "$work/image.tar" "$image" "$work/root.tar" \
  "{\"Labels\":{\"berth.content\":\"$content\"},\"Env\":[\"PIP_CERT=/$bundle\"],\"Cmd\":$command}" "$architecture"
rm "$work/root.tar"
docker load --quiet --input "$work/image.tar" >/dev/null
echo "$image is ready."
