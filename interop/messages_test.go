package interop

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func messageLine(t *testing.T) map[string]any {
	t.Helper()
	secret := testenv.Hex(t, enginetest.Secret)
	pub := ed25519.NewKeyFromSeed(secret).Public().(ed25519.PublicKey)
	return map[string]any{"secret": "0x" + enginetest.Secret, "solanaAddress": base58.Encode(pub),
		"blockhash": base58.Encode(bytes.Repeat([]byte{7}, 32)), "text": hex.EncodeToString([]byte("Log in to the interop tests"))}
}

// TestClientsSignMessages checks that clients get the bytes that their library signs with
// the key itself. The text is of a template that is pinned.
func TestClientsSignMessages(t *testing.T) {
	files := fstest.MapFS{"text.json": {Data: []byte(`{"texts": [{"domain": "interop.example", "text": "Log in to the interop tests"}]}`)}}
	unpinned, err := descriptors.Open(files, descriptors.Options{})
	testenv.Must(t, err)
	pins := new(descriptors.Pins)
	pins.Add(unpinned.Files()[0])
	pinned, err := descriptors.Open(files, descriptors.Options{Pins: pins})
	testenv.Must(t, err)
	c := newClients(t, func(c *countersign.Config) { c.AllowHazards, c.Descriptors = []string{"ethereum/delegation"}, pinned })
	for _, client := range []string{"viem typed data", "ethers typed data", "viem authorization", "viem preimage", "solana transactions", "solana message"} {
		var verdict string
		c.value(t, "message", client, messageLine(t), &verdict)
		if verdict != "equal" {
			t.Errorf("%s: %s", client, verdict)
		}
	}
}

// TestClientsMessagesRefused checks that digests, hazardous transactions sent as bare
// bytes, and delegations are refused with the cure.
func TestClientsMessagesRefused(t *testing.T) {
	c := newClients(t)
	line := messageLine(t)
	line["assign"], line["withoutDomain"] = true, true
	for client, cure := range map[string]string{
		"viem typed data":     "EIP712Domain is missing: add the domain's members",
		"viem message":        "HASH_FUNCTION_KECCAK256",
		"ethers message":      "HASH_FUNCTION_KECCAK256",
		"viem authorization":  "ethereum/delegation",
		"solana transactions": "solana/authority-change",
		"solana message":      "message/free-text",
	} {
		got := c.call(t, "message", client, line)
		if text, _ := json.Marshal(got); got.Error == "" || !strings.Contains(string(text), cure) {
			t.Errorf("%s: %s, want %s", client, text, cure)
		}
	}
	if made := c.fixture.Signing.Signatures.Load(); made != 0 {
		t.Errorf("%d signatures", made)
	}
}
