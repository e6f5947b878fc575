package ethereum_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/gethoracle"
)

// TestUnsign removes the signature of random transactions of all types. What is left are the
// bytes that were signed, and the signer is the key's address.
func TestUnsign(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for number := range 600 {
		c := gethoracle.Generate(random, number%gethoracle.Kinds)
		unsigned, signers, signed, err := ethereum.Chain{}.Unsign(c.Signed)
		want := []string{crypto.PubkeyToAddress(c.Key.PublicKey).Hex()}
		if err != nil || !signed || !bytes.Equal(unsigned, c.Unsigned) || !slices.Equal(signers, want) {
			t.Fatalf("%x\n got %x, by %v (%v)\nwant %x, by %v", c.Signed, unsigned, signers, err, c.Unsigned, want)
		}
		if _, _, signed, err := (ethereum.Chain{}).Unsign(c.Unsigned); signed || err != nil {
			t.Fatalf("%x is taken for signed: %v", c.Unsigned, err)
		}
	}
}

// TestUnsignMutants changes signed transactions. Every signer that is reported is the one
// that go-ethereum recovers.
func TestUnsignMutants(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	reported := 0
	for kind := range gethoracle.Kinds {
		c := gethoracle.Generate(random, kind)
		for mutant := range chaintest.Mutants(c.Signed, []byte{0x00, 0x01, 0x1b, 0x80, 0xff}) {
			_, signers, _, err := ethereum.Chain{}.Unsign(mutant)
			if err != nil || len(signers) == 0 {
				continue
			}
			reported++
			checkUnsigned(t, mutant, signers[0])
		}
	}
	if reported < 100 {
		t.Errorf("only %d mutants are still signed", reported)
	}
}

// checkUnsigned compares a reported signer with the sender that go-ethereum recovers.
func checkUnsigned(t *testing.T, raw []byte, signer string) {
	t.Helper()
	var tx types.Transaction
	if err := tx.UnmarshalBinary(raw); err != nil {
		t.Errorf("%x: signed by %s, and go-ethereum does not decode it: %v", raw, signer, err)
		return
	}
	var by types.Signer = types.HomesteadSigner{}
	if tx.Protected() {
		by = types.LatestSignerForChainID(tx.ChainId())
	}
	if sender, err := types.Sender(by, &tx); err != nil || sender.Hex() != signer {
		t.Errorf("%x: signed by %s, go-ethereum: %v, %v", raw, signer, sender, err)
	}
}
