package fuzz

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/gethoracle"
)

// FuzzUnsign checks that the signer of an Ethereum transaction is the sender that go-ethereum
// recovers, and that what is unsigned is not taken for signed again.
func FuzzUnsign(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 10)) //nolint:gosec // the same seeds in every run
	for kind := range gethoracle.Kinds {
		f.Add(gethoracle.Generate(random, kind).Signed)
	}
	if raw, err := hex.DecodeString("76c0"); err == nil {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, chain := range map[string]chains.Chain{"ethereum": ethereum.Chain{}, "tempo": tempo.Chain{}} {
			unsigned, signers, signed, err := chain.Words().Forms.Unsign(raw)
			if err != nil || !signed {
				continue
			}
			if name == "ethereum" && len(signers) > 0 {
				checkSenderOf(t, raw, signers[0])
			}
			if _, err := chain.Parse(unsigned); err != nil {
				continue
			}
			if _, _, again, _ := chain.Words().Forms.Unsign(unsigned); again && name == "ethereum" {
				t.Errorf("%x is taken for signed", unsigned)
			}
		}
	})
}

// checkSenderOf compares a signer with the sender that go-ethereum recovers.
func checkSenderOf(t *testing.T, raw []byte, signer string) {
	t.Helper()
	var tx types.Transaction
	if err := tx.UnmarshalBinary(raw); err != nil {
		t.Fatalf("%x: signed by %s, and go-ethereum does not decode it: %v", raw, signer, err)
	}
	var by types.Signer = types.HomesteadSigner{}
	if tx.Protected() {
		by = types.LatestSignerForChainID(tx.ChainId())
	}
	if sender, err := types.Sender(by, &tx); err != nil || sender.Hex() != signer {
		t.Errorf("%x: signed by %s, go-ethereum: %v, %v", raw, signer, sender, err)
	}
}
