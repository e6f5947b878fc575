package main

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
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/memory"
)

// demoServed is what the demonstration needs for requests over HTTP.
type demoServed struct {
	outbox   string // the folder
	proofKey *ecdsa.PrivateKey
	to       client
}

// newDemoServed makes an organization with an API key, and adds it to what the
// engine is made of.
func newDemoServed(dir string, made *countersign.Config) (*demoServed, error) {
	key, err := newAPIKey(defaultOrganization, stamp.CurveP256)
	if err != nil {
		return nil, err
	}
	s := &demoServed{outbox: filepath.Join(dir, outboxName)}
	if s.to.by, err = newStamper(jsonLine(key)); err != nil {
		return nil, err
	}
	if s.proofKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	made.Directory, err = countersign.NewDirectory([]countersign.OrganizationConfig{{
		ID: defaultOrganization, Name: "Example",
		Users: []countersign.UserConfig{{Name: "demo", APIKeys: []countersign.APIKeyConfig{{Curve: stamp.CurveP256, PublicKey: key.PublicKey}}}},
	}})
	if err != nil {
		return nil, err
	}
	made.Store, made.ProofSigner = memory.New(0), s.proofKey
	made.OTP, err = s.passwords(made.Store)
	return s, err
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

// show serves the engine on loopback for a while, and sends requests to it.
func (s *demoServed) show(ctx context.Context, engine *countersign.Engine, keys *file.Store, tell *narrator) error {
	return serveDemo(ctx, engine, func(base string) error {
		s.to.base = base
		tell.chapter("Over HTTP: a stamped request")
		tell.line("serving", base+", for these requests only")
		if err := s.showRequest(ctx, keys, tell); err != nil {
			return fmt.Errorf("request over HTTP: %w", err)
		}
		tell.chapter("A one-time password")
		if err := s.showPassword(ctx, tell); err != nil {
			return fmt.Errorf("one-time password: %w", err)
		}
		return nil
	})
}

// serveDemo serves an engine on loopback until requests, which gets the base of
// its URLs, returns.
func serveDemo(ctx context.Context, engine *countersign.Engine, requests func(base string) error) (err error) {
	bound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(bound) }()
	defer func() {
		err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)))
		if endErr := <-ended; !errors.Is(endErr, http.ErrServerClosed) {
			err = errors.Join(err, endErr)
		}
	}()
	return requests("http://" + bound.Addr().String())
}

// demoRequest is a request's body.
func demoRequest(kind activity.Type, parameters any) []byte {
	return jsonLine(map[string]any{
		"type": kind, "timestampMs": fmt.Sprint(time.Now().UnixMilli()), "organizationId": defaultOrganization, "parameters": parameters,
	})
}

// demoAnswer is what the demonstration reads of an answer.
type demoAnswer struct {
	Activity struct {
		ID     string `json:"id"`
		Result struct {
			SignTransactionResult activity.SignTransactionResult `json:"signTransactionResult"`
			InitOTPAuthResultV2   activity.InitOTPAuthResult     `json:"initOtpAuthResultV2"`
		} `json:"result"`
	} `json:"activity"`
}

func (s *demoServed) post(ctx context.Context, path string, body []byte) (answer demoAnswer, err error) {
	text, err := s.to.post(ctx, path, body)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(text, &answer)
}

// showRequest has a transaction signed by request, twice, and the request
// refused that was altered.
func (s *demoServed) showRequest(ctx context.Context, keys *file.Store, tell *narrator) error {
	key, err := keys.Generate(ctx, defaultOrganization, "demo HTTP", ethereumDemo.curve)
	if err != nil {
		return err
	}
	body := demoRequest(activity.TypeSignTransaction, ethereumDemo.intent(key, demoUSDC))
	tell.line("body", string(body[:maxShown])+"…")
	tell.line("stamped", "with an API key on P-256, over every byte of the body")
	answer, err := s.post(ctx, "submit/sign_transaction", body)
	if err != nil {
		return err
	}
	tell.line("activity", answer.Activity.ID)
	found, err := checkEthereum(answer.Activity.Result.SignTransactionResult.SignedTransaction, key.PublicKey)
	if err != nil {
		return fmt.Errorf("the check of the signature: %w", err)
	}
	tell.good("checked", found)
	again, err := s.post(ctx, "submit/sign_transaction", body)
	if err != nil || again != answer {
		return errors.Join(errors.New("the same request should have been answered the same"), err)
	}
	tell.good("again", "the same request is answered with the same activity; it is not signed twice")
	return s.showAltered(ctx, body, tell)
}

// showAltered sends a request with the stamp of another.
func (s *demoServed) showAltered(ctx context.Context, body []byte, tell *narrator) error {
	made, err := s.to.by.Stamp(body)
	if err != nil {
		return err
	}
	changed := bytes.Replace(body, []byte("ee6b280"), []byte("ee6b281"), 1) // the amount
	_, err = s.to.send(ctx, "submit/sign_transaction", made, changed)
	if refused, ok := errors.AsType[*refusedError](err); !ok || refused.refused.Reason != activity.ReasonSignatureInvalid {
		return errors.Join(errors.New("a request that was altered should have been refused"), err)
	}
	tell.text("The same stamp over another amount:")
	tell.bad("refused", err.Error())
	return nil
}

var demoCode = regexp.MustCompile(`(?m)^ {4}([0-9A-Z]+)$`)

// showPassword has a code sent into the outbox, and redeems it.
func (s *demoServed) showPassword(ctx context.Context, tell *narrator) error {
	answer, err := s.post(ctx, "submit/init_otp_auth", demoRequest(activity.TypeInitOTPAuth,
		map[string]string{"otpType": string(otp.TypeEmail), "contact": "ann@example.com", "appName": "Example"}))
	if err != nil {
		return err
	}
	id := answer.Activity.Result.InitOTPAuthResultV2.OTPID
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

// showRedeemed redeems the code, once.
func (s *demoServed) showRedeemed(ctx context.Context, id, code string, tell *narrator) error {
	redeemed, err := redeem(ctx, &s.to, id, code)
	if err != nil {
		return err
	}
	tell.line("token", redeemed.VerificationToken[:maxShown]+"…")
	token, err := otp.VerifyToken(redeemed.VerificationToken, &s.proofKey.PublicKey, defaultOrganization, time.Now())
	if err != nil {
		return err
	}
	tell.good("checked", fmt.Sprintf("the token says that %s was reached; it expires at %s", token.Contact, token.ExpiresAt.Format(time.RFC3339)))
	time.Sleep(time.Millisecond) // so that it is another request
	_, err = redeem(ctx, &s.to, id, code)
	if _, ok := errors.AsType[*refusedError](err); !ok {
		return errors.Join(errors.New("a code that was used should have been refused"), err)
	}
	tell.text("The same code once more:")
	tell.bad("refused", err.Error())
	return nil
}
