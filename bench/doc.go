// Package bench holds the benchmarks: the whole path of each chain and type of
// transaction, from raw hex to signed hex through the engine, each part of it,
// and how both grow.
//
//	make bench                                       all of it, with peers, into bench/results and docs/performance.md
//	go test -run '^$' -bench 'Ratio' ./bench         what the engine adds to the operation on the curve
//	make bench-compare OLD=before.txt NEW=after.txt  what a change did
//
// Machines are noisy and differ: the figures to quote are the ratios, which are
// medians over pairs that ran in turns in one process (package measure). The
// names of benchmarks are paths, Benchmark<What>/<chain>/<type>/<how>, and
// bench/report makes its tables from them.
package bench
