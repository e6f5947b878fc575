#!/bin/sh
# Runs the tests for other architectures, if this machine can: for 386, where an int has
# 32 bits, and for arm64 under QEMU's user emulation. It says what cannot run. For
# darwin/arm64 it only runs go vet.
#
#   portable.sh 386    only the fast tests for 386
set -eu
cd "$(dirname "$0")/../.."
export CGO_ENABLED=0

# runs ARCHITECTURE [EMULATOR]: whether a test program for it runs.
runs() { GOARCH=$1 go test -run '^$' ${2:+-exec "$2"} ./internal/psbt >/dev/null 2>&1; }

# tests386 ARG…: runs go test for 386.
tests386() {
  if runs 386; then
    echo "portable: go test for 386" >&2
    GOARCH=386 go test -timeout 60m "$@"
  else
    echo "portable: cannot run code for 386: skipped" >&2
  fi
}

# Packages that test other programs are excluded.
narrow=$(go list ./... | grep -vE '/(bench|interop|packaging)(/|$)')

if [ "${1:-}" = 386 ]; then
  tests386 -short $narrow
  exit
fi

echo "portable: go vet for darwin/arm64" >&2
GOOS=darwin GOARCH=arm64 go vet ./...

tests386 $narrow

# Under QEMU a test cannot start other programs of its architecture: packages that do are
# excluded.
if runs arm64 qemu-aarch64; then
  echo "portable: go test for arm64 under QEMU" >&2
  GOARCH=arm64 go test -timeout 60m -exec qemu-aarch64 -skip '^Test(Message)?Faults(AreNoticed)?$' ./chains/... ./activity ./stamp ./otp ./internal/otpledger \
    ./internal/strictjson ./keystore ./keystore/internal/... ./keystore/keyformat ./keystore/memory ./keystore/wallet
else
  echo "portable: cannot run code for arm64 (install Debian's package qemu-user): skipped" >&2
fi
