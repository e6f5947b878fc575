#!/usr/bin/env bash
# Runs the benchmarks. Their output goes to stdout in the format of go test -bench,
# after lines that describe the machine; progress goes to stderr. Run it in the root
# of the module, as make bench does. It fails if BENCH matches no benchmark.
#
#   BENCH      pattern for go test -bench (default: all)
#   BENCHTIME  duration of each benchmark of absolute times (200ms); ratios have a
#              fixed number of pairs
#   COUNT      samples of each benchmark (6, the fewest for which benchstat gives a
#              spread)
#   PEERS      folders with the benchmarks of other libraries (bench/peers)
#   SHORT      -short: a run that only shows that everything runs
set -euo pipefail

bench=${BENCH:-.} benchtime=${BENCHTIME:-200ms} count=${COUNT:-6} short=${SHORT:-}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Measured in pairs or in runs of a fixed length, whatever -benchtime is. Signing comes
# first, in a process whose heap is still small.
signing='^Benchmark(Ratio|RatioUncached|Gain|InputsRatio)$'
ratios='^Benchmark(PKCS11.*|HTTP|HTTPShipped|HTTPMany|HTTPList|HTTPDatabases|RPC|LogRatio|PolicyRatio|HaltRatio)$'

# Fills a store with a million activities, which takes minutes: once, whatever COUNT is, since
# its figures are medians of rounds.
full='^BenchmarkStoreSize$'

# Sends 100,000 requests to each store at each load: once, too.
open='^BenchmarkHTTPOpen$'

# fact NAME VALUE… writes a configuration line of the benchmark format.
fact() { [ -z "${2:-}" ] || echo "$1: ${*:2}"; }

facts() {
	fact date "$(date -u +%Y-%m-%d)"
	fact commit "$(git describe --always --dirty --exclude '*' 2>/dev/null || true)"
	fact go "$(go env GOVERSION)"
	fact cgo "$(go env CGO_ENABLED)"
	fact cores "$(getconf _NPROCESSORS_ONLN)"
	fact memory "$(awk '/^MemTotal/ { print $2, $3 }' /proc/meminfo 2>/dev/null || true)"
	fact kernel "$(uname -sr)"
	fact node "$(node --version 2>/dev/null || true)"
	fact load-at-start "$(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || true)"
	fact note "${short:+a short run, to see that everything runs: its figures mean nothing}"
}

# step TITLE FOLDER ARGUMENTS… runs the benchmarks of the package in a folder.
step() {
	local title=$1 folder=$2
	shift 2
	printf '\n%4d s  %s\n' "$SECONDS" "$title" >&2
	(cd "$folder" && go test -run '^$' $short -count "$count" -timeout 6h "$@" .) | tee -a "$output" >(cat >&2)
}

facts | tee >(cat >&2)
if [ "$bench" = . ]; then
	step 'ratios of signing' bench -bench "$signing" -benchtime 1x
	step 'other ratios and runs of fixed length' bench -bench "$ratios" -benchtime 1x
	step 'stores with a million activities' bench -bench "$full" -benchtime 1x -count 1
	step 'an open loop' bench -bench "$open" -benchtime 1x -count 1
	step 'stamp schemes' stamp -bench '^BenchmarkSchemes$' -benchtime 1x
	for ((sample = 1; sample <= count; sample++)); do # alternating
		step "one core and two, $sample" bench -bench '^BenchmarkParallel$' -cpu 1,2 -benchtime "$benchtime" -count 1
	done
	step 'absolutes' bench -bench . -skip "$signing|$ratios|$full|$open|^BenchmarkParallel\$" -benchtime "$benchtime"
else
	step "$bench" bench -bench "$bench" -benchtime "$benchtime"
fi
for peers in ${PEERS-bench/peers}; do
	step "other libraries: $peers" "$peers" -mod=mod -bench "$bench" -benchtime 1x
done
printf '\n%4d s  done\n' "$SECONDS" >&2

grep -q '^Benchmark' "$output" || {
	echo "bench: no benchmark matches BENCH=$bench. Its parts between slashes match the name level by level: try BENCH=Ratio/ethereum" >&2
	exit 1
}
