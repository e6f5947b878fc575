// Package bench holds the benchmarks: the whole path of each chain, from raw
// hex to signed hex, and each part of it, with the bare curve operation beside
// them.
//
//	make bench                                       all of it
//	go test -run '^$' -bench 'Ratio' ./bench         what the engine adds to the curve operation
//
// Machines are noisy and differ: the figures to quote are the ratios, which are
// medians over pairs that ran in turns in one process.
package bench
