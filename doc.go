// Package countersign is an embedded signing engine. A client asks for a
// transaction to be signed; the engine reads the transaction strictly, finds the
// key, refuses what is malformed or dangerous, and signs the very bytes it read.
//
//	keys := memory.New()
//	key, err := keys.Add(ctx, "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
//	…
//	engine, err := countersign.New(countersign.Config{
//		Keystore: keys,
//		Chains:   []chains.Chain{ethereum.New(ethereum.Limits{})},
//	})
//	…
//	result, err := engine.SignTransaction(ctx, "my-organization", activity.SignTransactionIntent{
//		SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
//		Type:                activity.TransactionTypeEthereum,
//		UnsignedTransaction: "02ec0107843b9aca00…",
//	})
//
// Everything the engine signs has been parsed by its chain: there is no entry point
// that signs a bare hash.
//
// # In most cases
//
// A [Config] with a Keystore and Chains, [New], and one of three entry points:
//
//   - [Engine.SignTransaction] takes an intent and returns a signed transaction, for
//     a program that is its own only client. [Engine.Sign] does the same for any intent.
//   - [Engine.Prepare] and [Prepared.Sign] split that in two, so that the summary can be
//     shown in between.
//   - [Engine.Submit] takes a body with a stamp over it, a [SignedBody]: the sender is
//     authenticated, a policy is asked, and the result is recorded before it is answered,
//     once for each body. [Engine.CheckRequest] performs all of its checks and nothing
//     else. It needs a Config.Directory, such as that of access.NewDirectory.
//
// The first two check no stamp, and record nothing; [Engine.As] has the same calls for a
// user whom your program has authenticated, which are judged, charged and recorded.
// All of them refuse the same transactions. Package httpapi serves the third, and the
// queries, over HTTP; package rpcapi serves calls as an Ethereum JSON-RPC signer.
//
// # In special cases
//
//   - [Engine.Log] proves what is in the transparency log, for witnesses and auditors.
//   - [Engine.Operator] asks the policy about the past, and looks after the store.
//   - An [Observer] counts and times; package metrics has one.
//   - Config.Operations adds types of activities: messages.Operations(chains...) signs messages,
//     package otp/operations issues and redeems one-time passwords.
//   - Answers, votes and log proofs are verified offline by package verify, which needs
//     no engine.
//
// # Refusals
//
// Every error is an *activity.Error with a stable Reason. A malformed transaction is
// always refused (INVALID_TRANSACTION). One that is well-formed but dangerous
// (HAZARD_NOT_ALLOWED) can be allowed by the name of its hazard, in Config.AllowHazards
// or for one organization. Function HazardNames of package chains/all lists the names.
//
// # Words
//
//	body, stamp   what a client sends, and its signature over it; together a [SignedBody]
//	request       the reading of a body (activity.Request): its envelope (organization, time, type) and its intent
//	intent        what is asked for: the parameters of a type of activity
//	call          an intent from the program itself, without a stamp ([Engine.As])
//	submission    a request or a call on its way through the engine
//	task          what a submission asks for, ready to be carried out (operation.Task)
//	signing       a transaction with the keys that were found for it (chains.Signing)
//	account       an address that a key of the organization alone controls (chains.Account)
//	effect        one thing that a signature does; a hazard is a danger of it, by name
//	decision      what a policy demands of a submission: votes, charges, hazards that it allows
//	activity      what becomes of a submission; its record is what the store keeps and an answer shows
//	organization  whose keys, users, policy and log are its own: two share nothing
//	member        a user with the credential of a stamp, or a user who calls without one (access.Member)
//	vote          what a user says of an activity that waits: approve or reject; a request is its submitter's
//	reading       what a descriptor says of a call, in addition to the bytes (chains.Reading)
//	halt          a mark of the log that stops signing until enough users ask to resume it (translog.Stop)
//	service       what holds keys elsewhere and signs with them, such as a cloud's KMS (remote.Service)
//
// # The packages
//
//	access      who may: users, directories, the contract of a policy; what can be replaced while serving
//	activity    the wire format: requests, intents, results, records, errors, app proofs
//	stamp       authentication of requests: API keys and passkeys
//	chains      the contract of a chain, and one package for each; chains/all has all five
//	operation   the contract of what an engine does besides signing transactions
//	messages    the operations that sign messages: typed data and others
//	otp         one-time passwords and their senders; otp/operations has the operations
//	keystore    the contract of a keystore, and one package for each backend
//	store       records of activities, and the counters of limits: memory, bolt, postgres
//	translog    the transparency log of what was signed
//	policy      a Policy whose rules are in a file
//	verify      offline verification of answers and votes
//	httpapi     the API as an http.Handler
//	rpcapi      an Ethereum JSON-RPC signer as an http.Handler
//	metrics     an Observer for Prometheus
//	client      a client of that API
//	enginetest  an engine with keys, users and a clock, for the tests of embedders
//
// The folder docs has the guides; start with embedding.md.
package countersign
