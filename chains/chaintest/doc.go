// Package chaintest is what the tests of the chains have in common: the contract
// of chains.Chain and chains.Transaction as a test suite, mutations of raw
// transactions, golden files of summaries, and keys to sign with.
//
// A chain, one of ours or a sixth, runs the suite over transactions that it can
// sign:
//
//	chaintest.Run(t, solana.Chain{}, samples)
//
// What is particular to a chain (its vectors, what it refuses and why, its
// hazards) it tests by itself.
package chaintest
