package personal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/keystore"
)

const signInAddress = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"

const signInText = "https://example.com wants you to sign in with your Ethereum account:\n" + signInAddress + `

I accept the terms.

URI: https://example.com/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2025-11-20T12:00:00Z
Expiration Time: 2025-11-20T13:00:00Z
Not Before: 2025-11-20T12:00:00Z
Request ID: 7
Resources:
- https://example.com/a
- https://example.com/b`

const siwe = "example.com wants you to sign in with your Ethereum account:\n0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56\n\nHello\n\n" +
	"URI: https://example.com/login\nVersion: 1\nChain ID: 1\nNonce: 32891756\nIssued At: 2025-11-20T12:00:00Z"

var everyChain = []chains.Chain{ethereum.Chain{}, tempo.Chain{}, tron.Chain{}, solana.Chain{}}

// FuzzParse checks that an accepted preimage can be rebuilt from what is shown, that its
// Keccak-256 is signed, and that it is not a transaction of any chain.
func FuzzParse(f *testing.F) {
	for _, message := range []string{"", "hello", "12345678901", siwe, strings.Repeat("ab", 32), "0x" + strings.Repeat("ab", 32), strings.Repeat("\xab", 32), "\x00", "é世😁\t\n"} {
		f.Add(personal.Preimage(personal.EthereumPrefix, []byte(message)))
		f.Add(personal.Preimage(personal.TronPrefix, []byte(message)))
		f.Add([]byte("\x19\x00" + strings.Repeat("v", 20) + message))
	}
	f.Add([]byte("\x19\x01" + strings.Repeat("h", 64)))
	key := chaintest.Key(f, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, 32))
	f.Fuzz(func(t *testing.T, preimage []byte) {
		read, err := parse(preimage)
		if err != nil {
			return
		}
		if summary := read.Summary(); !isShown(preimage, &summary) {
			t.Fatalf("%q is shown as %+v", preimage, summary.Fields)
		}
		for _, chain := range everyChain {
			if _, err := chain.Parse(preimage); err == nil {
				t.Fatalf("%x is also a transaction of %s", preimage, chain.Name())
			}
		}
		signing := chaintest.MustReady(t, read, key.ID(), key)
		signed, err := signing.AppendSigned(t.Context(), nil)
		public := key.PublicKey().Compressed()
		if err != nil || !crypto.VerifySignature(public[:], crypto.Keccak256(preimage), signed[:64]) {
			t.Fatalf("%v, or the signed digest is not that of the preimage", err)
		}
	})
}

// isShown reports whether a preimage can be rebuilt from the fields of a summary.
func isShown(preimage []byte, summary *chains.Summary) bool {
	prefix, rest := personal.EthereumPrefix, preimage
	if summary.Chain == tron.Name {
		prefix = personal.TronPrefix
	}
	field := summary.Fields[len(summary.Fields)-1]
	if validator := summary.Fields[1]; validator.Label == "validator" {
		rest = bytes.TrimPrefix(rest, append([]byte{0x19, 0x00}, common.HexToAddress(validator.Value).Bytes()...))
		return len(rest) == len(preimage)-22 && areBytes(rest, field)
	}
	if field.Type == chains.TypeText {
		return bytes.Equal(preimage, personal.Preimage(prefix, []byte(field.Value)))
	}
	return len(rest) > 32 && areBytes(rest[len(rest)-32:], field) && bytes.Equal(preimage, personal.Preimage(prefix, rest[len(rest)-32:]))
}

// areBytes reports whether a field shows the bytes, or their hash if they are long.
func areBytes(raw []byte, field chains.Field) bool {
	if field.Length == 0 {
		return field.Value == hex.EncodeToString(raw)
	}
	digest := sha256.Sum256(raw)
	return field.Length == len(raw) && field.SHA256 == hex.EncodeToString(digest[:])
}

// parse reads a preimage for Ethereum or Tron.
func parse(preimage []byte) (chains.Transaction, error) {
	message := chains.Message{Form: chains.MessageKeccak256, Bytes: preimage}
	if read, err := (tron.Chain{}).ReadMessage(message); err == nil {
		return read, nil
	}
	return ethereum.Chain{}.ReadMessage(message)
}
