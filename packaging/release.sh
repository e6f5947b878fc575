#!/bin/sh
# release.sh DIRECTORY [GOOS/GOARCH[/hsm]]…: builds the released binaries of the commit
# that is checked out into the directory: static and without cgo, and with /hsm behind
# a platform the binary that can use an HSM, which is dynamic and with cgo.
#
# It builds a clone, so that nothing which is not committed gets in, and so that
# the commit is stamped also from a linked work tree. Whatever the Go tools take
# from the environment, and that changes the binary, is set here; the version of
# Go is all that is left, and 'countersign version' prints it. With /hsm it is the C
# compiler and its C library, too: CC if it is set, else the one of this machine.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/arm64 linux/amd64/hsm

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git clone -q "$root" "$tree/source"
cd "$tree/source"
for platform; do
  os=${platform%%/*} rest=${platform#*/}
  arch=${rest%%/*} cgo=0 name=countersign-$os-$arch
  case $rest in
    */hsm) cgo=1 name=countersign-hsm-$os-$arch ;;
    */*) echo "release.sh: $platform: not GOOS/GOARCH or GOOS/GOARCH/hsm" >&2; exit 2 ;;
  esac
  env -u GOEXPERIMENT -u CGO_CFLAGS -u CGO_CPPFLAGS -u CGO_LDFLAGS CGO_ENABLED=$cgo GOOS="$os" GOARCH="$arch" \
    GOAMD64=v1 GOARM64=v8.0 GOFLAGS=-trimpath GOFIPS140=off GOWORK=off \
    go build -buildvcs=true -ldflags='-buildid= -extldflags=-Wl,--build-id=none' -o "$out/$name" ./cmd/countersign
done
