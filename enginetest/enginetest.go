// Package enginetest sets up an engine with keys, users and a clock, for tests of
// programs that embed it.
//
//	f := enginetest.New(t, func(c *countersign.Config) { c.Policy = yours })
//	record, err := f.Submit(t, enginetest.Request{})
//
// Everything is in memory and belongs to the test. The keys are public: never fund
// them.
package enginetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/stamp"
)

// Organizations of every fixture.
const (
	Organization      = "6e1f8f5e-1111-4222-8333-444455556666"
	OtherOrganization = "other"
)

// A transaction, the key that signs it and the signed bytes: the vector
// eip1559.json without its data.
const (
	Secret   = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"
	Address  = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	Unsigned = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"
	Signed   = "02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d8989" +
		"6385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55"

	// Hazardous is well-formed and has the hazard ethereum/no-chain-id.
	Hazardous = "e1078504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80"
)

// Fixture is an engine, and what it was configured with.
type Fixture struct {
	Engine   *countersign.Engine
	Config   countersign.Config
	Clock    *Clock
	APIKey   *APIKey // of user-1 in Organization; may submit all types of activities except votes
	OTPOnly  *APIKey // of user-2 in Organization; may submit one-time passwords only
	Expired  *APIKey // of user-1, expired when the clock starts
	Other    *APIKey // of a user in OtherOrganization
	ProofKey *ecdsa.PrivateKey
	Signing  *CountingKeystore // has the keys "key-1" (secp256k1) and "key-2" (Ed25519)
}

// New returns an engine with a store in memory and a stopped clock at
// 2026-11-20T12:00:00Z. The changes are applied to its configuration. The engine is
// closed when the test ends.
func New(t testing.TB, changes ...func(*countersign.Config)) *Fixture {
	t.Helper()
	f := &Fixture{
		Clock:  NewClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		APIKey: NewAPIKey(t), OTPOnly: NewAPIKey(t), Expired: NewAPIKey(t), Other: NewAPIKey(t),
		ProofKey: newP256(t),
	}
	f.Signing = &CountingKeystore{Keystore: keys(t)}
	f.Config = countersign.Config{
		Keystore: f.Signing, Chains: all.Chains(all.Limits{}),
		Operations: messages.Operations(all.Chains(all.Limits{})...), Directory: f.directory(t), Now: f.Clock.Now, ProofSigner: f.ProofKey,
	}
	for _, change := range changes {
		change(&f.Config)
	}
	f.Engine = f.newEngine(t)
	return f
}

// Second returns another engine with the same configuration, such as a second node on
// the same store.
func (f *Fixture) Second(t testing.TB) *countersign.Engine { return f.newEngine(t) }

func (f *Fixture) newEngine(t testing.TB) *countersign.Engine {
	t.Helper()
	engine, err := countersign.New(f.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

func keys(t testing.TB) *memory.Store {
	t.Helper()
	secret, err := hex.DecodeString(Secret)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	if _, err := store.Add(t.Context(), Organization, keystore.NewKey{ID: "key-1", Curve: keystore.CurveSecp256k1,
		Secret: secret}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Add(t.Context(), Organization, keystore.NewKey{ID: "key-2", Curve: keystore.CurveEd25519,
		Secret: secret}); err != nil {
		t.Fatal(err)
	}
	return store
}

func (f *Fixture) directory(t testing.TB) access.Directory {
	t.Helper()
	all, otp, expired := f.APIKey.Config(), f.OTPOnly.Config(), f.Expired.Config()
	all.Activities = slices.DeleteFunc(activity.Types(), func(kind activity.Type) bool {
		return kind == activity.TypeApproveActivity || kind == activity.TypeRejectActivity
	})
	otp.Activities = []activity.Type{
		activity.TypeInitOTPAuth, activity.TypeInitOTPV2, activity.TypeInitOTPV3, activity.TypeVerifyOTP, activity.TypeVerifyOTPV2,
	}
	expired.ExpiresAt = f.Clock.Now()
	directory, err := access.NewDirectory([]access.OrganizationConfig{
		{ID: Organization, Name: "Example", Resume: access.ResumeConfig{Approvals: 1}, Users: []access.UserConfig{
			{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{all, expired}},
			{ID: "user-2", Name: "login", APIKeys: []access.APIKeyConfig{otp}},
		}},
		{ID: OtherOrganization, Name: "Other", Users: []access.UserConfig{
			{Name: "ci", APIKeys: []access.APIKeyConfig{f.Other.Config()}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// APIKey is an API key on P-256 with its secret.
type APIKey struct {
	private   *ecdsa.PrivateKey
	PublicKey string // hex
}

// NewAPIKey generates an API key.
func NewAPIKey(t testing.TB) *APIKey {
	t.Helper()
	key := newP256(t)
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	compressed := append([]byte{2 + point[64]&1}, point[1:33]...)
	return &APIKey{private: key, PublicKey: hex.EncodeToString(compressed)}
}

func newP256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// PrivateKey returns the secret in hex, as clients take it.
func (k *APIKey) PrivateKey() string {
	raw, err := k.private.Bytes()
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(raw)
}

// Config returns the key for the configuration of a user.
func (k *APIKey) Config() access.APIKeyConfig {
	return access.APIKeyConfig{Curve: stamp.CurveP256, PublicKey: k.PublicKey}
}

// Header returns the stamp of a body: the HTTP header X-Stamp.
func (k *APIKey) Header(body []byte) stamp.Header {
	digest := sha256.Sum256(body)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, digest[:])
	if err != nil {
		panic(err)
	}
	text := fmt.Sprintf(`{"publicKey":"%s","scheme":"%s","signature":"%x"}`, k.PublicKey, stamp.SchemeP256, signature)
	return stamp.Header{Name: stamp.HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString([]byte(text))}
}

// Sign returns a body with its stamp, for Engine.Submit.
func (k *APIKey) Sign(body string) countersign.SignedBody {
	return countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{k.Header([]byte(body))}}
}

// Request is a request to sign an Ethereum transaction. Zero fields mean Organization,
// Address, Unsigned and the clock's time: the zero Request is signed.
type Request struct {
	Organization, SignWith, Unsigned string
	At                               time.Time
	Proofs                           bool
}

// Body returns the body of a request.
func (f *Fixture) Body(r Request) string {
	at := r.At
	if at.IsZero() {
		at = f.Clock.Now()
	}
	parameters, err := json.Marshal(activity.SignTransactionIntent{
		SignWith:            orElse(r.SignWith, Address),
		UnsignedTransaction: orElse(r.Unsigned, Unsigned),
		Type:                activity.TransactionTypeEthereum,
	})
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,`+
		`"parameters":%s,"generateAppProofs":%v}`,
		at.UnixMilli(), orElse(r.Organization, Organization), parameters, r.Proofs)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Submit stamps a request with APIKey and submits it.
func (f *Fixture) Submit(t testing.TB, r Request) (*activity.Record, error) {
	t.Helper()
	return f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(r)))
}

// Clock is a clock that only Advance moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// CountingKeystore counts ECDSA signatures, and can delay or refuse them.
type CountingKeystore struct {
	keystore.Keystore
	Signatures atomic.Int64
	Before     func(ctx context.Context) error // called before each signature if set; the key returns its error
}

// Find implements keystore.Keystore.
func (c *CountingKeystore) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	key, err := c.Keystore.Find(ctx, organizationID, locator)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(keystore.ECDSASigner)
	if !ok {
		return key, nil // Ed25519 signatures are not counted
	}
	counting := countingKey{Key: key, signer: signer, counter: c}
	if low, ok := key.(keystore.LowRSigner); ok {
		return &countingLowRKey{counting, low}, nil
	}
	return &counting, nil
}

type countingKey struct {
	keystore.Key
	signer  keystore.ECDSASigner
	counter *CountingKeystore
}

// SignECDSA implements keystore.ECDSASigner.
func (k *countingKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	if err := k.count(ctx); err != nil {
		return [65]byte{}, err
	}
	return k.signer.SignECDSA(ctx, digest)
}

func (k *countingKey) count(ctx context.Context) error {
	if k.counter.Before != nil {
		if err := k.counter.Before(ctx); err != nil {
			return err
		}
	}
	k.counter.Signatures.Add(1)
	return nil
}

// countingLowRKey is a countingKey that can also make signatures with a low r.
type countingLowRKey struct {
	countingKey
	low keystore.LowRSigner
}

// SignLowR implements keystore.LowRSigner.
func (k *countingLowRKey) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	if err := k.count(ctx); err != nil {
		return [65]byte{}, err
	}
	return k.low.SignLowR(ctx, digest)
}
