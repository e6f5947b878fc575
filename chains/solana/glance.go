package solana

import "github.com/countersign-dev/countersign/chains"

var _ chains.Glancer = Chain{}

// Glance implements chains.Glancer: a transaction or its message begins with a version, or
// with a count of signers, each of which has a key of 32 bytes.
func (Chain) Glance(raw []byte) bool {
	return len(raw) > 0 && (raw[0]&prefixBit != 0 || raw[0] > 0 && int(raw[0])*keySize < len(raw))
}
