// Package countersign is an embedded signing engine. A client asks for a
// transaction to be signed; the engine reads the transaction strictly, finds the
// key, refuses what is malformed or dangerous, and signs the very bytes it read.
//
//	keys := memory.New()
//	key, err := keys.Add(ctx, "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
//	…
//	result, err := countersign.SignTransaction(ctx, keys, "my-organization", activity.SignTransactionIntent{
//		SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
//		Type:                activity.TransactionTypeEthereum,
//		UnsignedTransaction: "02ec0107843b9aca00…",
//	})
//
// Everything the engine signs has been parsed by its chain: there is no entry point
// that signs a bare hash.
//
// # Three entry points
//
//   - [Engine.SignTransaction] takes an intent and returns a signed transaction, for
//     a program that is its own only client. [SignTransaction] does the same without
//     an engine.
//   - [Engine.Prepare] and [Prepared.Sign] split that in two, so
//     that the summary can be shown in between.
//   - [Engine.Submit] takes a body with a stamp over it: the sender is authenticated, a
//     policy is asked, and the result is recorded before it is answered, once for each
//     body. [Engine.CheckRequest] performs all of its checks and nothing else.
//
// The first two check no stamp, and record nothing unless there is a Config.Submitter.
// All three refuse the same transactions. Package httpapi serves the third over HTTP.
//
// # Refusals
//
// Every error is an *activity.Error with a stable Reason. A malformed transaction is
// always refused (INVALID_TRANSACTION). One that is well-formed but dangerous
// (HAZARD_NOT_ALLOWED) can be allowed by the name of its hazard, in Config.AllowHazards
// or for one organization. HazardNames lists the names.
//
// # The packages
//
//	activity    the wire format: requests, intents, results, records, errors, app proofs
//	stamp       authentication of requests: API keys and passkeys
//	chains      the contract of a chain, and one package for each chain
//	messages    what is signed besides transactions: typed data and other messages
//	keystore    the contract of a keystore, and one package for each backend
//	otp         one-time passwords, and their senders
//	store       records of activities, and the counters of limits: memory, bolt, postgres
//	translog    the transparency log of what was signed
//	policy      a Policy whose rules are in a file
//	httpapi     the API as an http.Handler
//	metrics     an Observer for Prometheus
//	client      a client of that API
//	enginetest  an engine with keys, users and a clock, for the tests of embedders
//
// The folder docs has the guides; start with embedding.md.
package countersign
