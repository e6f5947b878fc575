package demo

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/stamp"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

// treasury is an organization with a policy.
const treasury = "treasury"

// demoPolicy lets two users of finance together pay USDC to a listed address.
const demoPolicy = `schema: countersign.policy/2
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
    approvals: [{count: 2, tag: finance, submitter: counts}]
  - {name: gas, allow: fee, who: {tag: finance}, when: effect.amount <= ether('0.02'), limit: gas-day}
  - {name: codes, allow: otp, who: {tag: finance}}
tests:
  - {effects: [{kind: transfer, asset: usdc, amount: "250", to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"}], as: ann, tags: [finance], expect: approvals, rule: payouts}
`

// served is an engine that takes requests on a loopback address, and its two users.
type served struct {
	*Narrator
	outbox   string // the folder of one-time passwords
	proofKey *ecdsa.PrivateKey
	key      keystore.KeyInfo // that signs
	annKey   *api.Key
	ann, ben *api.Client
}

// showServed serves an engine until the requests are shown.
func (d *demo) showServed(ctx context.Context) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &served{Narrator: d.Narrator, outbox: filepath.Join(d.dir, "outbox")}
	engine, err := s.start(ctx, "http://"+listener.Addr().String())
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
	d.chapter("Over HTTP: a stamped request, under a policy")
	d.line(Dim, "serving", "http://"+listener.Addr().String()+", during the demo only")
	d.line(Dim, "policy", "payouts: two people of finance together may pay USDC to listed addresses")
	if err := s.showRequest(ctx); err != nil {
		return fmt.Errorf("request over HTTP: %w", err)
	}
	d.chapter("A one-time password")
	if err := s.showPassword(ctx); err != nil {
		return fmt.Errorf("one-time password: %w", err)
	}
	return nil
}

// start returns the engine, with a key, and creates the clients of its users.
func (s *served) start(ctx context.Context, base string) (engine *countersign.Engine, err error) {
	keys, store := memory.New(), storememory.New(0)
	s.key, err = keys.Generate(ctx, treasury, "treasury", keystore.CurveSecp256k1)
	ann, annErr := s.user("ann", base, &s.ann)
	ben, benErr := s.user("ben", base, &s.ben)
	proofKey, proofErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	file, fileErr := policy.Parse("demo", []byte(demoPolicy), policy.Options{})
	directory, directoryErr := access.NewDirectory([]access.OrganizationConfig{{ID: treasury, Name: "Treasury", Users: []access.UserConfig{ann, ben}}})
	sender, senderErr := outbox.New(s.outbox)
	if err := errors.Join(err, annErr, benErr, proofErr, fileErr, directoryErr, senderErr); err != nil {
		return nil, err
	}
	s.proofKey = proofKey
	secret := make([]byte, otp.MinSecretSize)
	_, _ = rand.Read(secret) // never fails
	defer keystore.Wipe(secret)
	codes, err := otp.New(otp.Config{Store: store, Secret: keystore.NewSecret(secret), Email: sender})
	if err != nil {
		return nil, err
	}
	return countersign.New(countersign.Config{
		Chains: all.Chains(all.Limits{}), Keystore: keys, Store: store, Directory: directory, Names: show.Tokens(), ProofSigner: proofKey,
		Policy:     policy.NewOrganizations(map[string]*policy.File{treasury: file}),
		Operations: operations.New(codes, proofKey).Operations(),
	})
}

// user generates the API key of a user and creates its client. It returns the user's entry in
// the directory.
func (s *served) user(name, base string, client **api.Client) (access.UserConfig, error) {
	generated, err := deployment.NewAPIKey(treasury, stamp.CurveP256)
	if err != nil {
		return access.UserConfig{}, err
	}
	key, err := api.ParseKey(console.JSONLine(generated))
	if err != nil {
		return access.UserConfig{}, err
	}
	if s.annKey == nil {
		s.annKey = key
	}
	*client, err = api.New(api.Config{URL: base, Key: key})
	return access.UserConfig{ID: name, Name: name, Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{{
		Curve: generated.Curve, PublicKey: generated.PublicKey, Activities: activity.Types(),
	}}}, err
}

// submit submits a request of ann's.
func (s *served) submit(ctx context.Context, intent activity.Intent) (*api.Activity, *activity.Request, error) {
	request, err := s.ann.NewRequest(intent)
	if err != nil {
		return nil, nil, err
	}
	answer, err := s.ann.Submit(ctx, request)
	return answer, request, err
}

// showRequest has a payment wait for a second person and signed with it, sends the request
// again, and has an altered request and a payment to an unlisted address refused.
func (s *served) showRequest(ctx context.Context) error {
	payment := Chains[0].intent(s.key, demoUSDC)
	waiting, request, err := s.submit(ctx, payment)
	if err != nil {
		return err
	}
	s.line(Dim, "body", string(request.Body[:maxShown])+"…")
	s.line(Dim, "stamped", "by ann's API key on P-256, over every byte of the body")
	if waiting.Status != activity.StatusConsensusNeeded {
		return fmt.Errorf("the payment should wait for approvals, but is %s", waiting.Status)
	}
	s.line(Dim, "ann", "has submitted it; her stamp is the first approval, nothing is signed yet")
	done, err := s.approved(ctx, waiting.ID)
	if err != nil {
		return err
	}
	if err := s.checked(Chains[0], done.Result.SignTransaction.SignedTransaction, s.key.PublicKey); err != nil {
		return err
	}
	again, err := s.ann.Submit(ctx, request)
	if err != nil || again.ID != done.ID || *again.Result.SignTransaction != *done.Result.SignTransaction {
		return errors.Join(errors.New("the same request should have got the same answer"), err)
	}
	s.line(Green, "again", "the same request gets the same answer, and is not signed twice")
	if err := s.showAltered(ctx, request.Body); err != nil {
		return err
	}
	payment.UnsignedTransaction = strings.Replace(demoUSDC, demoPayee, strings.Repeat("42", 20), 1)
	_, _, err = s.submit(ctx, payment)
	return s.showRefused("The same payment to an unlisted address:", err, activity.ReasonNotAuthorized)
}

// approved has ben approve what he is shown.
func (s *served) approved(ctx context.Context, id string) (*api.Activity, error) {
	reviewed, err := s.ben.GetActivity(ctx, id)
	if err != nil {
		return nil, err
	}
	if reviewed.Review == nil {
		return nil, errors.New("ben is not shown what he votes on")
	}
	s.line(Dim, "ben sees", strings.Join(reviewed.Review.Sentences, "; "))
	done, err := s.ben.Vote(ctx, reviewed, activity.SelectionApproved)
	if err != nil {
		return nil, err
	}
	if done.Status != activity.StatusCompleted || done.Result.SignTransaction == nil {
		return nil, fmt.Errorf("the payment should be signed, but is %s", done.Status)
	}
	s.line(Dim, "ben", "approves it with his own key; his stamp commits to what he was shown")
	return done, nil
}

// showAltered sends an altered body with the stamp of the original.
func (s *served) showAltered(ctx context.Context, body []byte) error {
	header, err := s.annKey.Stamp(body)
	if err != nil {
		return err
	}
	path, err := api.Path(activity.TypeSignTransaction)
	if err != nil {
		return err
	}
	altered := bytes.Replace(body, []byte("ee6b280"), []byte("ee6b281"), 1) // the amount
	_, err = s.ann.PostStamped(ctx, path, header, altered)
	return s.showRefused("The same stamp over another amount:", err, activity.ReasonSignatureInvalid)
}

// showRefused prints a refusal, which has to be for a reason.
func (s *served) showRefused(title string, err error, reason activity.Reason) error {
	refusal, err := refused(err, reason)
	if err == nil {
		s.printf("   %s\n", title)
		s.line(Red, "refused", refusal.Message+" ("+string(reason)+")")
	}
	return err
}

var codeLine = regexp.MustCompile(`(?m)^ {4}([0-9A-Z]+)$`)

// showPassword has a code sent to the outbox and redeems it. A second attempt is refused.
func (s *served) showPassword(ctx context.Context) error {
	done, _, err := s.submit(ctx, activity.InitOTPAuthIntent{OTPType: string(otp.TypeEmail), Contact: "ann@example.com", AppName: "Example"})
	if err != nil {
		return err
	}
	id := done.Result.InitOTPAuth.OTPID
	content, err := os.ReadFile(filepath.Join(s.outbox, id+".json"))
	if err != nil {
		return err
	}
	var message outbox.File
	if err := json.Unmarshal(content, &message); err != nil {
		return err
	}
	code := codeLine.FindStringSubmatch(message.Text)
	if code == nil {
		return errors.New("the message has no code")
	}
	s.line(Dim, "sent", fmt.Sprintf("to %s, into an outbox: %q", message.To, message.Subject))
	s.line(Dim, "code", code[1])
	redeem := activity.VerifyOTPIntent{OTPID: id, OTPCode: code[1]}
	if done, _, err = s.submit(ctx, redeem); err != nil {
		return err
	}
	encoded := done.Result.VerifyOTP.VerificationToken
	s.line(Dim, "token", encoded[:maxShown]+"…")
	token, err := otp.VerifyToken(encoded, &s.proofKey.PublicKey, treasury, time.Now())
	if err != nil {
		return err
	}
	s.line(Green, "checked", fmt.Sprintf("the token says that %s was reached; it expires at %s", token.Contact, token.ExpiresAt.Format(time.RFC3339)))
	time.Sleep(time.Millisecond) // another timestamp makes it another request
	_, _, err = s.submit(ctx, redeem)
	return s.showRefused("The same code once more:", err, activity.ReasonOTPInvalid)
}
