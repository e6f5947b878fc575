package workload

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/keystore"
)

// bitcoinSpend is a type of output: how it is locked, the prefix of its addresses and
// the scheme that spends it.
type bitcoinSpend struct {
	lock   func(keystore.PublicKey) bitcointest.Spend
	prefix string
	scheme Scheme
}

var bitcoinSpends = map[string]bitcoinSpend{
	"P2PKH":  {bitcointest.P2PKH, "1", LowR},
	"P2WPKH": {bitcointest.P2WPKH, "bc1q", LowR},
	"P2TR":   {bitcointest.BIP86, "bc1p", Schnorr},
}

// Bitcoin returns the kind of PSBTs with a number of inputs of one type. All inputs are
// of the same key, and each has the transaction that it spends.
func Bitcoin(name string, inputs int) Kind {
	spend := bitcoinSpends[name]
	kind := Kind{Chain: "bitcoin", Type: name, Scheme: spend.scheme, AddressPrefix: spend.prefix}
	if inputs > 1 {
		kind.Type = fmt.Sprintf("%s×%d", name, inputs)
	}
	kind.Transaction = func(number int, signer keystore.PublicKey) []byte {
		lock := spend.lock(signer)
		packet := bitcointest.PSBT{Outputs: []bitcointest.Output{lock.Output(uint64(inputs) * 9_000)}}
		for i := range inputs {
			packet.Inputs = append(packet.Inputs, lock.Input(10_000, uint32(number*inputs+i)))
		}
		return packet.Encode()
	}
	return kind
}
