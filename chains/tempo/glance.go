package tempo

import "github.com/countersign-dev/countersign/chains"

var _ chains.Glancer = Chain{}

// Glance implements chains.Glancer: a transaction is a type and a list in RLP.
func (Chain) Glance(raw []byte) bool {
	return len(raw) > 1 && (raw[0] == typeTempo || raw[0] == typeFeePayer) && raw[1] >= 0xc0
}
