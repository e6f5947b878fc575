#!/bin/sh
# release.sh DIRECTORY [GOOS/GOARCH]…: builds the released binaries of the commit
# that is checked out, static and without cgo, into the directory.
#
# It builds a clone, so that nothing which is not committed gets in, and so that
# the commit is stamped also from a linked work tree. Whatever the Go tools take
# from the environment, and that changes the binary, is set here; the version of
# Go is all that is left, and 'countersign version' prints it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/arm64

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git clone -q "$root" "$tree/source"
cd "$tree/source"
for platform; do
  env -u GOEXPERIMENT CGO_ENABLED=0 GOOS="${platform%/*}" GOARCH="${platform#*/}" GOAMD64=v1 GOARM64=v8.0 \
    GOFLAGS=-trimpath GOFIPS140=off GOWORK=off \
    go build -buildvcs=true -ldflags=-buildid= -o "$out/countersign-${platform%/*}-${platform#*/}" ./cmd/countersign
done
