package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

// organization has the keys of the demo.
const organization = deployment.DefaultOrganization

// payouts lets a user of finance pay USDC to a listed address if another one approves.
const payouts = `schema: countersign.policy/2
assets:
  usdc: {chain: "eip155:1", token: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6}
  main: {chain: "eip155:1", token: native}
limits:
  - {name: gas-day, asset: main, max: "0.1", window: 24h, per: user}
lists:
  payees: ["0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"]
rules:
  - name: payouts
    allow: transfer
    who: {tag: finance}
    when: effect.asset == usdc && effect.to in payees
    approvals: [{count: 1, tag: finance}]
  - {name: gas, allow: fee, who: {tag: finance}, when: effect.amount <= ether('0.02'), limit: gas-day}
`

// served is an engine that takes requests on a loopback address, and its two users.
type served struct {
	*demo
	key      keystore.KeyInfo
	ann, ben *client.Client
}

// showApproved serves an engine with a policy until the payment is approved.
func (d *demo) showApproved(ctx context.Context) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &served{demo: d}
	address := "http://" + listener.Addr().String()
	engine, err := s.start(ctx, address)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)), engine.Close())
		if endErr := <-ended; !errors.Is(endErr, http.ErrServerClosed) {
			err = errors.Join(err, endErr)
		}
	}()
	d.chapter("Over HTTP: the same payment, under a policy")
	d.line(Dim, "serving", address+", during the demo only")
	d.line(Dim, "policy", "payouts: finance may pay USDC to listed addresses if a second person approves")
	return s.approved(ctx)
}

// start returns the engine, with a key, and creates the clients of its users.
func (s *served) start(ctx context.Context, address string) (engine *countersign.Engine, err error) {
	keys := memory.New()
	key, err := keys.Generate(ctx, organization, "treasury", keystore.CurveSecp256k1)
	s.key = key
	ann, annErr := user("ann", address, &s.ann)
	ben, benErr := user("ben", address, &s.ben)
	rules, rulesErr := policy.Parse("demo", []byte(payouts), deployment.PolicyOptions(nil))
	directory, directoryErr := access.NewDirectory([]access.OrganizationConfig{
		{ID: organization, Name: "Treasury", Users: []access.UserConfig{ann, ben}},
	})
	if err := errors.Join(err, annErr, benErr, rulesErr, directoryErr); err != nil {
		return nil, err
	}
	return countersign.New(countersign.Config{
		Chains: []chains.Chain{ethereum.New(ethereum.Limits{})}, Keystore: keys, Store: storememory.New(0),
		Directory: directory, Names: show.Tokens(),
		Policy: policy.NewOrganizations(map[string]*policy.File{organization: rules}),
	})
}

// user generates the API key of a user and creates its client. It returns the user's entry in
// the directory.
func user(name, address string, in **client.Client) (entry access.UserConfig, err error) {
	generated, err := deployment.NewAPIKey(organization, stamp.CurveP256)
	if err != nil {
		return entry, err
	}
	key, err := client.ParseKey(console.JSONLine(generated))
	if err != nil {
		return entry, err
	}
	*in, err = client.New(client.Config{URL: address, Key: key})
	return access.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{{
		Curve: generated.Curve, PublicKey: generated.PublicKey,
		Activities: []activity.Type{activity.TypeSignTransaction, activity.TypeApproveActivity,
			activity.TypeRejectActivity},
	}}}, err
}

// approved has ann submit the payment, and ben approve what he is shown.
func (s *served) approved(ctx context.Context) error {
	request, err := s.ann.NewRequest(intent(s.key, payment))
	if err != nil {
		return err
	}
	waiting, err := s.ann.Submit(ctx, request)
	if err != nil {
		return err
	}
	s.line(Dim, "body", string(request.Body[:maxShown])+"…")
	s.line(Dim, "ann", "submits it, stamped by her API key over every byte; nothing is signed yet")
	reviewed, err := s.ben.GetActivity(ctx, waiting.ID)
	if err != nil {
		return err
	}
	if reviewed.Status != activity.StatusConsensusNeeded || reviewed.Review == nil {
		return fmt.Errorf("the payment should wait for approvals, but is %s", reviewed.Status)
	}
	s.line(Dim, "ben sees", strings.Join(reviewed.Review.Sentences, "; "))
	done, err := s.ben.Vote(ctx, reviewed, activity.SelectionApproved)
	if err != nil {
		return err
	}
	if done.Result.SignTransaction == nil {
		return fmt.Errorf("the payment should be signed, but is %s", done.Status)
	}
	s.line(Dim, "ben", "approves it with his own key; his stamp commits to what he was shown")
	return s.checked(done.Result.SignTransaction.SignedTransaction, s.key.PublicKey)
}
