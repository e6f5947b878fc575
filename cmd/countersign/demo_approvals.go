package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
)

// demoTreasury is an organization of the demonstration with a policy of its own.
const demoTreasury = "treasury"

// demoPolicy lets the users of finance pay USDC to one address, two of them
// together.
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
  - {name: gas, allow: fee, who: {tag: finance}, when: effect.amount <= ether('0.02')}
tests:
  - {effects: [{kind: transfer, asset: usdc, amount: "250", to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"}], as: ann, tags: [finance], expect: approvals, rule: payouts}
`

// demoVoters are two users with a key each.
type demoVoters struct {
	users []countersign.UserConfig
	keys  []*api.Key
}

func (v *demoVoters) add(name string) error {
	made, err := newAPIKey(demoTreasury, stamp.CurveP256)
	if err != nil {
		return err
	}
	key, err := api.ParseKey(jsonLine(made))
	v.keys = append(v.keys, key)
	v.users = append(v.users, countersign.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, APIKeys: []countersign.APIKeyConfig{{
		Curve: stamp.CurveP256, PublicKey: made.PublicKey,
		Activities: []activity.Type{activity.TypeSignTransaction, activity.TypeApproveActivity},
	}}})
	return err
}

// showApprovals lets a payment wait for a second person, and refuses another.
func showApprovals(ctx context.Context, tell *narrator) (err error) {
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
	key, err := keys.Generate(ctx, demoTreasury, "treasury", ethereumDemo.curve)
	if err != nil {
		return err
	}
	return serveDemo(ctx, engine, func(base string) error {
		tell.chapter("Approvals: the same 250 USDC, under a policy")
		tell.line("policy", "payouts: finance may pay listed addresses in USDC, two of them together")
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

func demoTreasuryEngine(keys *memory.Store, users []countersign.UserConfig) (*countersign.Engine, error) {
	file, err := policy.Parse("demo", []byte(demoPolicy), policy.Options{})
	if err != nil {
		return nil, err
	}
	directory, err := countersign.NewDirectory([]countersign.OrganizationConfig{{ID: demoTreasury, Name: "Treasury", Users: users}})
	if err != nil {
		return nil, err
	}
	return countersign.New(countersign.Config{
		Keystore: keys, Directory: directory, Names: tokens(),
		Policy: policy.NewOrganizations(map[string]*policy.File{demoTreasury: file}),
	})
}

// showApproved has ann submit the payment, and ben approve what he is shown.
func showApproved(ctx context.Context, ann, ben *api.Client, key keystore.KeyInfo, tell *narrator) error {
	request, err := ann.NewRequest(ethereumDemo.intent(key, demoUSDC))
	if err != nil {
		return err
	}
	waiting, err := ann.Submit(ctx, request)
	if err != nil {
		return err
	}
	if waiting.Status != activity.StatusConsensusNeeded {
		return fmt.Errorf("the payment should wait for approvals: it is %s", waiting.Status)
	}
	tell.line("ann", "submits it; her stamp is the first approval, and nothing is signed yet")
	seen, err := ben.GetActivity(ctx, waiting.ID)
	if err != nil {
		return err
	}
	if seen.Review == nil {
		return errors.New("ben is not shown what he votes on")
	}
	tell.line("ben sees", strings.Join(seen.Review.Sentences, "; "))
	after, err := ben.Vote(ctx, seen, activity.SelectionApproved)
	if err != nil {
		return err
	}
	if after.Status != activity.StatusCompleted || after.Result.SignTransaction == nil {
		return fmt.Errorf("the payment should be signed: it is %s", after.Status)
	}
	tell.line("ben", "approves it with a key of his own; his stamp commits to what he was shown")
	tell.excerpt("signed", after.Result.SignTransaction.SignedTransaction)
	found, err := checkEthereum(after.Result.SignTransaction.SignedTransaction, key.PublicKey)
	if err != nil {
		return fmt.Errorf("the check of the signature: %w", err)
	}
	tell.good("checked", found)
	return nil
}

// showUnlisted has a payment to another address refused.
func showUnlisted(ctx context.Context, ann *api.Client, key keystore.KeyInfo, tell *narrator) error {
	elsewhere := strings.Replace(demoUSDC, demoPayee, strings.Repeat("42", 20), 1)
	if elsewhere == demoUSDC {
		return errors.New("the payment has another payee than expected")
	}
	request, err := ann.NewRequest(ethereumDemo.intent(key, elsewhere))
	if err != nil {
		return err
	}
	_, err = ann.Submit(ctx, request)
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok || refused.Reason != activity.ReasonNotAuthorized {
		return errors.Join(errors.New("a payment to an address that is not listed should have been refused"), err)
	}
	tell.text("The same to an address that no rule lists:")
	tell.bad("refused", refused.Message)
	return nil
}

// demoPayee is where demoUSDC pays to.
const demoPayee = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
