package policy_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
)

// failing is a keystore whose listing fails.
type failing struct{ keystore.Keystore }

var errListing = errors.New("the disk is gone")

func (failing) Keys(context.Context, string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) { yield(keystore.KeyInfo{}, errListing) }
}

// TestNamesOf: a user with two credentials is one user, keys are those of the organization,
// and without a keystore their names are not checked.
func TestNamesOf(t *testing.T) {
	first, second := enginetest.NewAPIKey(t), enginetest.NewAPIKey(t)
	organization := &access.OrganizationConfig{ID: "org", Name: "Org", Users: []access.UserConfig{
		{Name: "ann", APIKeys: []access.APIKeyConfig{first.Config(), second.Config()}}, {Name: "bot", Tags: []string{"agent"}},
	}}
	keys := memory.New()
	key := keystore.NewKey{Curve: keystore.CurveEd25519, Name: "hot", Secret: slices.Repeat([]byte{7}, keystore.SecretSize)}
	for _, id := range []string{"org", "another"} {
		if _, err := keys.Add(t.Context(), id, key); err != nil {
			t.Fatal(err)
		}
	}
	names, err := policy.NamesOf(t.Context(), organization, keys)
	if err != nil || len(names.Users) != 2 || names.Users[0].Name != "ann" || names.Users[1].Name != "bot" || len(names.Credentials) != 4 || len(names.Keys) != 1 || names.Keys[0].Name != "hot" {
		t.Errorf("%+v, %v", names, err)
	}
	for text, want := range map[string]string{
		"who: {user: ann}, key: [hot]":             "",
		"who: {user: bot, tag: agent}, key: [hot]": "", // who has no credential, and calls with a token
		"who: {user: anm}, key: [hot]":             "there is no user anm",
		"who: {user: ann}, key: [hto]":             "there is no key or wallet hto",
		"approvals: [{count: 1, tag: agent}]":      "1 approvals are needed, but only 0 of the users can give one",
	} {
		if _, err := policy.Parse("p", []byte("schema: countersign.policy/2\nrules:\n  - {name: a, allow: transfer, "+text+"}\n"), withNames(names)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if names, err := policy.NamesOf(t.Context(), organization, nil); err != nil || names.Keys != nil || len(names.Users) != 2 {
		t.Errorf("without keys: %+v, %v", names, err)
	}
	if _, err := policy.NamesOf(t.Context(), organization, failing{}); !errors.Is(err, errListing) {
		t.Errorf("%v, want %v", err, errListing)
	}
	organization.Users[0].APIKeys[0].Curve = stamp.Curve("P-384")
	if _, err := policy.NamesOf(t.Context(), organization, keys); err == nil {
		t.Error("a directory with a problem has names")
	}
}
