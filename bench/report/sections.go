package main

import "regexp"

// section is one part of the report: the benchmarks whose name matches, and
// what there is to know about them. A section without benchmarks is left out,
// so that a place is kept here for what is measured only on some machines.
type section struct {
	title string
	what  *regexp.Regexp // of the first part of the name
	text  string
	unit  string // pivot: rows are chain/type, columns the last part, in this unit; empty: a row for each, a column for each unit
	plot  string // the file of its plot, if it has one
}

// sections are in the order of the report: ratios, which hold from machine to
// machine, before absolutes, which do not.
var sections = []section{
	{
		title: "The whole path beside the bare curve operation", what: regexp.MustCompile(`^Ratio$`), unit: "ratio", plot: ratioPlot,
		text: "Raw hex in, signed hex out, through `Engine.SignTransaction`: reading, looking the key up, refusing hazards, " +
			"hashing, signing, splicing, hex. **sign**: signatures are not verified, beside the library's own signature " +
			"(go-ethereum's `crypto.Sign`, btcec's `schnorr.Sign`, `crypto/ed25519`). **sign+verify**: as the engine is by default, " +
			"beside the library's signature and verification. The engine recovers the key from an ECDSA signature, which checks the " +
			"recovery id as well and costs more than the verification it is held against. **handle**: beside the signature of the " +
			"keystore's own key, the floor. 1.10 says that the engine adds a tenth. Solana is below 1 in **sign** because the " +
			"keystore's Ed25519 is faster than the standard library's; look at **handle** there.",
	},
	{
		title: "Beside other libraries", what: regexp.MustCompile(`^Peers?$`),
		text: "The same transactions with the same keys, in the same run, in turns: what the engine takes (verification off, as none of " +
			"the others verifies), what the other library takes, and the one divided by the other: below 1 the engine is faster. " +
			"Libraries for JavaScript run in Node and time themselves there, from the form that they start with to signed hex; " +
			"what it takes to get to them is not counted. Every answer is compared with the engine's before anything is timed.",
	},
	{
		title: "From one core to two", what: regexp.MustCompile(`^Gain$`),
		text: "**gain-ours**: how many times as much two cores sign as one; **gain-theirs**: the same of the bare operation; " +
			"**gain-ratio**: the one by the other, 1 if the engine has no lock or memory to fight over. A busy machine lowers both gains.",
	},
	{
		title: "Batches", what: regexp.MustCompile(`^BatchRatio$`),
		text: "An item of a batch of 1,000, in which each transaction is of another chain than the one before it and one engine has the keys of " +
			"all chains, beside the same transactions signed chain by chain by engines that know no other (**growth-ours**); the same of the " +
			"bare operations in turns and in rows, which lose by the processor's caches as well (**growth-theirs**); **growth-ratio**: the one by " +
			"the other, what the engine adds.",
	},
	{
		title: "Keystores", what: regexp.MustCompile(`^Keystores$`),
		text: "The whole path of a transfer, verified, by where the key is, beside the same with keys in memory (**ratio**). " +
			"PKCS#11 is SoftHSM in this process, with one session.",
	},
	{
		title: "HSM", what: regexp.MustCompile(`^PKCS11`),
		text: "Signatures a second of SoftHSM through the keystore (**ours/s**), and through a bare loop over as many sessions of " +
			"miekg/pkcs11 that verifies in the same way (**theirs/s**); **ratio** is that of the two, **cpu-ratio** that of the " +
			"processor time for one signature, which depends less on what else the machine does. **patient** callers have a context that " +
			"cannot end, as the loop has none; **leaving** ones can leave while the HSM hangs, for which each signature runs in a " +
			"goroutine of its own: with few sessions, waking it up costs more than all else. **Latency**: 16 callers of an HSM that " +
			"takes a millisecond longer, with 8 sessions beside one.",
	},
	{
		title: "Scale: keys in memory, growth", what: regexp.MustCompile(`^KeystoreMemoryFlat$`),
		text: "**growth-ours**: a look-up among a million keys beside one among a thousand; **growth-theirs**: the same of a bare map of Go's; " +
			"**growth-ratio**: the one by the other. Neither depends on the number of keys but by the caches of the processor: " +
			"at most 1 says that the keystore misses them no more than one access to a map does, for what it takes at a thousand.",
	},
	{
		title: "Scale: Bitcoin inputs, ratio", what: regexp.MustCompile(`^InputsRatio$`),
		text: "An input among 1,000 beside one among 10. What a legacy input (P2PKH) signs covers all inputs, so that its cost " +
			"grows with their number: that is Bitcoin's, and why there was segwit.",
	},
	{
		title: "HTTP", what: regexp.MustCompile(`^HTTP$`),
		text: "Stamped requests over loopback, each a body of its own, from 64 clients; the server is a process of its own on the same machine, " +
			"verification off. **ratio**: requests per second beside a handler that verifies the stamp, signs and does nothing else, in turns; " +
			"above 1 the engine is faster. Latencies are those of the clients. **peak-RSS-MB**: the most memory that the server's process had, its " +
			"records included; **kept-B/activity**: what is on its heap at the end, for each activity: the record of a store in memory.",
	},
	{
		title: "HTTP by clients", what: regexp.MustCompile(`^HTTPClients$`),
		text: "The same over a store in memory. Clients, server and what the machine does else share its cores: more clients than cores wait for them.",
	},
	{
		title: "Scale: keys, absolute", what: regexp.MustCompile(`^Keystore(Memory|File)`), plot: scalePlot,
		text: "**B/key** is the Go heap; the 32 bytes of each secret are outside of it. **open-µs/key**: deriving the public key and putting it in. " +
			"A file keystore has a file for each key (age, one X25519 agreement to open): opening is linear, whatever the passphrase costs (**workfactor**).",
	},
	{
		title: "Scale: Bitcoin inputs, absolute", what: regexp.MustCompile(`^Inputs$`),
		text: "**ns/input** should stay what it is, but for P2PKH.",
	},
	{
		title: "Scale: calldata, absolute", what: regexp.MustCompile(`^Calldata$`),
		text: "An EIP-1559 transaction with so many bytes of random calldata: beyond the signature, what Keccak and hex take.",
	},
	{
		title: "The submitted path, absolute", what: regexp.MustCompile(`^Submit$`),
		text: "A request from its body to its answer through `Engine.Submit`, without HTTP, by the store that records it and how many clients submit at once.",
	},
	{
		title: "The submitted path in parts, absolute", what: regexp.MustCompile(`^SubmitParts$`),
		text: "**decode**: the strict reading of the body, and its fingerprint; **stamp-parse**, **stamp-verify**: the first alone, and both; " +
			"**sign**: the whole path of the transaction; **encode**: the record for the store; **answer**: the JSON of the answer; " +
			"**decode-recorded**: what a repeated request takes instead of signing.",
	},
	{
		title: "Stores and one-time passwords, absolute", what: regexp.MustCompile(`^(Store|OTP)`),
		text: "An activity of 2,000 bytes begun and completed, from 64 goroutines at once where a disk is waited for (but for **StoreBoltAlone**); " +
			"**activities/fsync**: how many share one. **OTPVerify** issues a code as well.",
	},
	{
		title: "Batches, absolute", what: regexp.MustCompile(`^Batch$`), text: "A batch of 1,000 transactions of all chains in turns.",
	},
	{title: "Whole path, absolute", what: regexp.MustCompile(`^Sign$`), text: absolute},
	{
		title: "All cores at once, absolute", what: regexp.MustCompile(`^Parallel$`),
		text: "The whole path, verified, from one core and from two: `BenchmarkGain` above holds the difference against the bare operation's.",
	},
	{title: "Curve operations, absolute", what: regexp.MustCompile(`^Curve$`), unit: "ns/op", text: "What the ratios are held against."},
	{
		title: "Parts, absolute", what: regexp.MustCompile(`^Parts$`), unit: "ns/op",
		text: "Each part of the path by itself, in nanoseconds. **hash** is signing up to where the key is asked, **hash+splice** with a " +
			"signature that is ready; with **verify**, it is checked. **sign** is the key alone. **summary** and **digest** are what a policy or a person needs, and not part of the path.",
	},
	{title: "Others", what: regexp.MustCompile(``), text: "What no section above has claimed."},
}

const absolute = "Nanoseconds of one machine on one day, which others may have been using: they serve to be compared with each other, " +
	"within this table, and not with those of other machines."
