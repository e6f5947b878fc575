package tempo_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
)

const payerSecret = "1111111111111111111111111111111111111111111111111111111111111111"

// p256Signature has the shape of a P-256 sender's signature.
var p256Signature = append(append([]byte{1}, bytes.Repeat([]byte{7}, 128)...), 0)

// senderSignatures are the sender's signatures that a fee payer can get.
func senderSignatures(c tempomodel.Case) map[string][]byte {
	return map[string][]byte{
		"secp256k1":  c.Tx.SenderSignature(c.Key),
		"access key": c.Tx.KeychainSignature(common.Address{9}, c.Key),
		"P-256":      p256Signature,
		"WebAuthn":   append([]byte{2}, bytes.Repeat([]byte{7}, 200)...),
	}
}

// TestCountersign compares a fee payer's signature over random transactions with the
// model's, in both forms, and checks that it only authorizes the fee: with its key the effects
// are those that the bytes have, and what the sender does is not the fee payer's.
func TestCountersign(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	payer := ecdsaKey(t, payerSecret)
	for number := range 240 {
		c := tempomodel.Generate(random, number)
		c.Tx.FeePayer = []byte{0}
		for kind, signature := range senderSignatures(c) {
			for _, forPayer := range []bool{false, true} {
				tx := c.Tx.ToCountersign(signature, forPayer)
				raw := tx.Encode()
				signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, raw, address(t, payerSecret), evmtest.Key(t, payerSecret))
				if want := tx.Countersign(payer); err != nil || !bytes.Equal(signed, want) {
					t.Fatalf("%s, %x:\n got %x (%v)\nwant %x", kind, raw, signed, err, want)
				}
				checkPayerEffects(t, parse(t, raw).Effects())
				checkPayerSigns(t, raw)
			}
		}
	}
}

// checkPayerSigns compares the effects for the fee payer's key with those of the bytes.
func checkPayerSigns(t *testing.T, raw []byte) {
	t.Helper()
	key, tx := evmtest.Key(t, payerSecret), parse(t, raw)
	signing := chaintest.MustReady(t, tx, address(t, payerSecret), key)
	got, want := signing.Effects(), tx.Effects()
	want = chains.ResolveSigner(want, got[len(got)-1].From) // of the fee
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%x: with the fee payer's key\n got %+v\nwant %+v", raw, got, want)
	}
}

func checkPayerEffects(t *testing.T, effects []chains.Effect) {
	t.Helper()
	for i, effect := range effects {
		switch {
		case effect.Kind == chains.KindFee && (effect.By != chains.BySigner || !effect.From.IsSigner()):
			t.Errorf("effect %d: the fee is by %s", i, effect.By)
		case effect.Kind != chains.KindFee && (effect.By != chains.ByOther || effect.From.IsSigner() || effect.To.IsSigner()):
			t.Errorf("effect %d is by the fee payer: %+v", i, effect)
		}
	}
}

// TestCountersignOthersEffects checks that a fee payer is not shown as doing what the
// sender does by an allowance or lets an access key do, nor warned of it.
func TestCountersignOthersEffects(t *testing.T) {
	c := tempomodel.Generate(rand.New(rand.NewPCG(39, 40)), 0)
	transferFrom := "23b872dd" + strings.Repeat("00", 12) + strings.Repeat("0a", 20) + strings.Repeat("00", 12) + strings.Repeat("0b", 20) + number(7)
	c.Tx.Calls = []tempomodel.Call{{To: chaintest.Unhex(t, alphaUSD[2:]), Value: new(big.Int), Input: chaintest.Unhex(t, transferFrom)}}
	c.Tx.Key = []tempomodel.KeyAuthorization{tempomodel.Key{ChainID: c.Tx.ChainID, ID: [20]byte{0x0c}}.Sign(c.Key)}
	c.Tx.FeePayer, c.Tx.FeeToken, c.Tx.Tip, c.Tx.Cap = []byte{0}, nil, new(big.Int), big.NewInt(1)
	if names := hazardsOf(t, tempo.Limits{}, hex.EncodeToString(c.Tx.Encode())); len(names) == 0 {
		t.Error("the sender has no hazards")
	}
	for _, forPayer := range []bool{false, true} {
		tx := parse(t, c.Tx.ToCountersign(c.Tx.SenderSignature(c.Key), forPayer).Encode())
		if len(tx.Effects()) < 3 {
			t.Errorf("effects %+v", tx.Effects())
		}
		checkPayerEffects(t, tx.Effects())
		if names := chaintest.Names(tx.Hazards()); names != nil {
			t.Errorf("for the payer %v: hazards %v", forPayer, names)
		}
	}
}

// TestCountersignHighFee checks the hazard of a fee of more than 100 USD, which the fee
// payer would pay, in both forms.
func TestCountersignHighFee(t *testing.T) {
	key := evmtest.Key(t, payerSecret)
	for price, want := range map[int64]bool{1e15: false, 1e15 + 1: true} {
		c := tempomodel.Generate(rand.New(rand.NewPCG(37, 38)), 0)
		c.Tx.FeePayer, c.Tx.Tip, c.Tx.Cap, c.Tx.Gas = []byte{0}, new(big.Int), big.NewInt(price), 100_000
		for _, forPayer := range []bool{false, true} {
			tx := parse(t, c.Tx.ToCountersign(c.Tx.SenderSignature(c.Key), forPayer).Encode())
			signing := chaintest.MustReady(t, tx, key.ID(), key)
			for _, hazards := range [][]chains.Hazard{tx.Hazards(), signing.Hazards()} {
				if got := chaintest.Names(hazards); slices.Contains(got, tempo.HazardHighFee) != want {
					t.Errorf("price %d, for the payer %v: hazards %v, want high fee %v", price, forPayer, got, want)
				}
			}
		}
	}
}

// TestCountersignRefused has what no fee payer countersigns.
func TestCountersignRefused(t *testing.T) {
	c := tempomodel.Generate(rand.New(rand.NewPCG(33, 34)), 0)
	sender := hex.EncodeToString(crypto.FromECDSA(c.Key))
	signature := c.Tx.SenderSignature(c.Key)
	c.Tx.FeePayer = []byte{0}
	sponsored := c.Tx.SenderSignature(c.Key)
	invalid := bytes.Clone(sponsored)
	copy(invalid, chaintest.Unhex(t, noPoint))
	another := c.Tx.ToCountersign(sponsored, true)
	another.FeePayer = append([]byte{0x94}, make([]byte, 20)...)
	unsigned := c.Tx.ToCountersign(sponsored, true)
	unsigned.Sender = nil
	alone := *c.Tx
	alone.FeePayer, alone.Sender = []byte{0x80}, signature
	for name, test := range map[string]struct {
		raw    []byte
		secret string
		want   string
	}{
		"no key can have signed":   {c.Tx.ToCountersign(invalid, false).Encode(), payerSecret, "no key can have made it"},
		"another sender is named":  {another.Encode(), payerSecret, "has signed"},
		"no sender has signed":     {unsigned.Encode(), payerSecret, "is missing: a fee payer countersigns what its sender has signed"},
		"nobody else is to pay":    {alone.Encode(), payerSecret, "is present: the transaction is signed already"},
		"the sender as its payer":  {c.Tx.ToCountersign(sponsored, false).Encode(), sender, "another account as its fee payer"},
		"the payer signed already": {c.Tx.ToCountersign(sponsored, false).Countersign(ecdsaKey(t, payerSecret)), payerSecret, "is signed already"},
	} {
		t.Run(name, func(t *testing.T) {
			signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, test.raw, "id", evmtest.Key(t, test.secret))
			if signed != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%x, %v, want %q", signed, err, test.want)
			}
		})
	}
}

// accessKey is a key that signs for another account.
type accessKey struct {
	keystore.Key
	root []byte
}

func (k accessKey) ActsFor() []byte { return k.root }

func (k accessKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return k.Key.(keystore.ECDSASigner).SignECDSA(ctx, digest)
}

// TestAccessKey compares the signature of an access key for its account with the
// model's, also through the wrapper that verifies signatures.
func TestAccessKey(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	root := common.Address{1, 2, 3}
	compared := 0
	for number := range 600 {
		c := tempomodel.Generate(random, number)
		if c.Tx.Key != nil || len(c.Tx.Calls[0].To) == 0 {
			continue
		}
		compared++
		plain := evmtest.Key(t, hex.EncodeToString(crypto.FromECDSA(c.Key)))
		for _, key := range []keystore.Key{accessKey{plain, root[:]}, keystore.Verified(accessKey{plain, root[:]})} {
			signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, c.Unsigned, plain.ID(), key)
			if want := c.Tx.SignFor(root, c.Key); err != nil || !bytes.Equal(signed, want) {
				t.Fatalf("%x:\n got %x (%v)\nwant %x", c.Unsigned, signed, err, want)
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d were compared", compared)
	}
}

// TestAccessKeyActsForTheAccount checks that effects and view are the account's.
func TestAccessKeyActsForTheAccount(t *testing.T) {
	root := chaintest.Unhex(t, someone[2:])
	signing := chaintest.MustReady(t, parse(t, chaintest.Unhex(t, typed(items...))), "id", accessKey{evmtest.Key(t, payerSecret), root})
	if got := signing.Effects()[0].From; !got.Is(root) {
		t.Errorf("from %v, want the account", got)
	}
	if from, by := fieldOf(t, signing.SignerView(), "from"), fieldOf(t, signing.SignerView(), "signed by"); from.Value != common.BytesToAddress(root).Hex() || by.Value != address(t, payerSecret) {
		t.Errorf("%v, %v", from, by)
	}
}

// TestAccessKeyRefused has what the network does not accept from an access key.
func TestAccessKeyRefused(t *testing.T) {
	root := strings.Repeat("05", 32)
	rootAddress, access := chaintest.Unhex(t, address(t, root)[2:]), ecdsaKey(t, payerSecret)
	own := "94" + hex.EncodeToString(crypto.PubkeyToAddress(access.PublicKey).Bytes())
	bound := "94" + hex.EncodeToString(rootAddress)
	byKey := func(signer string, inner ...string) string {
		digest := crypto.Keccak256(chaintest.Unhex(t, list(inner...)))
		return typed(append(with(items, calls, list(transfer)), list(list(inner...), "b841"+signatureBy(t, signer, digest)))...)
	}
	for _, c := range []struct{ name, raw, want string }{
		{"creation", typed(with(items, calls, list(creation))...), "the network does not let it create contracts"},
		{"itself, by the account", byKey(root, "82a5bf", "80", own, "09", "c0", "c0"), ""},
		{"another key, by the account", byKey(root, "82a5bf", "80", someone, "09", "c0", "c0"), "is for another key than the access key"},
		{"itself as another type", byKey(root, "82a5bf", "01", own, "09", "c0", "c0"), "is for another key than the access key"},
		{"another key, by itself as an admin", byKey(payerSecret, "82a5bf", "80", someone, "09", "c0", "c0", "80", "80", bound), ""},
		{"by itself, not bound to the account", byKey(payerSecret, "82a5bf", "80", someone, "09", "c0", "c0"), "not by the account"},
		{"by itself, for another account", byKey(payerSecret, "82a5bf", "80", someone, "09", "c0", "c0", "80", "80", someone), "is for account"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := accessKey{evmtest.Key(t, payerSecret), rootAddress}
			_, err := chaintest.Sign(t.Context(), tempo.Chain{}, chaintest.Unhex(t, c.raw), "id", key)
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, chains.ErrNotSigner)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := chaintest.Sign(t.Context(), tempo.Chain{}, chaintest.Unhex(t, typed(items...)), "id", accessKey{evmtest.Key(t, payerSecret), []byte{1}}); !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("an account of one byte: %v", err)
	}
}

func ecdsaKey(t testing.TB, secret string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.ToECDSA(chaintest.Unhex(t, secret))
	testenv.Must(t, err)
	return key
}
