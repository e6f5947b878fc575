#!/bin/sh
# load.sh LOOPS PACKAGE…: runs the tests of packages beside busy loops. It measures how much
# slower a second of work gets, and stretches the time-outs by it: Go's, and those of
# testenv.Patience through COUNTERSIGN_SLOWER.
set -eu
cd "$(dirname "$0")/../.."
loops=$1
shift

# milliseconds of the clock that a fixed amount of work takes.
work() {
	began=$(date +%s%N)
	i=0
	while [ $i -lt 300000 ]; do i=$((i + 1)); done
	echo $((($(date +%s%N) - began) / 1000000 + 1))
}

quiet=$(work)
busy=
trap 'kill $busy 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
while [ "$loops" -gt 0 ]; do
	(while :; do :; done) &
	busy="$busy $!"
	loops=$((loops - 1))
done
loaded=$(work)
slower=$(((loaded + quiet - 1) / quiet))
[ $slower -ge 1 ] || slower=1
echo "load: work takes $loaded ms beside the loops, $quiet ms without: time-outs are $slower times as long" >&2

COUNTERSIGN_SLOWER=$slower go test -count=1 -timeout $((20 * slower))m "$@"
