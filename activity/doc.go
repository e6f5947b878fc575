// Package activity is the wire: what a client asks for, what it is answered,
// and how it is told that it cannot have it.
//
//	{ "type": "ACTIVITY_TYPE_…", "timestampMs": "1763650000000", "organizationId": "…",
//	  "parameters": { … }, "generateAppProofs": true }
//
// [Decode] reads such a body once, strictly: one object, no member twice, names
// byte for byte, nothing unknown, UTF-8 and nothing behind it. Everything after
// goes by that one reading, so that what was verified is what is carried out.
// The body is kept as it came; its SHA-256 is the request's [Fingerprint].
//
// A [Record] is what stays of a request that was carried out: the body, the
// submitter's stamp as the first vote, the result. What it is answered with
// depends on the record alone, now and later. An [AppProof] is the engine's own
// signed word for it, which [VerifyAppProof] checks offline.
//
// A refusal is an [Error]: a gRPC code, a stable [Reason], and a message that
// says what to do. It leaves no record.
//
// The package is pure: no input or output, no clock.
package activity
