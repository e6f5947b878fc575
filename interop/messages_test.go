package interop

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
)

func messageLine(t *testing.T) map[string]any {
	t.Helper()
	secret, err := hex.DecodeString(enginetest.Secret)
	if err != nil {
		t.Fatal(err)
	}
	pub := ed25519.NewKeyFromSeed(secret).Public().(ed25519.PublicKey)
	return map[string]any{"secret": "0x" + enginetest.Secret, "solanaAddress": base58.Encode(pub),
		"blockhash": base58.Encode(bytes.Repeat([]byte{7}, 32)), "text": hex.EncodeToString([]byte("hello"))}
}

// TestClientsSignMessages checks that clients get the bytes that their library signs with
// the key itself.
func TestClientsSignMessages(t *testing.T) {
	c := newClients(t, func(c *countersign.Config) { c.AllowHazards = []string{"ethereum/delegation", "solana/raw-message"} })
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
		"solana message":      "solana/raw-message",
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
