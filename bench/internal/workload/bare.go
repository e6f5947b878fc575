package workload

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

// Bare returns the operation on the curve alone, as its library offers it: go-ethereum's
// crypto.Sign, btcec's schnorr.Sign or crypto/ed25519's Sign. With verify, the same
// library verifies each signature. For a low r, crypto.Sign is called again until it has
// one, as often as the engine on average: twice.
func (w *Workload) Bare(t testing.TB, verify bool) func(i int) {
	t.Helper()
	switch w.Scheme {
	case Ed25519:
		return w.bareEd25519(t, verify)
	case Schnorr:
		return w.bareSchnorr(t, verify)
	}
	return w.bareECDSA(t, verify)
}

func (w *Workload) bareECDSA(t testing.TB, verify bool) func(i int) {
	digests, keys, public := w.digests(), make([]*ecdsa.PrivateKey, Keys), make([][]byte, Keys)
	for i := range keys {
		key, err := crypto.ToECDSA(Secret(i))
		if err != nil {
			t.Fatal(err)
		}
		keys[i], public[i] = key, crypto.FromECDSAPub(&key.PublicKey)
	}
	return func(i int) {
		i %= Keys
		digest := digests[i]
		signature, err := crypto.Sign(digest[:], keys[i])
		for ; err == nil && w.Scheme == LowR && signature[0] >= 0x80; signature, err = crypto.Sign(digest[:], keys[i]) {
			digest[31]++ // crypto.Sign takes no additional data for another nonce
		}
		if err != nil {
			t.Fatal("crypto.Sign: ", err)
		}
		if verify && !crypto.VerifySignature(public[i], digest[:], signature[:64]) {
			t.Fatalf("crypto.Sign: signature %d does not verify", i)
		}
	}
}

func (w *Workload) bareSchnorr(t testing.TB, verify bool) func(i int) {
	digests, keys := w.digests(), make([]*btcec.PrivateKey, Keys)
	public := make([]*btcec.PublicKey, Keys)
	for i := range keys {
		keys[i], public[i] = btcec.PrivKeyFromBytes(Secret(i))
	}
	return func(i int) {
		i %= Keys
		signature, err := schnorr.Sign(keys[i], digests[i][:], schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
		if err != nil {
			t.Fatal("schnorr.Sign: ", err)
		}
		if verify && !signature.Verify(digests[i][:], public[i]) {
			t.Fatalf("schnorr.Sign: signature %d does not verify", i)
		}
	}
}

func (w *Workload) bareEd25519(t testing.TB, verify bool) func(i int) {
	messages, keys := w.messages(t), make([]ed25519.PrivateKey, Keys)
	for i := range keys {
		keys[i] = ed25519.NewKeyFromSeed(Secret(i))
	}
	return func(i int) {
		i %= Keys
		signature := ed25519.Sign(keys[i], messages[i])
		if verify && !ed25519.Verify(ed25519.PublicKey(keys[i][32:]), messages[i], signature) {
			t.Fatalf("ed25519.Sign: signature %d does not verify", i)
		}
	}
}

// digests returns 32 bytes for each transaction, for the bare operation on secp256k1. Their
// values make no difference to the curve.
func (w *Workload) digests() [][32]byte {
	digests := make([][32]byte, Keys)
	for i := range digests {
		digests[i] = [32]byte(crypto.Keccak256(w.Raw[i]))
	}
	return digests
}

// messages returns the bytes that each Solana transaction signs.
func (w *Workload) messages(t testing.TB) [][]byte {
	t.Helper()
	messages := make([][]byte, Keys)
	for i := range messages {
		tx, err := solana.New(solana.Limits{}).Parse(w.Raw[i])
		if err != nil {
			t.Fatal(err)
		}
		messages[i] = tx.(interface{ Message() []byte }).Message()
	}
	return messages
}

// Handle returns signing with the keystore's key handle, without the rest of the path and
// without verification: the lower bound for the engine.
func (w *Workload) Handle(t testing.TB) func(i int) {
	t.Helper()
	keys := make([]keystore.Key, Keys)
	for i := range keys {
		keys[i] = w.Key(t, i)
	}
	ctx, sign := t.Context(), func(keystore.Key, int) error { return nil }
	switch w.Scheme {
	case Ed25519:
		messages := w.messages(t)
		sign = func(key keystore.Key, i int) error {
			_, err := key.(keystore.Ed25519Signer).SignEd25519(ctx, messages[i])
			return err
		}
	case Schnorr:
		digests := w.digests()
		sign = func(key keystore.Key, i int) error {
			_, err := key.(keystore.SchnorrSigner).SignSchnorr(ctx, digests[i], keystore.KeyPath())
			return err
		}
	case LowR:
		digests := w.digests()
		sign = func(key keystore.Key, i int) error {
			_, err := key.(keystore.LowRSigner).SignLowR(ctx, digests[i])
			return err
		}
	case ECDSA:
		digests := w.digests()
		sign = func(key keystore.Key, i int) error {
			_, err := key.(keystore.ECDSASigner).SignECDSA(ctx, digests[i])
			return err
		}
	}
	return func(i int) {
		if err := sign(keys[i%Keys], i%Keys); err != nil {
			t.Fatal(err)
		}
	}
}
