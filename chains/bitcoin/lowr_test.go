package bitcoin_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestFeeRateHolds has 100 inputs and a fee of 1 sat/vB, reckoned as wallets do that make
// PSBTs: 71 bytes a signature with its sighash type. Signed, the rate must not be lower,
// or nodes would not relay the transaction.
func TestFeeRateHolds(t *testing.T) {
	const fee, inputs = 6817, 100
	key := keyOf(t, bytes.Repeat([]byte{0x22}, 32))
	lock := bitcointest.P2WPKH(key.PublicKey())
	made := bitcointest.PSBT{Outputs: []bitcointest.Output{lock.Output(inputs*100_000 - fee)}}
	for i := range inputs {
		made.Inputs = append(made.Inputs, lock.Input(100_000, uint32(i)))
	}
	for name, most := range map[string]uint64{"software": fee, "HSM": 7000} {
		signer := key
		if name == "HSM" {
			signer = onlyECDSA{key, key.(keystore.ECDSASigner), new(int)}
		}
		signed := mustSign(t, parse(t, made.Encode()), key.ID(), signer)
		if size := virtualSize(t, signed); size > most {
			t.Errorf("%s: %d vB, fee %d: %.3f sat/vB", name, size, fee, fee/float64(size))
		}
	}
}

// askedFor counts the two kinds of ECDSA signatures that a key is asked for.
type askedFor struct {
	keystore.Key
	plain, low *int
}

func (k askedFor) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	*k.plain++
	return k.Key.(keystore.ECDSASigner).SignECDSA(ctx, digest)
}

func (k askedFor) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	*k.low++
	return k.Key.(keystore.LowRSigner).SignLowR(ctx, digest)
}

// TestOnlyTransactionsAreGround: messages (BIP-322) pay no fee, and their signatures stay
// what other libraries make.
func TestOnlyTransactionsAreGround(t *testing.T) {
	key := keyOf(t, bytes.Repeat([]byte{0x22}, 32))
	lock := bitcointest.P2WPKH(key.PublicKey())
	made := bitcointest.PSBT{
		Inputs:  []bitcointest.Input{lock.Input(10_000, 0)},
		Outputs: []bitcointest.Output{lock.Output(9_000)},
	}
	message, err := bitcoin.ToSign{Text: "hello", Address: "bc1q2vfxp232rx0z9rzn0hay9jptagk8c86d9w4l7k"}.PSBT()
	testenv.Must(t, err)
	for name, c := range map[string]struct {
		raw        []byte
		plain, low int
	}{"transaction": {made.Encode(), 0, 1}, "message": {message, 1, 0}} {
		var plain, low int
		if _, err := sign(t.Context(), parse(t, c.raw), key.ID(), askedFor{key, &plain, &low}); err != nil {
			t.Fatal(err)
		}
		if plain != c.plain || low != c.low {
			t.Errorf("%s: %d plain signatures and %d with a low r, want %d and %d", name, plain, low, c.plain, c.low)
		}
	}
}
