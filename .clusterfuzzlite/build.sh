#!/bin/sh -eu
# Builds every target of package fuzz for libFuzzer into $OUT, with its seeds as
# <target>_seed_corpus.zip and the vectors that the targets read. The environment
# ($OUT, $CXX, $CXXFLAGS, $LIB_FUZZING_ENGINE) is that of ClusterFuzzLite.
#
# compile_native_go_fuzzer is not used: the package testing that it puts in the
# place of Go's has no Context, forgets the seeds, and makes ready for every
# input what the targets make ready once. fuzz/internal/harness says what is done
# instead.

# The image may have an older Go than go.mod asks for.
export GOTOOLCHAIN=auto

harness=fuzz/libfuzzer
go run ./fuzz/corpus harness $harness
go build -o "$OUT/seeds" ./$harness
(cd fuzz && "$OUT/seeds" "$OUT")
targets=$("$OUT/seeds" -list)
rm "$OUT/seeds"

# Coverage for libFuzzer from all packages but those that run below Go itself.
instrument="-tags=libfuzzer -gcflags=all=-d=libfuzzer"
for package in runtime/cgo runtime/pprof runtime/race syscall; do
  instrument="$instrument -gcflags=$package=-d=libfuzzer=0"
done

for target in $targets; do
  # The flags are lists of words.
  # shellcheck disable=SC2086
  go build -buildmode=c-archive $instrument -ldflags="-X main.target=$target" -o "$target.a" ./$harness
  # shellcheck disable=SC2086
  $CXX $CXXFLAGS $LIB_FUZZING_ENGINE "$target.a" -o "$OUT/$target"
  rm "$target.a" "$target.h"
done

# The targets read these when they start; see libfuzzer.Beside.
mkdir -p "$OUT/source/fuzz"
find . -path './interop' -prune -o -path './fuzz' -prune -o -path '*/testdata/*' -type f -print | while read -r file; do
  mkdir -p "$OUT/source/$(dirname "$file")"
  cp "$file" "$OUT/source/$file"
done
