package bench

import (
	"context"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// submitEngine returns an engine that takes the requests of a load and does not verify
// signatures.
func submitEngine(key access.APIKeyConfig, backend store.Store) (*countersign.Engine, error) {
	return submitEngineWith(key, backend, func(*countersign.Config) {})
}

// submitEngineWith is submitEngine with a changed configuration.
func submitEngineWith(key access.APIKeyConfig, backend store.Store, change func(*countersign.Config)) (*countersign.Engine, error) {
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Users: []access.UserConfig{
		{Name: "bench", APIKeys: []access.APIKeyConfig{key}},
	}}})
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(enginetest.Secret)
	if err != nil {
		return nil, err
	}
	signing := keys.New()
	if _, err := signing.Add(context.Background(), enginetest.Organization, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		return nil, err
	}
	config := countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: signing, Directory: directory, Store: backend, ReleaseUnverifiedSignatures: true}
	change(&config)
	return countersign.New(config)
}

// load is stamped requests, each with its own body.
type load struct {
	bodies  [][]byte
	headers []string
}

func newLoad(b testing.TB, key *enginetest.APIKey, count int) *load {
	b.Helper()
	l := &load{}
	now := time.Now().UnixMilli()
	for i := range count {
		body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}}`,
			now-int64(i), enginetest.Organization, enginetest.Address, enginetest.Unsigned)
		l.bodies = append(l.bodies, body)
		l.headers = append(l.headers, key.Header(body).Value)
	}
	return l
}

// part returns the requests of one run, so that no body is sent twice.
func (l *load) part(run, size int) *load {
	from, to := run*size, (run+1)*size
	return &load{l.bodies[from:to], l.headers[from:to]}
}

func (l *load) header(i int) stamp.Header {
	return stamp.Header{Name: stamp.HeaderAPIKey, Value: l.headers[i]}
}

func (l *load) body(i int) countersign.SignedBody {
	return countersign.SignedBody{Body: l.bodies[i], Stamps: []stamp.Header{l.header(i)}}
}

// credentialOf returns the credential that verifies a key's stamps.
func credentialOf(b *testing.B, key *enginetest.APIKey) *stamp.Credential {
	b.Helper()
	public, err := hex.DecodeString(key.PublicKey)
	if err != nil {
		b.Fatal(err)
	}
	credential, err := stamp.NewAPIKey(stamp.CurveP256, public)
	if err != nil {
		b.Fatal(err)
	}
	return credential
}
