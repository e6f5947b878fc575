package bitcoin_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
)

// shown has the transactions whose rendering is in testdata/summary.
func shown(t *testing.T) map[string][]byte {
	t.Helper()
	a, b, c := keyOf(t, secretOf(1)), keyOf(t, secretOf(2)), keyOf(t, secretOf(3))
	all := map[string][]byte{}
	for name, vector := range vectors(t) {
		all["vector_"+name] = chaintest.Unhex(t, vector.UnsignedTransaction)
	}
	mixed := bitcointest.PSBT{Version: psbt.Version2, LockTime: 800_000, Outputs: []bitcointest.Output{
		bitcointest.P2WPKH(a.PublicKey()).Output(10_000), {Script: bitcointest.Nulldata("invoice 17\x1b[31m")},
		bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(b.PublicKey())).Output(20_000),
		{Amount: 330, Script: []byte{0x51}},
	}}
	types := spends(a.PublicKey(), b.PublicKey(), c.PublicKey())
	for i, name := range []string{"P2PKH", "P2SH multisig", "P2SH-P2WPKH", "P2WSH multisig", "P2TR BIP-86", "P2TR leaf 2 of 3"} {
		in := types[name].Input(10_000, uint32(i))
		in.Sequence = []uint32{0xffffffff, 0xfffffffd, 144, 1<<22 | 10, 0, 0xfffffffe}[i]
		in.Sighash = []int64{-1, 1, 0x83, 2, 0, -1}[i]
		mixed.Inputs = append(mixed.Inputs, in)
	}
	all["mixed"] = mixed.Encode()
	signed := mustSign(t, parse(t, all["mixed"]), a.ID(), a)
	all["mixed_signed"] = signed
	all["locked_until_time"] = spoil(t, func(p *bitcointest.PSBT) { p.LockTime, p.Inputs[0].Sequence = 1_700_000_000, 0xfffffffe })
	all["final"] = spoil(t, func(p *bitcointest.PSBT) {
		p.LockTime, p.Inputs[0].Proof = 5, false
		p.Inputs[0].Records = []bitcointest.Record{{Key: []byte{psbt.InFinalScriptWitness}, Value: []byte{1, 1, 0xaa}}}
	})
	return all
}

// TestSummaries compares what is shown of each transaction, and its digest, with
// testdata/summary.
func TestSummaries(t *testing.T) {
	chaintest.Summaries(t, bitcoin.Chain{}, shown(t), keyOf(t, secretOf(1)))
}

// TestSummaryIsStable checks that the same bytes give the same digest, and that signing
// changes what is shown.
func TestSummaryIsStable(t *testing.T) {
	all := shown(t)
	digests := map[[32]byte]string{}
	for name, raw := range all {
		digest := parse(t, raw).Summary().Digest()
		if digest != parse(t, bytes.Clone(raw)).Summary().Digest() {
			t.Errorf("%s: two digests", name)
		}
		if other, taken := digests[digest]; taken {
			t.Errorf("%s and %s have one digest", name, other)
		}
		digests[digest] = name
	}
}
