// Package bench holds the benchmarks: the whole path of each chain and type of
// transaction, from raw hex to signed hex through the engine, each part of it,
// and how both grow.
//
//	make bench                                       all, with peers, into dist/bench, and a table
//	make bench BENCH=Ratio/ethereum                  some
//	go test -run '^$' -bench 'Ratio' ./bench         what the engine adds to the operation on the curve
//	make bench-compare OLD=before.txt NEW=after.txt  what a change did
//	make bench-record                                all, into bench/results, which is committed
//
// Machines are noisy and differ: the figures to quote are the ratios, medians
// over interleaved pairs in one process (package measure), each sampled six times
// so that benchstat can give its spread. The names of benchmarks are paths:
// Benchmark<What>/<chain>/<type>/<how>.
package bench
