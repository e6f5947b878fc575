// Package countersign is an embedded signing engine. A client asks for a
// transaction to be signed; the engine reads the transaction strictly, finds the
// key, refuses what is malformed or dangerous, and signs the very bytes it read.
//
//	keys := memory.New()
//	engine, err := countersign.New(countersign.Config{Keystore: keys})
//	…
//	result, err := engine.SignTransaction(ctx, "my-organization", activity.SignTransactionIntent{
//		SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
//		Type:                activity.TransactionTypeEthereum,
//		UnsignedTransaction: "02ec0107843b9aca00…",
//	})
//
// There is one door: everything the engine signs has been parsed by its chain.
// It has no entry point that signs a bare hash.
//
// Requests that come with a stamp go through [Engine.Submit], which finds out who
// sent them, asks the [Policy], does the work once however often a request is
// repeated, and records it before it answers. Package httpapi serves that.
//
// The packages: activity (the wire: intents, results, records, errors), stamp
// (who sent a request), store (where activities and one-time passwords live), otp
// (one-time passwords), httpapi (all of it over HTTP), metrics (Prometheus), chains (what a transaction
// is, and one package for each chain), keystore (what a key is, and one package
// for each backend).
package countersign
