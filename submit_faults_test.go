package countersign_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

func hexSHA256(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

// faultyActivities is a store that fails as configured.
type faultyActivities struct {
	store.Store
	complete, begin error
	leases          atomic.Int64 // taken and not released
}

func (s *faultyActivities) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if s.begin != nil {
		return store.BeginResult{}, s.begin
	}
	begun, err := s.Store.Begin(ctx, claim, change)
	if begun.Lease != nil {
		s.leases.Add(1)
	}
	return begun, err
}

func (s *faultyActivities) Complete(ctx context.Context, lease store.Lease, done store.Activity, change store.Change) error {
	if s.complete != nil {
		return s.complete
	}
	return s.Store.Complete(ctx, lease, done, change)
}

func (s *faultyActivities) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	s.leases.Add(-1)
	return s.Store.Release(ctx, lease, change)
}

// TestUnrecordedResultWithheld checks that a signature that could not be recorded is not
// returned, and that the same body is carried out once the store works again.
func TestUnrecordedResultWithheld(t *testing.T) {
	for fault, reason := range map[error]activity.Reason{
		store.ErrUnavailable:               activity.ReasonUnavailable,
		store.ErrLeaseLost:                 activity.ReasonUnavailable,
		store.ErrFull:                      activity.ReasonRateLimitExceeded,
		context.DeadlineExceeded:           activity.ReasonUnavailable,
		errors.New("secret-host: no disk"): activity.ReasonInternal,
	} {
		faulty := &faultyActivities{Store: memory.New(0)}
		f := enginetest.New(t, func(c *countersign.Config) { c.Store = faulty })
		body := f.Body(enginetest.Request{})
		faulty.complete = fault
		record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
		if record != nil {
			t.Errorf("%v: the result left", fault)
		}
		refused := enginetest.Refusal(t, err, reason, "")
		if strings.Contains(refused.Message, "secret-host") || strings.Contains(refused.Message, enginetest.Signed) {
			t.Errorf("%v: the caller is told %s", fault, refused.Message)
		}
		if left := faulty.leases.Load(); left != 0 {
			t.Errorf("%v: %d leases were kept", fault, left)
		}
		faulty.complete = nil
		if record, err = f.Engine.Submit(t.Context(), f.APIKey.Sign(body)); err != nil || signedOf(t, record) != enginetest.Signed {
			t.Errorf("%v: and when it is over: %v", fault, err)
		}
	}
}

// unclosable is a store whose last bytes cannot be written.
type unclosable struct {
	store.Store
	closed bool
}

func (s *unclosable) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.Store.Close(), store.ErrUnavailable)
}

func TestCloseError(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) { c.Store = &unclosable{Store: memory.New(0)} })
	if err := f.Engine.Close(); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("closed with %v, want the store's error", err)
	}
}

func TestBeginError(t *testing.T) {
	faulty := &faultyActivities{Store: memory.New(0), begin: store.ErrUnavailable}
	f := enginetest.New(t, func(c *countersign.Config) { c.Store = faulty })
	_, err := f.Submit(t, enginetest.Request{})
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "send the same body again")
	f.WantSignatures(t, 0)
}

// lostProofKey is a proof key that fails until it is found.
type lostProofKey struct {
	crypto.Signer
	found bool
}

func (k *lostProofKey) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if k.found {
		return k.Signer.Sign(random, digest, options)
	}
	return nil, errors.New("/dev/secret: no token")
}

// TestProofKeyError checks that nothing is recorded without the requested proof, that a
// code is not consumed without a token, and that the answer does not say why the key
// failed.
func TestProofKeyError(t *testing.T) {
	outbox := new(enginetest.Outbox)
	lost := new(lostProofKey)
	f := enginetest.New(t, func(c *countersign.Config) {
		lost.Signer = c.ProofSigner
		c.ProofSigner = lost
	}, enginetest.WithOTP(t, outbox))
	id := engines.IssueOTP(t, f)
	redeem := engines.VerifyOTP(f, id, outbox.Code(t, id), "")
	for _, body := range []string{f.Body(enginetest.Request{Proofs: true}), redeem} {
		record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
		refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, "the proof key could not be used")
		if record != nil || strings.Contains(refused.Message, "/dev/secret") {
			t.Errorf("record %v, message %q", record, refused.Message)
		}
	}
	lost.found = true
	repaired, err := countersign.New(f.Config)
	testenv.Must(t, err)
	record, err := repaired.Submit(t.Context(), f.APIKey.Sign(redeem))
	if err != nil {
		t.Fatalf("the same body with a key that works: %v", err)
	}
	token := record.Result.(activity.VerifyOTPResult).VerificationToken
	if _, err := otp.VerifyToken(token, &f.ProofKey.PublicKey, enginetest.Organization, f.Clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestOTPStoreError checks that a code that cannot be counted is not sent, and that a
// failing store reveals nothing about a code.
func TestOTPStoreError(t *testing.T) {
	outbox := new(enginetest.Outbox)
	enginetest.New(t, func(c *countersign.Config) { c.Store = lostStore{memory.New(0)} }, enginetest.WithOTP(t, outbox))
	_, err := outbox.Service.InitOTPAuth(t.Context(), "org", "Org", activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_EMAIL", Contact: "a@example.com"})
	refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, "the store of one-time passwords is unavailable")
	if outbox.Sent() != 0 || strings.Contains(refused.Message, "secret-host") {
		t.Errorf("%d messages, the caller is told %s", outbox.Sent(), refused.Message)
	}
	_, err = outbox.Service.VerifyOTP(t.Context(), "org", activity.VerifyOTPIntent{OTPID: "0fcd14f5-dae7-4331-82ca-ebaddd849534", OTPCode: "123456789"})
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "the store of one-time passwords is unavailable")
}

// lostStore is a store that cannot change one-time passwords.
type lostStore struct{ store.Store }

func (lostStore) Change(context.Context, string, store.Change) error {
	return fmt.Errorf("%w: secret-host: no disk", store.ErrUnavailable)
}

// TestLeaseRenewal checks that work may take many times as long as a lease lasts.
func TestLeaseRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memory.New(0)
		f := enginetest.New(t, func(c *countersign.Config) { c.Store, c.Now = shared, time.Now })
		f.Signing.Before = func(context.Context) error { time.Sleep(10 * countersign.DefaultLeaseTTL); return nil }
		sent := f.APIKey.Sign(f.Body(enginetest.Request{At: time.Now()}))
		other := make(chan error)
		go func() {
			time.Sleep(2 * countersign.DefaultLeaseTTL) // after a lease that is not renewed has expired
			_, err := f.Second(t).Submit(context.Background(), sent)
			other <- err
		}()
		record, err := f.Engine.Submit(t.Context(), sent)
		if err != nil || signedOf(t, record) != enginetest.Signed {
			t.Errorf("after ten leases: %v", err)
		}
		if err := <-other; err != nil {
			t.Errorf("the one who waited: %v", err)
		}
		f.WantSignatures(t, 1)
	})
}

// stolenLease is a store in which every lease is lost at once.
type stolenLease struct{ store.Store }

func (stolenLease) Renew(context.Context, store.Lease, time.Duration, time.Time) (store.Lease, error) {
	return store.Lease{}, store.ErrLeaseLost
}

func (stolenLease) Complete(context.Context, store.Lease, store.Activity, store.Change) error {
	return store.ErrLeaseLost
}

// TestLostLease checks that losing the lease cancels the work, and that nothing is
// returned.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := enginetest.New(t, func(c *countersign.Config) { c.Store, c.Now = stolenLease{memory.New(0)}, time.Now })
		f.Signing.Before = func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{At: time.Now()})))
		if record != nil || !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("record %v, error %v", record, err)
		}
		enginetest.Refusal(t, err, activity.ReasonUnavailable, "")
	})
}

// TestCallerCancels checks that a signature is recorded although its caller no longer
// waits, and returned for the same body.
func TestCallerCancels(t *testing.T) {
	leaving := &leavingStore{Store: memory.New(0)}
	f := enginetest.New(t, func(c *countersign.Config) { c.Store = leaving })
	ctx, cancel := context.WithCancel(t.Context())
	leaving.leave = cancel
	sent := f.APIKey.Sign(f.Body(enginetest.Request{}))
	first, err := f.Engine.Submit(ctx, sent)
	if err != nil || ctx.Err() == nil {
		t.Fatalf("error %v, context %v", err, ctx.Err())
	}
	second, err := f.Engine.Submit(t.Context(), sent)
	if err != nil || first.ID != second.ID || f.Signing.Signatures.Load() != 1 {
		t.Errorf("again: %v, %d signatures", err, f.Signing.Signatures.Load())
	}
}

// leavingStore is a store whose caller cancels before Complete.
type leavingStore struct {
	store.Store
	leave func()
}

func (s *leavingStore) Complete(ctx context.Context, lease store.Lease, done store.Activity, change store.Change) error {
	s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Store.Complete(ctx, lease, done, change)
}

func TestNewRefusesSubmission(t *testing.T) {
	f := enginetest.New(t)
	wrongCurve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	testenv.Must(t, err)
	for name, test := range map[string]struct {
		change  func(*countersign.Config)
		problem string
	}{
		"any time with a store that forgets": {func(c *countersign.Config) { c.AnyRequestTime = true }, "does not forget"},
		"proof key on P-384":                 {func(c *countersign.Config) { c.ProofSigner = wrongCurve }, "P-256"},
		"negative age":                       {func(c *countersign.Config) { c.MaxRequestAge = -1 }, "negative"},
		"short lease":                        {func(c *countersign.Config) { c.LeaseTTL = time.Millisecond }, "at least a second"},
		"log signer without a log":           {func(c *countersign.Config) { c.LogSigner = new(translog.Signer) }, "needs Config.Log"},
	} {
		config := f.Config
		test.change(&config)
		if _, err := countersign.New(config); err == nil || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v", name, err)
		}
		if config.AnyRequestTime {
			continue // has no effect without a Directory
		}
		config.Directory, config.Store = nil, nil
		if _, err := countersign.New(config); err == nil || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s, without a directory: %v", name, err)
		}
	}
	_, err = countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: f.Signing, Log: true})
	if err == nil || !strings.Contains(err.Error(), "Config.Log needs a Config.Store") {
		t.Errorf("a log without a store: %v", err)
	}
}

func TestWithoutDirectory(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) { c.Directory = nil })
	_, err := f.Submit(t, enginetest.Request{})
	enginetest.Refusal(t, err, activity.ReasonInternal, "no Directory")
	err = f.Engine.CheckRequest(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{})))
	enginetest.Refusal(t, err, activity.ReasonInternal, "no Directory")
	_, err = f.Engine.GetActivity(t.Context(), countersign.SignedBody{})
	enginetest.Refusal(t, err, activity.ReasonInternal, "no Directory")
	_, err = f.Engine.WhoAmI(t.Context(), countersign.SignedBody{})
	enginetest.Refusal(t, err, activity.ReasonInternal, "no Directory")
	if err := f.Engine.Ready(t.Context()); err != nil {
		t.Errorf("it could sign: %v", err)
	}
}
