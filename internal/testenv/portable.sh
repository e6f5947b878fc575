#!/bin/sh
# Runs tests as code for other processors, as far as this machine can: for 386,
# where an int has 32 bits, and for arm64 under QEMU's user emulation. What cannot
# be run here is said. Tests for the released system that is not Linux are shown to
# the compiler only.
set -eu
cd "$(dirname "$0")/../.."
export CGO_ENABLED=0

echo "portable: go vet for darwin/arm64" >&2
GOOS=darwin GOARCH=arm64 go vet ./...

# runs ARCHITECTURE [EMULATOR]: whether a test program for it does.
runs() { GOARCH=$1 go test -run '^$' ${2:+-exec "$2"} ./internal/psbt >/dev/null 2>&1; }

# Without the packages that test other programs.
if runs 386; then
  echo "portable: go test for 386" >&2
  GOARCH=386 go test $(go list ./... | grep -vE '/(bench|interop|packaging)(/|$)')
else
  echo "portable: no code for 386 runs here: left out" >&2
fi

# QEMU runs a test program, but the kernel none that the test starts: so not the
# packages that kill writers and drive the command.
if runs arm64 qemu-aarch64; then
  echo "portable: go test for arm64 under QEMU" >&2
  GOARCH=arm64 go test -exec qemu-aarch64 -skip '^Test(Message)?Faults(AreNoticed)?$' ./chains/... ./activity ./stamp ./otp \
    ./internal/strictjson ./keystore ./keystore/internal/... ./keystore/keyformat ./keystore/memory ./keystore/wallet
else
  echo "portable: no code for arm64 runs here (Debian's package qemu-user): left out" >&2
fi
