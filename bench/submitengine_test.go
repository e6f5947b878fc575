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
	return tenantsEngine([]tenant{{ID: enginetest.Organization, APIKey: key, Secrets: []string{enginetest.Secret}}}, backend, change)
}

// tenant is an organization with a credential and keys.
type tenant struct {
	ID      string
	APIKey  access.APIKeyConfig
	Secrets []string // in hex
}

// tenantsEngine returns an engine for several organizations that does not verify signatures.
func tenantsEngine(tenants []tenant, backend store.Store, change func(*countersign.Config)) (*countersign.Engine, error) {
	var organizations []access.OrganizationConfig
	signing := keys.New()
	for _, one := range tenants {
		organizations = append(organizations, access.OrganizationConfig{ID: one.ID, Users: []access.UserConfig{
			{Name: "bench", APIKeys: []access.APIKeyConfig{one.APIKey}},
		}})
		for _, text := range one.Secrets {
			secret, err := hex.DecodeString(text)
			if err != nil {
				return nil, err
			}
			if _, err := signing.Add(context.Background(), one.ID, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
				return nil, err
			}
		}
	}
	directory, err := access.NewDirectory(organizations)
	if err != nil {
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
	newest  int64 // the time of the first, in milliseconds
}

func newLoad(b testing.TB, key *enginetest.APIKey, count int) *load {
	b.Helper()
	l := &load{}
	for range count {
		l.add(key, enginetest.Organization, enginetest.Address, enginetest.Unsigned)
	}
	return l
}

// add adds a request by a key. Each is a millisecond older than the one before it.
func (l *load) add(key *enginetest.APIKey, organization, signWith, unsigned string) {
	if len(l.bodies) == 0 {
		l.newest = time.Now().UnixMilli()
	}
	body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}}`,
		l.newest-int64(len(l.bodies)), organization, signWith, unsigned)
	l.bodies = append(l.bodies, body)
	l.headers = append(l.headers, key.Header(body).Value)
}

// part returns the requests of one run, so that no body is sent twice.
func (l *load) part(run, size int) *load { return l.between(run*size, (run+1)*size) }

func (l *load) between(from, to int) *load {
	return &load{bodies: l.bodies[from:to], headers: l.headers[from:to]}
}

func (l *load) header(i int) stamp.Header {
	return stamp.Header{Name: stamp.HeaderAPIKey, Value: l.headers[i]}
}

func (l *load) body(i int) countersign.SignedBody {
	return countersign.SignedBody{Body: l.bodies[i], Stamps: []stamp.Header{l.header(i)}}
}
