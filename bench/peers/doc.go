// Package peers compares the engine with other libraries: both sign the benchmarks'
// transactions with the same keys, alternating, in one run. It is a module of its own, so
// that the peers' dependencies are not the project's.
//
//	make bench                                          runs it last
//	cd bench/peers && go test -run '^$' -bench .        by itself
//
// Go libraries are called directly. JavaScript libraries run in Node (peers.mjs, with the
// packages of interop/) and time themselves there.
//
// Every peer starts from what its users have and ends with the signed bytes: go-ethereum
// starts from its own struct, the others from the unsigned bytes in hex. Before anything
// is timed, the peer's first results are compared with the engine's.
package peers
