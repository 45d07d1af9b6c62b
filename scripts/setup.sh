#!/usr/bin/env bash
# setup.sh [build] [test] [lint] [venv]: installs what is missing of these sections of apt.txt, and makes the virtual
# environment build/venv with the newest Python of the machine and the packages of tests/requirements.txt. Does nothing
# when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

section() { awk -v want="[$1]" '/^\[/ { on = ($0 == want); next } on && NF && !/^#/' apt.txt; }

# A package counts as there when dpkg knows it; the programs also when they came from elsewhere.
missing_packages() {
  local package
  for package in "$@"; do
    case $package in
      g++ | cmake | make | ccache | pkg-config | clang-format | clang-tidy) command -v "$package" > /dev/null && continue ;;
      ninja-build) command -v ninja > /dev/null && continue ;;
    esac
    dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query > /dev/null; then
    echo "setup: no dpkg here; these Debian packages (or their like) are taken to be installed: $*"
    return
  fi
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  local -a as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "setup: please install as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# The newest interpreter that can make a virtual environment and has its C headers.
find_python() {
  local candidate
  for candidate in \
    python3.13 ~/.pyenv/versions/3.13*/bin/python3.13 python3.12 ~/.pyenv/versions/3.12*/bin/python3.12 \
    python3.11 ~/.pyenv/versions/3.11*/bin/python3.11 python3; do
    if "$candidate" -c 'import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 11) and os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2> /dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  echo "setup: no Python of version 3.11 or newer with its headers (apt-get install python3-dev python3-venv)" >&2
  exit 1
}

make_venv() {
  local venv=build/venv wanted
  wanted=$(sha256sum tests/requirements.txt | cut -d ' ' -f 1)
  [ -x $venv/bin/python ] && [ "$(cat $venv/requirements.sha256 2> /dev/null)" = "$wanted" ] && return
  if [ ! -x $venv/bin/python ]; then
    local python
    python=$(find_python)
    echo "setup: making $venv with $("$python" -V)"
    "$python" -m venv $venv
  fi
  $venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
  echo "$wanted" > $venv/requirements.sha256
}

packages=()
for part in "$@"; do
  [ "$part" = venv ] || mapfile -t -O ${#packages[@]} packages < <(section "$part")
done
[ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}"
for part in "$@"; do [ "$part" != venv ] || make_venv; done
