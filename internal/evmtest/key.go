package evmtest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

// FixedKey signs everything with the same signature, and records the digest.
type FixedKey struct {
	keystore.Key
	Signature [65]byte
	Digest    [32]byte
}

// NewFixedKey returns a key that signs with r = s = 1, the shortest possible signature.
func NewFixedKey(t testing.TB) *FixedKey {
	t.Helper()
	key := &FixedKey{Key: Key(t, strings.Repeat("01", 32))}
	key.Signature[31], key.Signature[63] = 1, 1
	return key
}

// SignECDSA implements keystore.ECDSASigner.
func (k *FixedKey) SignECDSA(_ context.Context, digest [32]byte) ([65]byte, error) {
	k.Digest = digest
	return k.Signature, nil
}

// SignRaw parses a transaction and signs it, and checks that raw stays as it is.
func SignRaw(t testing.TB, chain chains.Chain, raw []byte, key keystore.Key) []byte {
	t.Helper()
	before := bytes.Clone(raw)
	signed, err := chaintest.Sign(t.Context(), chain, raw, "", key)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	if !bytes.Equal(raw, before) {
		t.Fatalf("%x: the input was written to: %x", before, raw)
	}
	return signed
}
