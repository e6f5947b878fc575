package solana_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

var versions = []solana.Version{solana.Legacy, solana.Version0, solana.Version1}

// TestThreeSigners signs in three calls, in every order: each call keeps the signatures
// that are there, and the last one completes the transaction.
func TestThreeSigners(t *testing.T) {
	keys := []keystore.Key{ed25519Key(t, 0), ed25519Key(t, 1), ed25519Key(t, 2)}
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for _, version := range versions {
		t.Run(version.String(), func(t *testing.T) {
			var results [][]byte
			for _, order := range orders {
				raw := simple(version, 3).bytes()
				for n, i := range order {
					if parse(t, raw).Complete() {
						t.Errorf("complete after %d signatures", n)
					}
					raw = sign(t, raw, keys[i])
				}
				results = append(results, raw)
			}
			for _, raw := range results {
				if !bytes.Equal(raw, results[0]) {
					t.Error("the order matters")
				}
			}
			tx, err := sdk.TransactionFromBytes(results[0])
			if err != nil || tx.VerifySignatures() != nil || !parse(t, results[0]).Complete() {
				t.Errorf("not complete and valid: %v", err)
			}
		})
	}
}

// TestForeignSignatureIsChecked flips every bit of a first signature. The second signer
// must refuse each.
func TestForeignSignatureIsChecked(t *testing.T) {
	first, second := ed25519Key(t, 0), ed25519Key(t, 1)
	for _, version := range versions {
		unsigned := simple(version, 2).bytes()
		signed := sign(t, unsigned, first)
		slot := firstDifference(unsigned, signed)
		for bit := range 64 * 8 {
			broken := bytes.Clone(signed)
			broken[slot+bit/8] ^= 1 << (bit % 8)
			_, err := trySign(broken, second)
			var parse *chains.ParseError
			if !errors.As(err, &parse) || parse.Field != "signatures[0]" || parse.Offset != slot {
				t.Fatalf("%v, bit %d: %v", version, bit, err)
			}
		}
		sign(t, signed, second)
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

func TestSignersAlreadySigned(t *testing.T) {
	key := ed25519Key(t, 1)
	signed := sign(t, simple(solana.Version0, 2).bytes(), key)
	err := check(parse(t, signed), key, address(key))
	var parse *chains.ParseError
	if !errors.As(err, &parse) || parse.Field != "signatures[1]" || parse.Offset != 65 || !strings.Contains(parse.Problem, "has signed already") {
		t.Errorf("got %v", err)
	}
	if _, err := trySign(signed, key); err == nil {
		t.Error("signed twice")
	}
}

// TestNotASigner: the key of an account that is not a signer is refused, and the error
// names the signers and the signatures that are missing.
func TestNotASigner(t *testing.T) {
	stranger, member := ed25519Key(t, 7), ed25519Key(t, 0)
	s := simple(solana.Version0, 2)
	s.keys[2] = public(7) // an account, and not a signer
	tx := parse(t, sign(t, s.bytes(), member))
	for _, signWith := range []string{address(stranger), stranger.ID()} {
		err := check(tx, stranger, signWith)
		if !errors.Is(err, chains.ErrNotSigner) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{address(stranger), address(member) + " (signed)", address(ed25519Key(t, 1)) + " (missing)"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v\ndoes not say %s", err, want)
			}
		}
	}
	// A keystore that returns the wrong key.
	if err := check(tx, ed25519Key(t, 1), address(member)); !errors.Is(err, chains.ErrNotSigner) {
		t.Errorf("another key than signWith names: %v", err)
	}
}

func TestUnsupportedKeys(t *testing.T) {
	tx := parse(t, simple(solana.Version0, 1).bytes())
	own, other := ed25519Key(t, 0), chaintest.Key(t, keystore.CurveSecp256k1, seed(0))
	for name, key := range map[string]keystore.Key{
		"a secp256k1 key":                     other,
		"a secp256k1 key that signs Ed25519":  lyingKey{own.(ed25519Signer), other.PublicKey()},
		"an Ed25519 key without a capability": mute{own.PublicKey()},
	} {
		if err := check(tx, key, "id"); !errors.Is(err, keystore.ErrUnsupported) {
			t.Errorf("%s: got %v, want ErrUnsupported", name, err)
		}
	}
}

type ed25519Signer interface {
	keystore.Key
	keystore.Ed25519Signer
}

type lyingKey struct {
	ed25519Signer
	claimed keystore.PublicKey
}

func (k lyingKey) PublicKey() keystore.PublicKey { return k.claimed }

// mute is a key that cannot sign.
type mute struct{ public keystore.PublicKey }

func (k mute) ID() string                    { return "mute" }
func (k mute) PublicKey() keystore.PublicKey { return k.public }

func TestRequest(t *testing.T) {
	own := ed25519Key(t, 0)
	raw := own.PublicKey().Ed25519()
	byID := func(id string) []keystore.Locator { return []keystore.Locator{keystore.ByID(id)} }
	const uuid = "8d4f6c1e-8a8b-4b7e-9a55-0d4f1b1c2e3f"
	tests := []struct {
		name, signWith string
		want           []keystore.Locator
		problem        string
	}{
		{"an address", address(own), []keystore.Locator{keystore.ByEd25519(raw)}, ""},
		{"the shortest address", strings.Repeat("1", 32), []keystore.Locator{keystore.ByEd25519([32]byte{})}, ""},
		{"a UUID", uuid, byID(uuid), ""},
		{"a short id", "treasury", byID("treasury"), ""},
		{"hex that looks like base58", "abcdef123456789abcdef123456789ab", byID("abcdef123456789abcdef123456789ab"), ""},
		{"a long id", strings.Repeat("a", 64), byID(strings.Repeat("a", 64)), ""},
		{"nothing", "", nil, "empty"},
		{"an Ethereum address", "0x" + strings.Repeat("ab", 20), nil, "another chain"},
		{"a digit that is none", "0" + address(own)[1:], nil, "0 is not a digit of base58"},
		{"one digit more", address(own) + "1", nil, "not base58 of 32 bytes"},
		{"over 2^256", strings.Repeat("z", 44), nil, "not base58 of 32 bytes"},
	}
	tx := parse(t, simple(solana.Version0, 1).bytes())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := tx.Request(test.signWith)
			if test.problem == "" {
				if err != nil || !slices.Equal(got.Locators(), test.want) {
					t.Errorf("got %v, %v; want %v", got, err, test.want)
				}
				return
			}
			if !errors.Is(err, chains.ErrSignWith) || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
