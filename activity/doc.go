// Package activity defines the wire format: requests, answers and errors.
//
//	{ "type": "ACTIVITY_TYPE_…", "timestampMs": "1763650000000", "organizationId": "…",
//	  "parameters": { … }, "generateAppProofs": true }
//
// [Decode] parses such a body once and strictly: a single object in UTF-8 without
// duplicate or unknown members, with names matched byte for byte and nothing after the
// object. All later steps use that one [Request], so that what is carried out is what was
// verified. The body is kept unchanged; its SHA-256 is the request's [Fingerprint].
//
// A [Record] is stored for each request that was carried out or waits for approvals: the
// body, the votes with their stamps (the submitter's first), and the result. The answer
// is a function of the record. An [AppProof] is the engine's signed statement of an
// outcome, which [VerifyAppProof] checks offline.
//
// A refusal is an [Error]: a gRPC code, a stable [Reason], and a message that says what
// to do. A refused request leaves no record.
//
// The package does no I/O and reads no clock.
package activity
