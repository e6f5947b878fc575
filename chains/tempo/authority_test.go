package tempo_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// TestAuthorities checks who is shown to have signed: an authorization by an account's
// own key, one by a key of an account's keychain (which covers the account), and a key
// authorization.
func TestAuthorities(t *testing.T) {
	authority, account := strings.Repeat("04", 32), strings.Repeat("22", 20)
	tuple := []string{"82a5bf", someone, "08"}
	digest := crypto.Keccak256(chaintest.Unhex(t, "05"+list(tuple...)))
	inKeychain := crypto.Keccak256([]byte{4}, digest, chaintest.Unhex(t, account))
	tuples := [][]string{
		append(slices.Clone(tuple), "b841"+signatureBy(t, authority, digest)),
		append(slices.Clone(tuple), "b856"+"04"+account+signatureBy(t, authority, inKeychain)),
	}
	authorizations := make([]string, len(tuples))
	for i := range tuples {
		authorizations[i] = list(tuples[i]...)
	}
	raw := typed(append(with(items, authorizationList, list(authorizations...)),
		list(list(plainKey...), "b841"+signatureBy(t, authority, crypto.Keccak256(chaintest.Unhex(t, list(plainKey...))))))...)

	fields, want := parse(t, chaintest.Unhex(t, raw)).Summary().Fields, address(t, authority)
	for _, label := range []string{"authorization 1", "authorization 2", "key authorization"} {
		if got := fieldOf(t, fieldOf(t, fields, label).Fields, "signed by").Value; got != want {
			t.Errorf("%s is signed by %s, want %s", label, got, want)
		}
	}
}

// TestUnrecoverableSignature has a signature of the right shape that no key can have
// made: its authorization delegates nothing.
func TestUnrecoverableSignature(t *testing.T) {
	tx := parse(t, chaintest.Unhex(t, authorizationWith("82a5bf", someone, "08", "b841"+noPoint+sBytes+"1b")))
	field := fieldOf(t, fieldOf(t, tx.Summary().Fields, "authorization 1").Fields, "signed by")
	if field.Value != "no account" || field.Type != chains.TypeText {
		t.Errorf("%+v, want no account", field)
	}
	for _, effect := range tx.Effects() {
		if effect.Path == "authorization 1" {
			t.Errorf("effect %+v", effect)
		}
	}
}

// noPoint is an r that is not the x of a point on the curve.
const noPoint = "1100000000000000000000000000000000000000000000000000000000000004"

// signatureBy returns r ‖ s ‖ v by a key, in hex.
func signatureBy(t *testing.T, secret string, digest []byte) string {
	t.Helper()
	key, err := crypto.ToECDSA(chaintest.Unhex(t, secret))
	testenv.Must(t, err)
	signature, err := crypto.Sign(digest, key)
	testenv.Must(t, err)
	signature[64] += 27
	return hex.EncodeToString(signature)
}

// TestSummaryShowsEverything checks that each part of random transactions is in their
// summaries.
func TestSummaryShowsEverything(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for number := range 240 {
		c := tempomodel.Generate(random, number)
		var out strings.Builder
		testenv.Must(t, chains.Render(&out, parse(t, c.Unsigned).Summary().Fields))
		text := strings.ToLower(out.String())
		for _, part := range partsOf(c.Tx) {
			if !strings.Contains(text, part) {
				t.Fatalf("%x: %q is not shown:\n%s", c.Unsigned, part, text)
			}
		}
	}
}

func partsOf(tx *tempomodel.Transaction) []string {
	parts := []string{fmt.Sprintf("%d", tx.ChainID), fmt.Sprintf("%d", tx.Gas), fmt.Sprintf("%d", tx.Nonce)}
	for _, call := range tx.Calls {
		parts = append(parts, fmt.Sprintf("%x", call.To), fmt.Sprintf("%x", call.Input[:min(4, len(call.Input))]))
		if call.Value.Sign() > 0 {
			parts = append(parts, call.Value.String())
		}
	}
	parts = append(parts, fmt.Sprintf("%x", tx.FeeToken))
	for _, a := range tx.Authorizations {
		parts = append(parts, fmt.Sprintf("%x", a.Address), fmt.Sprintf("%d", a.Nonce))
	}
	for _, authorization := range tx.Key {
		parts = append(parts, keyParts(authorization.Key)...)
	}
	return parts
}

func keyParts(key tempomodel.Key) []string {
	parts := []string{fmt.Sprintf("%x", key.ID)}
	for _, limit := range key.Limits.Value {
		parts = append(parts, fmt.Sprintf("%x", limit.Token), limit.Amount.String())
		if limit.Period > 0 {
			parts = append(parts, fmt.Sprintf("every %d seconds", limit.Period))
		}
	}
	for _, scope := range key.Scopes.Value {
		parts = append(parts, fmt.Sprintf("%x", scope.Target))
		for _, rule := range scope.Rules {
			parts = append(parts, fmt.Sprintf("%x", rule.Selector))
			for _, recipient := range rule.Recipients {
				parts = append(parts, fmt.Sprintf("%x", recipient))
			}
		}
	}
	if key.Witness.Present {
		parts = append(parts, fmt.Sprintf("%x", key.Witness.Value))
	}
	if key.Account.Present {
		parts = append(parts, fmt.Sprintf("%x", key.Account.Value))
	}
	return parts
}
