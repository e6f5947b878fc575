package ethereum

import "github.com/countersign-dev/countersign/chains"

var _ chains.Glancer = Chain{}

// Glance implements chains.Glancer: a transaction is a list in RLP, or begins with its type
// (EIP-2718).
func (Chain) Glance(raw []byte) bool {
	return len(raw) > 0 && (raw[0] >= 0xc0 || raw[0] >= 1 && raw[0] <= 4)
}
