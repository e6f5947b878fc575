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
	plot  bool
}

// sections are in the order of the report: ratios, which hold from machine to
// machine, before absolutes, which do not.
var sections = []section{
	{
		title: "The whole path beside the bare curve operation", what: regexp.MustCompile(`^Ratio$`), unit: "ratio", plot: true,
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
		title: "Batches", what: regexp.MustCompile(`^Batch`),
		text: "1,000 transactions of all chains in turns, beside the same transactions chain by chain (**ratio**).",
	},
	{
		title: "Keystores", what: regexp.MustCompile(`^Keystores$`),
		text: "The whole path of a transfer by where the key is, beside the same with keys in memory (**ratio**).",
	},
	{
		title: "HSM", what: regexp.MustCompile(`^PKCS11`),
		text: "Signatures a second of SoftHSM through the keystore (**ours/s**), and through a bare loop over as many sessions of " +
			"miekg/pkcs11 that verifies in the same way (**theirs/s**); **ratio** is that of the two, **cpu-ratio** that of the " +
			"processor time for one signature, which depends less on what else the machine does. **Latency**: 16 callers of an HSM that " +
			"takes a millisecond longer, with 8 sessions beside one.",
	},
	{
		title: "Scale: keys", what: regexp.MustCompile(`^Keystore(Memory|File)`),
		text: "Looking keys up must not slow down with their number, but for the processor's caches. **B/key** is the Go heap; " +
			"the 32 bytes of each secret are outside of it.",
	},
	{
		title: "Scale: Bitcoin inputs", what: regexp.MustCompile(`^Inputs`),
		text: "**ratio**: an input among 1,000 beside one among 10. What a legacy input (P2PKH) signs covers all inputs, so that its cost " +
			"grows with their number: that is Bitcoin's, and why there was segwit.",
	},
	{title: "Scale: calldata", what: regexp.MustCompile(`^Calldata$`), text: "An EIP-1559 transaction with random calldata."},
	{
		title: "The submitted path", what: regexp.MustCompile(`^(Submit|HTTP|Decode|Stamp|Store|OTP|Activity|Fingerprint|Proof)`),
		text: "Requests as they come from outside: decode, stamp, store, answer. **HTTP** is end to end from 64 clients on the same machine, " +
			"verification off; its **ratio** is of requests per second, beside a handler that verifies the stamp and signs, and does nothing else.",
	},
	{title: "Whole path, absolute", what: regexp.MustCompile(`^Sign$|^Parallel$`), text: absolute},
	{title: "Curve operations, absolute", what: regexp.MustCompile(`^Curve$`), unit: "ns/op", text: "What the ratios are held against."},
	{
		title: "Parts, absolute", what: regexp.MustCompile(`^Parts$`), unit: "ns/op",
		text: "Each part of the path by itself, in nanoseconds. **hash+splice** is signing with a signature that is ready; " +
			"with **verify**, it is checked. **summary** and **digest** are what a policy or a person needs, and not part of the path.",
	},
	{title: "Others", what: regexp.MustCompile(``), text: "What no section above has claimed."},
}

const absolute = "Nanoseconds of one machine on one day, which others may have been using: they serve to be compared with each other, " +
	"within this table, and not with those of other machines."
