package bitcoin_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// seeds returns a valid PSBT of each kind: the vectors, unsigned and signed, and one of
// each version with all input types.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	var all [][]byte
	for _, vector := range vectors(t) {
		all = append(all, chaintest.Unhex(t, vector.UnsignedTransaction), chaintest.Unhex(t, vector.SignedTransaction))
	}
	return slices.AppendSeq(all, maps.Values(mixedInputs(t)))
}

// mixedInputs returns a PSBT of each version with inputs of several types.
func mixedInputs(t testing.TB) map[uint32][]byte {
	t.Helper()
	a, b, c := keyOf(t, secretOf(1)).PublicKey(), keyOf(t, secretOf(2)).PublicKey(), keyOf(t, secretOf(3)).PublicKey()
	all := map[uint32][]byte{}
	for _, version := range []uint32{psbt.Version0, psbt.Version2} {
		packet := bitcointest.PSBT{Version: version, Outputs: []bitcointest.Output{bitcointest.P2WPKH(a).Output(1_000)}}
		for _, name := range []string{"P2PKH", "P2SH-P2WSH multisig", "P2TR one of two leaves"} {
			packet.Inputs = append(packet.Inputs, spends(a, b, c)[name].Input(1_000, uint32(len(packet.Inputs))))
		}
		all[version] = packet.Encode()
	}
	return all
}

// TestMutations checks that a changed PSBT is either refused, or encodes to its own
// bytes and has an output and a script of its own.
func TestMutations(t *testing.T) {
	chain := bitcoin.New(bitcoin.Limits{})
	tried, accepted := 0, 0
	for _, raw := range seeds(t) {
		for changed := range chaintest.Mutants(raw, []byte{0}) {
			tried++
			tx, err := chain.Parse(changed)
			if err != nil {
				continue
			}
			accepted++
			if packet := tx.(*bitcoin.Transaction).Packet(); !bytes.Equal(packet.Encode(), changed) {
				t.Errorf("accepted and written back differently: %x", changed)
			}
		}
	}
	t.Logf("%d changes tried, %d accepted", tried, accepted)
	if tried < testenv.Some(10_000) || accepted > tried/4 {
		t.Errorf("%d changes tried, %d accepted", tried, accepted)
	}
}

// TestMutatedSignature checks that no change of a signed PSBT is accepted which keeps
// the signature record and changes what it signs.
func TestMutatedSignature(t *testing.T) {
	key := keyOf(t, secretOf(1))
	p := base(t)
	p.Inputs[0].Proof = false // the claim alone: what is left is what the signature commits to
	signed := mustSign(t, parse(t, p.Encode()), key.ID(), key)
	was := packetOf(t, signed)
	for changed := range chaintest.Mutants(signed, []byte{0}) {
		tx, err := bitcoin.New(bitcoin.Limits{}).Parse(changed)
		if err != nil {
			continue
		}
		is := tx.(*bitcoin.Transaction).Packet()
		signature := is.Inputs[0].Value(psbt.InPartialSig)
		if signature != nil && !bytes.Equal(is.Unsigned(), was.Unsigned()) {
			t.Errorf("the signature stands over another transaction: %x", changed)
		}
	}
}
