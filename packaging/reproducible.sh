#!/bin/sh
# Builds the release binaries of this machine's platform twice, in two directories, each
# time with an empty build cache, and from two module caches. Both builds must be identical,
# byte for byte. The static binary must run in an empty root, the other one with a SoftHSM token.
# The binary with key services is left out: building the SDKs without a cache takes minutes.
set -eu
cd "$(dirname "$0")/.."
os=$(go env GOHOSTOS) arch=$(go env GOHOSTARCH)

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
packaging/release.sh "$work/one" "$os/$arch" "$os/$arch/hsm"
mkdir -p "$work/a/longer/path"
GOPROXY=file://$(go env GOMODCACHE)/cache/download GOMODCACHE=$work/modules \
  TMPDIR=$work/a/longer/path packaging/release.sh "$work/two" "$os/$arch" "$os/$arch/hsm"

for name in "countersign-$os-$arch" "countersign-hsm-$os-$arch"; do
  sha256sum "$work/one/$name" "$work/two/$name"
  cmp "$work/one/$name" "$work/two/$name"
done
go test -count=1 ./packaging -binary "$work/two/countersign-$os-$arch"
COUNTERSIGN_BINARY=$work/two/countersign-hsm-$os-$arch go test -count=1 -run '^TestHSMScripts$' ./internal/cli/keys
