// Package peers signs the transactions of the benchmarks with other libraries,
// beside the engine: the same keys, the same run, in turns. It is a module of
// its own so that the project's does not have what the peers need.
//
//	make bench                                          runs it last
//	cd bench/peers && go test -run '^$' -bench .        by itself
//
// Libraries for Go are called here. Those for JavaScript run in Node (peers.mjs,
// with the packages of interop/) and time themselves there.
//
// Every peer starts from what its users have and ends with the signed bytes:
// go-ethereum from its own struct, the others from the unsigned bytes in hex.
// What each answers for the first transactions is compared with the engine's
// answer before anything is timed.
package peers
