// Package chaintest tests that a chain keeps the contract of chains.Chain: it
// has the contract as a suite, mutations of raw transactions, golden files of
// summaries and effects, and keys to sign with.
//
// A chain, one of ours or an embedder's own, runs the suite over transactions
// that it can sign:
//
//	chaintest.Run(t, solana.Chain{}, samples)
//
// A kind of message (package messages) runs RunMessages, which is the same contract
// and what messages have to keep besides.
//
// Vectors, refusals and hazards are particular to a chain and are tested there.
package chaintest
