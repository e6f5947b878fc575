#!/bin/sh
# Builds the released binary of this machine's platform twice, in two places,
# the second time with an empty build cache, so that it takes nothing from the
# first: both must be the same, byte for byte, and run without anything beside them.
set -eu
cd "$(dirname "$0")/.."
platform=$(go env GOHOSTOS)/$(go env GOHOSTARCH)
name=countersign-${platform%/*}-${platform#*/}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/release.sh "$work/one" "$platform"
mkdir -p "$work/a/longer/path"
TMPDIR=$work/a/longer/path GOCACHE=$work/cache packaging/release.sh "$work/two" "$platform"

sha256sum "$work/one/$name" "$work/two/$name"
cmp "$work/one/$name" "$work/two/$name"
go test -count=1 ./packaging -binary "$work/two/$name"
