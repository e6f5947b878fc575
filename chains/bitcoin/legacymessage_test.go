package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestLegacySignature: the first byte names the kind of address, and an address that is
// not of the key is refused.
func TestLegacySignature(t *testing.T) {
	key := keyOf(t, bytes.Repeat([]byte{0x22}, 32))
	other := keyOf(t, bytes.Repeat([]byte{0x23}, 32))
	preimage := []byte("\x18Bitcoin Signed Message:\n\x05hello")
	signature, err := key.(keystore.ECDSASigner).SignECDSA(t.Context(), chainhash.DoubleHashH(preimage))
	testenv.Must(t, err)
	first := map[string]byte{"_P2PKH": 31, "_P2SH": 35, "_P2WPKH": 39}
	for _, address := range append(bitcoin.Chain{}.Addresses(key.PublicKey()), bitcoin.Chain{}.Addresses(other.PublicKey())...) {
		var want byte
		if suffix := address.Format[strings.LastIndex(address.Format, "_"):]; bytes.Contains(ownAddresses(key), []byte(address.Address)) {
			want = first[suffix]
		}
		text, err := bitcoin.LegacySignature(preimage, signature, address.Address)
		if want == 0 {
			if err == nil {
				t.Errorf("%s: %s", address.Address, text)
			}
			continue
		}
		raw, decodeErr := base64.StdEncoding.DecodeString(text)
		if err != nil || decodeErr != nil || len(raw) != 65 || raw[0] != want+signature[64] || !bytes.Equal(raw[1:], signature[:64]) {
			t.Errorf("%s: %x (%v), want %d first", address.Address, raw, err, want+signature[64])
		}
	}
	if text, err := bitcoin.LegacySignature(preimage, signature, ""); err != nil || text == "" {
		t.Error(err)
	}
	if text, err := bitcoin.LegacySignature(preimage, signature, "no address"); err == nil {
		t.Error(text)
	}
}

func ownAddresses(key keystore.Key) []byte {
	var all []string
	for _, address := range (bitcoin.Chain{}).Addresses(key.PublicKey()) {
		all = append(all, address.Address)
	}
	return []byte(strings.Join(all, "\n"))
}
