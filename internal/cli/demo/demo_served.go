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
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/memory"
)

// demoServed is what the demo needs for requests over HTTP.
type demoServed struct {
	outbox   string // directory
	proofKey *ecdsa.PrivateKey
	key      *api.Key
	client   *api.Client // while it is served
}

// newDemoServed creates an API key and an outbox for one-time passwords, and adds its
// organization, the store and the service to the configuration of the engine.
func newDemoServed(dir string, config *countersign.Config) (*demoServed, error) {
	s := &demoServed{outbox: filepath.Join(dir, "outbox")}
	key, credential, err := newDemoKey(deployment.DefaultOrganization)
	if err != nil {
		return nil, err
	}
	s.key = key
	if s.proofKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	config.Directory, err = access.NewDirectory([]access.OrganizationConfig{{
		ID: deployment.DefaultOrganization, Name: "Example",
		Users: []access.UserConfig{{Name: "demo", APIKeys: []access.APIKeyConfig{credential}}},
	}})
	if err != nil {
		return nil, err
	}
	config.Store, config.ProofSigner = memory.New(0), s.proofKey
	codes, err := s.passwords(config.Store)
	if err != nil {
		return nil, err
	}
	config.Operations = operations.New(codes, s.proofKey).Operations()
	return s, nil
}

// newDemoKey generates an API key, and returns its entry for the directory too.
func newDemoKey(organizationID string) (*api.Key, access.APIKeyConfig, error) {
	generated, err := deployment.NewAPIKey(organizationID, stamp.CurveP256)
	if err != nil {
		return nil, access.APIKeyConfig{}, err
	}
	key, err := api.ParseKey(console.JSONLine(generated))
	return key, access.APIKeyConfig{Curve: generated.Curve, PublicKey: generated.PublicKey}, err
}

func (s *demoServed) passwords(in otp.Store) (*otp.Service, error) {
	sender, err := outbox.New(s.outbox)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, otp.MinSecretSize)
	_, _ = rand.Read(secret) // never fails
	defer keystore.Wipe(secret)
	return otp.New(otp.Config{Store: in, Secret: keystore.NewSecret(secret), Email: sender})
}

// show serves the engine on a loopback address, and sends requests to it.
func (s *demoServed) show(ctx context.Context, d *demo) error {
	return serveDemo(ctx, d.engine, func(base string) (err error) {
		if s.client, err = api.New(api.Config{URL: base, Key: s.key}); err != nil {
			return err
		}
		d.tell.chapter("Over HTTP: a stamped request")
		d.tell.line("serving", base+", during the demo only")
		if err := s.showRequest(ctx, d); err != nil {
			return fmt.Errorf("request over HTTP: %w", err)
		}
		d.tell.chapter("A one-time password")
		if err := s.showPassword(ctx, d.tell); err != nil {
			return fmt.Errorf("one-time password: %w", err)
		}
		return nil
	})
}

// serveDemo serves an engine on a loopback address until requests returns, which gets the
// base URL.
func serveDemo(ctx context.Context, engine *countersign.Engine, requests func(base string) error) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)))
		if endErr := <-ended; !errors.Is(endErr, http.ErrServerClosed) {
			err = errors.Join(err, endErr)
		}
	}()
	return requests("http://" + listener.Addr().String())
}

// showRequest has a transaction signed by a request, sends the request again, and has an
// altered request refused.
func (s *demoServed) showRequest(ctx context.Context, d *demo) error {
	key, err := d.keys.Generate(ctx, deployment.DefaultOrganization, "demo HTTP", ethereumDemo.Curve)
	if err != nil {
		return err
	}
	request, err := s.client.NewRequest(ethereumDemo.intent(key, demoUSDC))
	if err != nil {
		return err
	}
	d.tell.line("body", string(request.Body[:maxShown])+"…")
	d.tell.line("stamped", "by an API key on P-256, over every byte of the body")
	done, err := s.client.Submit(ctx, request)
	if err != nil {
		return err
	}
	d.tell.line("activity", done.ID)
	if err := d.tell.checked(ethereumDemo, done.Result.SignTransaction.SignedTransaction, key.PublicKey); err != nil {
		return err
	}
	again, err := s.client.Submit(ctx, request)
	if err != nil || !bytes.Equal(again.Answer, done.Answer) {
		return errors.Join(errors.New("the same request should have got the same answer"), err)
	}
	d.tell.good("again", "the same request gets the same answer, and is not signed twice")
	return s.showAltered(ctx, request.Body, d.tell)
}

// showAltered sends an altered body with the stamp of the original.
func (s *demoServed) showAltered(ctx context.Context, body []byte, tell *Narrator) error {
	header, err := s.key.Stamp(body)
	if err != nil {
		return err
	}
	path, err := api.Path(activity.TypeSignTransaction)
	if err != nil {
		return err
	}
	altered := bytes.Replace(body, []byte("ee6b280"), []byte("ee6b281"), 1) // the amount
	_, err = s.client.PostStamped(ctx, path, header, altered)
	if refusal, ok := errors.AsType[*activity.Error](err); !ok || refusal.Reason != activity.ReasonSignatureInvalid {
		return errors.Join(errors.New("an altered request should have been refused"), err)
	}
	tell.text("The same stamp over another amount:")
	tell.refused(err)
	return nil
}

var demoCode = regexp.MustCompile(`(?m)^ {4}([0-9A-Z]+)$`)

// showPassword has a code sent to the outbox, and redeems it.
func (s *demoServed) showPassword(ctx context.Context, tell *Narrator) error {
	request, err := s.client.NewRequest(activity.InitOTPAuthIntent{OTPType: string(otp.TypeEmail), Contact: "ann@example.com", AppName: "Example"})
	if err != nil {
		return err
	}
	done, err := s.client.Submit(ctx, request)
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
	code := demoCode.FindStringSubmatch(message.Text)
	if code == nil {
		return errors.New("the message has no code")
	}
	tell.line("sent", fmt.Sprintf("to %s, into an outbox: %q", message.To, message.Subject))
	tell.line("code", code[1])
	return s.showRedeemed(ctx, id, code[1], tell)
}

// showRedeemed redeems the code, and has a second attempt refused.
func (s *demoServed) showRedeemed(ctx context.Context, id, code string, tell *Narrator) error {
	redeem := func() (string, error) {
		request, err := s.client.NewRequest(activity.VerifyOTPIntent{OTPID: id, OTPCode: code})
		if err != nil {
			return "", err
		}
		done, err := s.client.Submit(ctx, request)
		if err != nil {
			return "", err
		}
		return done.Result.VerifyOTP.VerificationToken, nil
	}
	encoded, err := redeem()
	if err != nil {
		return err
	}
	tell.line("token", encoded[:maxShown]+"…")
	token, err := otp.VerifyToken(encoded, &s.proofKey.PublicKey, deployment.DefaultOrganization, time.Now())
	if err != nil {
		return err
	}
	tell.good("checked", fmt.Sprintf("the token says that %s was reached; it expires at %s", token.Contact, token.ExpiresAt.Format(time.RFC3339)))
	time.Sleep(time.Millisecond) // another timestamp makes it another request
	_, err = redeem()
	if _, ok := errors.AsType[*activity.Error](err); !ok {
		return errors.Join(errors.New("a used code should have been refused"), err)
	}
	tell.text("The same code once more:")
	tell.refused(err)
	return nil
}
