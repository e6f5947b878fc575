package bitcoin_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// vector is a PSBT and its signed form, by bitcoinjs-lib.
type vector struct {
	PrivateKey          string `json:"privateKey"`
	PublicKey           string `json:"publicKey"`
	Address             string `json:"address"`
	UnsignedTransaction string `json:"unsignedTransaction"`
	SignedTransaction   string `json:"signedTransaction"`
	FinalTransaction    string `json:"finalTransactionHex"`
}

func vectors(t testing.TB) map[string]vector {
	t.Helper()
	return chaintest.Vectors[vector](t, "testdata/*.json")
}

// keyOf returns a key with a secret, with all its capabilities, verified.
func keyOf(t testing.TB, secret []byte) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, secret)
}

// secretOf returns a test key's secret: all bytes the same.
func secretOf(b byte) []byte {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = b
	}
	return secret
}

func parse(t testing.TB, raw []byte) *bitcoin.Transaction {
	t.Helper()
	tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	testenv.Must(t, err)
	return tx.(*bitcoin.Transaction)
}

// refused parses raw and returns the refusal, which must name a field and a byte.
func refused(t testing.TB, raw []byte) *chains.ParseError {
	t.Helper()
	_, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	parse, ok := errors.AsType[*chains.ParseError](err)
	if !ok {
		t.Fatalf("accepted, or refused otherwise: %v", err)
	}
	return parse
}

// sign parses, prepares and signs a transaction.
func sign(ctx context.Context, tx chains.Transaction, signWith string, keys ...keystore.Key) ([]byte, error) {
	signing, err := chaintest.Ready(tx, signWith, keys...)
	if err != nil {
		return nil, err
	}
	return signing.AppendSigned(ctx, nil)
}

// locate returns where to look for the keys that signWith means.
func locate(tx chains.Transaction, signWith string) ([]keystore.Locator, error) {
	request, err := tx.Request(signWith)
	if err != nil {
		return nil, err
	}
	return request.Locators(), nil
}

// looking is a key without its secret: enough to see what it would be asked to sign.
type looking struct{ pub keystore.PublicKey }

func (k looking) ID() string                    { return k.pub.String() }
func (k looking) PublicKey() keystore.PublicKey { return k.pub }
func (k looking) SignECDSA(context.Context, [32]byte) (signature [65]byte, err error) {
	return signature, errors.New("there is no secret")
}
func (k looking) SignSchnorr(context.Context, [32]byte, keystore.TaprootTweak) (signature [64]byte, err error) {
	return signature, errors.New("there is no secret")
}

// hazardsFor returns the hazards of signing with a key, or those of the transaction if
// the key is the zero key or signs nothing in it.
func hazardsFor(tx chains.Transaction, pub keystore.PublicKey) []chains.Hazard {
	if signing, err := chaintest.Ready(tx, "key", looking{pub}); err == nil {
		return signing.Hazards()
	}
	return tx.Hazards()
}

// signDefault signs a PSBT as an engine does that only allows the given hazards. It
// returns the balance that is shown, in satoshi, fee included. ok is false if the PSBT
// is refused.
func signDefault(t testing.TB, raw []byte, key keystore.Key, signWith string, allowed ...string) (signed []byte, leaving int64, ok bool) {
	t.Helper()
	tx, err := bitcoin.New(bitcoin.Limits{}).Parse(raw)
	if err != nil {
		return nil, 0, false
	}
	signing, err := chaintest.Ready(tx, signWith, key)
	if err != nil {
		return nil, 0, false
	}
	for _, hazard := range signing.Hazards() {
		if !slices.Contains(allowed, hazard.Name) {
			return nil, 0, false
		}
	}
	if signed, err = signing.AppendSigned(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	balance := signing.(chains.WalletSigning).Balance()
	if len(allowed) == 0 && (balance.Bound != chains.BoundExact || balance.Value == nil) {
		t.Fatalf("balance %+v of %x", balance, raw)
	}
	if balance.Value != nil {
		leaving = balance.Value.Int64()
	}
	return signed, leaving, true
}

func packetOf(t testing.TB, raw []byte) *psbt.Packet {
	t.Helper()
	packet, err := psbt.Read(raw)
	testenv.Must(t, err)
	return packet
}

// mustSign is sign of what is not refused.
func mustSign(t testing.TB, tx chains.Transaction, signWith string, keys ...keystore.Key) []byte {
	t.Helper()
	raw, err := sign(t.Context(), tx, signWith, keys...)
	testenv.Must(t, err)
	return raw
}
