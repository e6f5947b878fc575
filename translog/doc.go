// Package translog implements a tamper-evident log: for each organization a Merkle tree
// (RFC 6962, as implemented by golang.org/x/mod/sumdb/tlog) whose leaves identify what was
// recorded and whose root is signed.
//
// A [Leaf] has the organization, the id and the fingerprint of an activity, and the SHA-256 of the
// stored record, so that leaves can be published while records stay private. A store appends the leaf
// in the transaction that records the activity, and keeps a [Head] and one [Row] per leaf. A [Signer]
// signs a head as a checkpoint (C2SP tlog-checkpoint, a signed note).
//
// A checkpoint and a [Proof] prove offline that a record is in the log. Two checkpoints and a
// consistency proof prove that the later log extends the earlier one. [Audit] compares a store with its
// leaves, and the leaves with a checkpoint. A [Witness] remembers the last checkpoint of a log, refuses
// a log that does not extend it, and cosigns (C2SP tlog-cosignature).
//
// A checkpoint that never leaves the machine proves nothing about the newest leaves: an
// attacker can cut them off and sign the shorter log again.
package translog
