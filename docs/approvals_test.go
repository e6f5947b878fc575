package docs_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// inProcess returns an engine with keys in a folder and a policy, and a client of it for each
// of two users.
func inProcess(ctx context.Context, keys *file.Store, policyFile string) (engine *countersign.Engine, bot, ann *client.Client, err error) {
	organization := access.OrganizationConfig{ID: "example", Name: "Example"}
	signers := map[string]*signer.Signer{}
	for name, user := range map[string]struct {
		tag string
		may []activity.Type
	}{
		"bot": {tag: "agent"}, // may submit everything but votes
		"ann": {tag: "finance", may: []activity.Type{activity.TypeApproveActivity, activity.TypeRejectActivity}},
	} {
		secret := make([]byte, keystore.SecretSize)
		_, _ = rand.Read(secret) // never fails
		if signers[name], err = signer.New(signer.CurveEd25519, secret); err != nil {
			return nil, nil, nil, err
		}
		organization.Users = append(organization.Users, access.UserConfig{Name: name, Tags: []string{user.tag}, APIKeys: []access.APIKeyConfig{
			{Curve: signer.CurveEd25519, PublicKey: hex.EncodeToString(signers[name].PublicKey()), Activities: user.may},
		}})
	}
	names, err := policy.NamesOf(ctx, &organization, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	rules, err := policy.Load(policyFile, policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...), Names: names})
	if err != nil {
		return nil, nil, nil, err
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{organization})
	if err != nil {
		return nil, nil, nil, err
	}
	engine, err = countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, Directory: directory, Policy: rules})
	if err != nil {
		return nil, nil, nil, err
	}
	handler := httpapi.New(engine, httpapi.Options{})
	bot, err = client.New(client.Config{Handler: handler, Key: &client.Key{OrganizationID: "example", Signer: signers["bot"]}})
	if err != nil {
		return nil, nil, nil, err
	}
	ann, err = client.New(client.Config{Handler: handler, Key: &client.Key{OrganizationID: "example", Signer: signers["ann"]}})
	return engine, bot, ann, err
}

// approve has the bot submit a transaction and ann approve it, and returns it signed.
func approve(ctx context.Context, bot, ann *client.Client, intent activity.Intent, show func(*activity.Review) bool) (string, error) {
	request, err := bot.NewRequest(intent)
	if err != nil {
		return "", err
	}
	submitted, err := bot.Submit(ctx, request) // waits for a vote now
	if err != nil {
		return "", err
	}
	waiting, err := ann.GetActivity(ctx, submitted.ID)
	if err != nil {
		return "", err
	}
	selection := activity.SelectionRejected
	if show(waiting.Review) {
		selection = activity.SelectionApproved
	}
	if _, err := ann.Vote(ctx, waiting, selection); err != nil {
		return "", err
	}
	done, err := bot.Wait(ctx, submitted) // a *client.StatusError if ann rejected it
	if err != nil {
		return "", err
	}
	return done.Result.SignTransaction.SignedTransaction, nil
}

// TestApprovalsInGo runs both, once with a vote for and once with a vote against.
func TestApprovalsInGo(t *testing.T) {
	dir := t.TempDir()
	policyFile := filepath.Join(dir, "policy.yaml")
	text := "schema: countersign.policy/2\nrules:\n  - {name: payouts, allow: [transfer, fee], who: {tag: agent}, approvals: [{count: 1, tag: finance}]}\n"
	testenv.Write(t, policyFile, []byte(text))
	keys, err := file.OpenOrCreate(t.Context(), filepath.Join(dir, "keys"), []byte("passphrase"), file.Options{WorkFactor: 4})
	testenv.Must(t, err)
	key, err := keys.Generate(t.Context(), "example", "hot", keystore.CurveSecp256k1)
	testenv.Must(t, err)
	engine, bot, ann, err := inProcess(t.Context(), keys, policyFile)
	testenv.Must(t, err)
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, agrees := range []bool{true, false} {
		intent := activity.SignTransactionIntent{SignWith: key.ID, Type: activity.TransactionTypeEthereum, UnsignedTransaction: transfer}
		signed, err := approve(t.Context(), bot, ann, intent, func(review *activity.Review) bool { return review != nil && agrees })
		if (err == nil) != agrees || (signed != "") != agrees {
			t.Errorf("ann agrees: %v: signed %q, %v", agrees, signed, err)
		}
	}
}
