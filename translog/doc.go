// Package translog is a log that cannot be rewritten without notice: a Merkle
// tree for each organization (RFC 6962, as golang.org/x/mod/sumdb/tlog has it),
// whose leaves name what was recorded and whose root is signed.
//
// A [Leaf] is the organization, the id and the fingerprint of an activity, and
// SHA-256 of the record as it is stored: leaves can be published, and records
// stay private. A store appends the leaf in the transaction that records the
// activity, and keeps a [Head] and one [Row] a leaf. A [Signer] signs a head as a
// checkpoint (C2SP tlog-checkpoint, a signed note). Who has a checkpoint and a
// [Proof] knows that a record is in the log, with no other party's help; who has
// two checkpoints and a consistency proof knows that the later log extends the
// earlier one. [Audit] compares a store with its leaves, and those with a
// checkpoint. A [Witness] keeps the last checkpoint that it saw, refuses a log
// that does not extend it, and cosigns (C2SP tlog-cosignature).
//
// A checkpoint that never leaves the machine proves nothing about the newest
// leaves: an attacker who cuts them off can sign the shorter log again.
package translog
