package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
)

// demoTreasury is an organization with a policy.
const demoTreasury = "treasury"

// demoPolicy lets two users of finance together pay USDC to a listed address.
const demoPolicy = `schema: countersign.policy/1
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
lists:
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
rules:
  - name: payouts
    allow: transfer
    who: {tag: finance}
    when: effect.asset == usdc && effect.to in payees
    approvals: [{count: 2, tag: finance}]
  - {name: gas, allow: fee, who: {tag: finance}, when: effect.asset.chain == 'eip155:1' && effect.amount <= ether('0.02')}
tests:
  - {effects: [{kind: transfer, asset: usdc, amount: "250", to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"}], as: ann, tags: [finance], expect: approvals, rule: payouts}
`

// demoVoters are two users with a key each.
type demoVoters struct {
	users []access.UserConfig
	keys  []*api.Key
}

func (v *demoVoters) add(name string) error {
	key, credential, err := newDemoKey(demoTreasury)
	credential.Activities = []activity.Type{activity.TypeSignTransaction, activity.TypeApproveActivity}
	v.keys = append(v.keys, key)
	v.users = append(v.users, access.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{credential}})
	return err
}

// showApprovals has a payment wait for a second person, and refuses a payment to an
// unlisted address.
func showApprovals(ctx context.Context, tell *Narrator) (err error) {
	var voters demoVoters
	if err := errors.Join(voters.add("ann"), voters.add("ben")); err != nil {
		return err
	}
	keys := memory.New()
	engine, err := demoTreasuryEngine(keys, voters.users)
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	key, err := keys.Generate(ctx, demoTreasury, "treasury", ethereumDemo.Curve)
	if err != nil {
		return err
	}
	return serveDemo(ctx, engine, func(base string) error {
		tell.chapter("Approvals: 250 USDC, under a policy")
		tell.line("policy", "payouts: two people of finance together may pay USDC to listed addresses")
		ann, err := api.New(api.Config{URL: base, Key: voters.keys[0]})
		if err != nil {
			return err
		}
		ben, err := api.New(api.Config{URL: base, Key: voters.keys[1]})
		if err != nil {
			return err
		}
		if err := showApproved(ctx, ann, ben, key, tell); err != nil {
			return err
		}
		return showUnlisted(ctx, ann, key, tell)
	})
}

func demoTreasuryEngine(keys *memory.Store, users []access.UserConfig) (*countersign.Engine, error) {
	file, err := policy.Parse("demo", []byte(demoPolicy), policy.Options{})
	if err != nil {
		return nil, err
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: demoTreasury, Name: "Treasury", Users: users}})
	if err != nil {
		return nil, err
	}
	return countersign.New(countersign.Config{
		Chains:   all.Chains(all.Limits{}),
		Keystore: keys, Directory: directory, Names: show.Tokens(),
		Policy: policy.NewOrganizations(map[string]*policy.File{demoTreasury: file}),
	})
}

// showApproved has ann submit the payment, and ben approve what he is shown.
func showApproved(ctx context.Context, ann, ben *api.Client, key keystore.KeyInfo, tell *Narrator) error {
	request, err := ann.NewRequest(ethereumDemo.intent(key, demoUSDC))
	if err != nil {
		return err
	}
	waiting, err := ann.Submit(ctx, request)
	if err != nil {
		return err
	}
	if waiting.Status != activity.StatusConsensusNeeded {
		return fmt.Errorf("the payment should wait for approvals, but is %s", waiting.Status)
	}
	tell.line("ann", "submits it; her stamp is the first approval, nothing is signed yet")
	reviewed, err := ben.GetActivity(ctx, waiting.ID)
	if err != nil {
		return err
	}
	if reviewed.Review == nil {
		return errors.New("ben is not shown what he votes on")
	}
	tell.line("ben sees", strings.Join(reviewed.Review.Sentences, "; "))
	done, err := ben.Vote(ctx, reviewed, activity.SelectionApproved)
	if err != nil {
		return err
	}
	if done.Status != activity.StatusCompleted || done.Result.SignTransaction == nil {
		return fmt.Errorf("the payment should be signed, but is %s", done.Status)
	}
	tell.line("ben", "approves it with his own key; his stamp commits to what he was shown")
	signed := done.Result.SignTransaction.SignedTransaction
	tell.excerpt("signed", signed)
	return tell.checked(ethereumDemo, signed, key.PublicKey)
}

// showUnlisted has a payment to another address refused.
func showUnlisted(ctx context.Context, ann *api.Client, key keystore.KeyInfo, tell *Narrator) error {
	unlisted := strings.Replace(demoUSDC, demoPayee, strings.Repeat("42", 20), 1)
	if unlisted == demoUSDC {
		return errors.New("the payment has another payee than expected")
	}
	request, err := ann.NewRequest(ethereumDemo.intent(key, unlisted))
	if err != nil {
		return err
	}
	_, err = ann.Submit(ctx, request)
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != activity.ReasonNotAuthorized {
		return errors.Join(errors.New("a payment to an unlisted address should have been refused"), err)
	}
	tell.text("The same payment to an unlisted address:")
	tell.bad("refused", refusal.Message)
	return nil
}

// demoPayee is the recipient of demoUSDC.
const demoPayee = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
