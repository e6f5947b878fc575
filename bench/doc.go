// Package bench has the benchmarks: of the whole path of each chain and type of
// transaction, from raw hex to signed hex through the engine, of each part of
// that path, and of how both scale.
//
//	make bench                                       all, with peers: results in dist/bench, and a table
//	make bench BENCH=Ratio/ethereum                  some
//	go test -run '^$' -bench 'Ratio' ./bench         what the engine adds to the operation on the curve
//	make bench-compare OLD=before.txt NEW=after.txt  the effect of a change
//	make bench-record                                all, into bench/results, to be committed
//
// Machines differ and are noisy. Quote the ratios: each is a median over interleaved
// pairs in one process (package measure), sampled six times so that benchstat can give
// its spread. The names of benchmarks are paths: Benchmark<What>/<chain>/<type>/<how>.
package bench
