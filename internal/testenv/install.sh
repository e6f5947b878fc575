#!/bin/sh
# Installs what tests need beyond Go, through the system's package manager where
# it can. What cannot be had is said, and the tests that need it say so too
# when they are left out. With COUNTERSIGN_REQUIRE=all that is a failure.
set -u
cd "$(dirname "$0")/../.." || exit 1

missing=0
lacking() {
  echo "testenv: $1: its tests are left out" >&2
  missing=1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

# package DEBIAN FEDORA ALPINE BREW: tries to install a package.
updated=
package() {
  if command -v apt-get >/dev/null; then
    [ -n "$updated" ] || as_root apt-get -q update >/dev/null 2>&1
    updated=1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $1 >/dev/null 2>&1
  elif command -v dnf >/dev/null; then as_root dnf -qy install $2 >/dev/null 2>&1
  elif command -v apk >/dev/null; then as_root apk add -q $3 >/dev/null 2>&1
  elif command -v brew >/dev/null; then brew install -q $4 >/dev/null 2>&1
  fi
}

# system TOOL DEBIAN FEDORA ALPINE BREW: a command, and the package that has it.
system() {
  command -v "$1" >/dev/null && return
  package "$2" "$3" "$4" "$5"
  command -v "$1" >/dev/null || lacking "$1 is not installed and could not be"
}

system age age age age age
[ "$(uname)" != Linux ] || system systemd-analyze systemd systemd "" ""
system groff groff groff groff groff
system curl curl curl curl curl
system jq jq jq jq jq
system openssl openssl openssl openssl openssl
system softhsm2-util softhsm2 softhsm softhsm softhsm
system node "nodejs npm" nodejs nodejs node
system npm npm npm npm node

# Debian keeps the programs of PostgreSQL's server out of PATH.
postgresql() { command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
postgresql || package postgresql postgresql-server postgresql postgresql
postgresql || lacking "PostgreSQL is not installed and could not be"

# The npm packages of interop/, as the lock file has them.
if command -v npm >/dev/null; then
  stamp=interop/node_modules/.countersign-lock
  if ! cmp -s interop/package-lock.json "$stamp" 2>/dev/null; then
    echo "testenv: installing the npm packages of interop/" >&2
    if (cd interop && npm ci --loglevel=error >&2); then
      cp interop/package-lock.json "$stamp"
    else
      lacking "the npm packages of interop/ could not be installed"
    fi
  fi
fi

[ "$missing" = 0 ] || [ "${COUNTERSIGN_REQUIRE:-}" != all ]
