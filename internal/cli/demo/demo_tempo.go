package demo

import (
	"encoding/hex"
	"errors"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// The transactions, on Tempo's test network.
const (
	// As viem and ox encode it: two calls, the first of which is transfer(0x08d2…67B7,
	// 1 000 000) to the token 0x20c0…0001, which also pays the fee; valid for a limited
	// time.
	demoBatch = "76f8ae82a5bf843b9aca008504a817c800830186a0" + demoBatchRest

	// The same with a gas limit of 30,000,001.
	demoGasOverCap = "76f8af82a5bf843b9aca008504a817c8008401c9c381" + demoBatchRest

	demoBatchRest = "f876f85c9420c000000000000000000000000000000000000180b844" +
		"a9059cbb00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7" +
		"00000000000000000000000000000000000000000000000000000000000f4240" +
		"d79408d2b0a37f869ff76bacb5bab3278e26ab7067b78080" +
		"c0050384713fb300846553f1009420c000000000000000000000000000000000000180c0"
)

// tempoDemo checks a batch of calls with go-ethereum's RLP and curve, which recover the
// sender from the signature.
var tempoDemo = Chain{
	Name:     "Tempo",
	Kind:     activity.TransactionTypeTempo,
	Curve:    keystore.CurveSecp256k1,
	does:     "two calls in one transaction, the fee in a stablecoin",
	Unsigned: func(keystore.PublicKey) (string, error) { return demoBatch, nil },
	dangers: []demoDanger{
		{"tempo/gas-over-cap", "One that asks for more gas than the network allows a transaction:", func(keystore.PublicKey) (string, error) { return demoGasOverCap, nil }},
	},
	Check: checkTempo,
}

// checkTempo reads 76 ‖ rlp([item…, signature]). The preimage is the same without the
// signature.
func checkTempo(signed string, pub keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	var items []rlp.RawValue
	if len(raw) == 0 || raw[0] != 0x76 || rlp.DecodeBytes(raw[1:], &items) != nil || len(items) == 0 {
		return "", errors.New("not a Tempo transaction")
	}
	var signature []byte
	last := len(items) - 1
	if err := rlp.DecodeBytes(items[last], &signature); err != nil || len(signature) != crypto.SignatureLength {
		return "", errors.New("the last item is not a signature of 65 bytes")
	}
	list, err := rlp.EncodeToBytes(items[:last])
	if err != nil {
		return "", err
	}
	signature[64] -= 27
	signer, err := crypto.SigToPub(crypto.Keccak256([]byte{0x76}, list), signature)
	if err != nil {
		return "", err
	}
	return checkSender(crypto.PubkeyToAddress(*signer), pub)
}
