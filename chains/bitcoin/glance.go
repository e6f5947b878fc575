package bitcoin

import (
	"bytes"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.Glancer = Chain{}

// Glance implements chains.Glancer: a PSBT begins with its magic (BIP-174).
func (Chain) Glance(raw []byte) bool { return bytes.HasPrefix(raw, []byte("psbt\xff")) }
