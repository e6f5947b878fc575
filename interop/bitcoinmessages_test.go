package interop

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestBitcoinMessages checks that bitcoinjs-message verifies our signatures of messages
// for the addresses of a key on mainnet, and neither for another message nor for the
// addresses of another key.
func TestBitcoinMessages(t *testing.T) {
	peer := startPeer(t, "bitcoinmessages.mjs")
	key, other := bitcoinKey(t, bitcoinSecret(1)), bitcoinKey(t, bitcoinSecret(2))
	verifies := func(message, address, signature string) bool {
		var answer struct{ Valid bool }
		peer.ask(t, map[string]string{"message": message, "address": address, "signature": signature}, &answer)
		return answer.Valid
	}
	checked := 0
	for _, message := range []string{"hello", "Grüße, 世界 😁", strings.Repeat("x", 252), strings.Repeat("x", 253), strings.Repeat("x", 70_000)} {
		preimage := bip137.Preimage([]byte(message))
		read, err := bip137.Parse(preimage, bitcoin.Chain{})
		testenv.Must(t, err)
		signing, err := chaintest.Ready(read, key.ID(), key)
		testenv.Must(t, err)
		signed, err := signing.AppendSigned(t.Context(), nil)
		testenv.Must(t, err)
		theirs := bitcoin.Chain{}.Addresses(other.PublicKey())
		for i, address := range (bitcoin.Chain{}).Addresses(key.PublicKey()) {
			if !strings.Contains(address.Format, "_MAINNET_") || strings.HasSuffix(address.Format, "_P2TR") {
				continue
			}
			signature, err := bitcoin.LegacySignature(preimage, [65]byte(signed), address.Address)
			testenv.Must(t, err)
			if !verifies(message, address.Address, signature) {
				t.Errorf("%.20q for %s: %s does not verify", message, address.Address, signature)
			}
			if verifies(message+" ", address.Address, signature) || verifies(message, theirs[i].Address, signature) {
				t.Errorf("%.20q for %s: %s verifies for another message or address", message, address.Address, signature)
			}
			checked++
		}
	}
	if checked != 15 {
		t.Errorf("%d signatures were verified", checked)
	}
}
