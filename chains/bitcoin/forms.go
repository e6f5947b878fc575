package bitcoin

import (
	"bytes"
	"errors"

	"github.com/countersign-dev/countersign/chains"
)

var (
	_ chains.Exchanger    = Chain{}
	_ chains.NetworkNamer = Chain{}
)

// Forms implements chains.Exchanger.
func (Chain) Forms() (forms []string, expected string) {
	return []string{"base64", "binary"}, "a PSBT in hex, base64 or binary"
}

// Complete implements chains.Exchanger. A PSBT has a place for each signature.
func (Chain) Complete(raw []byte) (transaction []byte, err error) {
	if !bytes.HasPrefix(raw, []byte("psbt\xff")) {
		return nil, errors.New("not a PSBT, which starts with the bytes 70736274ff")
	}
	return raw, nil
}

// NetworkName implements chains.NetworkNamer.
func (c Chain) NetworkName() string { return c.limits.Network.String() }
