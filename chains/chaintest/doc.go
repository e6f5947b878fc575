// Package chaintest tests that a chain keeps the contract of chains.Chain. It has the
// contract as a suite, mutations of raw transactions, golden files of summaries and
// effects, and keys to sign with.
//
// A chain, built in or an embedder's own, runs the suite over transactions that it can sign:
//
//	chaintest.Run(t, solana.Chain{}, samples)
//
// A kind of message (package messages) runs RunMessages: the same contract, and what
// messages must keep in addition.
//
// Vectors, refusals and hazards are specific to a chain and are tested there.
package chaintest
