#!/usr/bin/env bash
# Runs the benchmarks and writes their output to stdout, with the facts of the
# machine in front, and what it is at to stderr. make bench calls it, from the
# root of the project.
#
#   BENCH      which benchmarks, a pattern of go test (all)
#   BENCHTIME  how long each one in nanoseconds runs (200ms); ratios have a fixed
#              number of pairs
#   PEERS      the folders of other libraries (bench/peers)
#   SHORT      -short for a run that only shows that everything runs
set -euo pipefail

bench=${BENCH:-.} benchtime=${BENCHTIME:-200ms} short=${SHORT:-}
started=$SECONDS

# What is measured in pairs or runs, however long -benchtime is: first the signing
# itself, in a process whose memory nothing else has been through.
signing='^Benchmark(Ratio|Gain|BatchRatio|InputsRatio)$'
ratios='^Benchmark(Keystores|KeystoreMemoryFlat|PKCS11.*|HTTP|HTTPClients)$'

# step TITLE FOLDER ARGUMENTS… runs benchmarks of the package in a folder.
step() {
	local title=$1 folder=$2
	shift 2
	printf '\n%4d s  %s\n' $((SECONDS - started)) "$title" >&2
	(cd "$folder" && go test -run '^$' $short -timeout 1h "$@" .) | tee >(cat >&2)
}

{
	go run ./bench/report -machine
	[ -z "$short" ] || echo 'note: a short run, to see that everything runs: its figures mean nothing'
} | tee >(cat >&2)
if [ "$bench" = . ]; then
	step 'ratios of signing' bench -bench "$signing" -benchtime 1x
	step 'other ratios and runs, of fixed length' bench -bench "$ratios" -benchtime 1x
	step 'one core and two' bench -bench '^BenchmarkParallel$' -cpu 1,2 -benchtime "$benchtime"
	step 'absolutes' bench -bench . -skip "$signing|$ratios|^BenchmarkParallel\$" -benchtime "$benchtime"
else
	step "$bench" bench -bench "$bench" -benchtime "$benchtime"
fi
for peers in ${PEERS-bench/peers}; do
	step "other libraries: $peers" "$peers" -mod=mod -bench "$bench" -benchtime 1x
done
printf '\n%4d s  done\n' $((SECONDS - started)) >&2
