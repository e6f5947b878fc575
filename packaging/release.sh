#!/bin/sh
# release.sh DIRECTORY [GOOS/GOARCH[/hsm|/kms|/policy-import]]… builds the release binaries of the
# checked-out commit into DIRECTORY. They are static, without cgo; with /hsm after a platform it
# builds the binary that can use an HSM, which is dynamic, with cgo, with /kms the one with key
# services, from the module keystore/kms, and with /policy-import the program that 'countersign
# policy import' runs, from a module below tools.
#
# It builds from a clone, so that no uncommitted change gets in, and so that the commit is
# stamped even in a linked work tree. Every environment variable of the Go tools that affects
# the binary is set here, so it depends only on the version of Go, which 'countersign version'
# prints. With /hsm it also depends on the C compiler and C library: CC, or the machine's.
#
# -trimpath leaves one path of the machine: that of a file in another folder which an assembler
# includes, as in gnark-crypto, begins with the module cache. So the assembler's own -trimpath
# gets the module cache, too, and the build cache is not shared with builds that lack this.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/arm64 linux/amd64/hsm linux/amd64/kms linux/arm64/kms \
  linux/amd64/policy-import linux/arm64/policy-import darwin/arm64/policy-import

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git clone -q "$root" "$tree/source"
cd "$tree/source"
cat > "$tree/run" <<'end'
#!/bin/sh
tool=$1 before=
shift
for argument; do
  shift
  [ "${tool##*/} $before" != "asm -trimpath" ] || argument="$argument;$GOMODCACHE=>"
  set -- "$@" "$argument"
  before=$argument
done
exec "$tool" "$@"
end
chmod +x "$tree/run"
GOMODCACHE=$(go env GOMODCACHE)
export GOMODCACHE
for platform; do
  os=${platform%%/*} rest=${platform#*/}
  arch=${rest%%/*} cgo=0 name=countersign-$os-$arch module=. main=./cmd/countersign
  case $rest in
    */hsm) cgo=1 name=countersign-hsm-$os-$arch ;;
    */kms) name=countersign-kms-$os-$arch module=keystore/kms main=./cmd/countersign-kms ;;
    */policy-import) name=countersign-policy-import-$os-$arch module=tools/countersign-policy-import main=. ;;
    */*) echo "release.sh: $platform: not GOOS/GOARCH, or that with /hsm, /kms or /policy-import" >&2; exit 2 ;;
  esac
  env -u GOEXPERIMENT -u CGO_CFLAGS -u CGO_CPPFLAGS -u CGO_LDFLAGS CGO_ENABLED=$cgo GOCACHE="$tree/cache" GOOS="$os" GOARCH="$arch" \
    GOAMD64=v1 GOARM64=v8.0 GOFLAGS=-trimpath GOFIPS140=off GOWORK=off \
    go build -C "$module" -toolexec "$tree/run" -buildvcs=true -ldflags='-buildid= -extldflags=-Wl,--build-id=none' -o "$out/$name" "$main"
done
