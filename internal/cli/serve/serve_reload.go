package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/live"
)

// Live is the state that SIGHUP changes while serve runs: organizations with their
// users and credentials, policies, descriptors and names, and the TLS certificate. A
// reload replaces all of it or nothing.
type Live struct {
	Current  atomic.Pointer[snapshot]
	Policies *deployment.LoadedPolicies // nil if no organization has a policy
	engine   *countersign.Engine
	keys     keystore.Keystore // of the engine

	// InForce is what the engine asks: the directory, the descriptors and the names.
	InForce live.Current
}

// snapshot is the state read from the configuration at one time.
type snapshot struct {
	Configured  *config.Config
	directory   access.Directory
	certificate *tls.Certificate // nil without TLS
	known       *deployment.Knowledge
	rpc         *rpcState // nil without a JSON-RPC signer
}

// NewSnapshot reads and checks everything a reload takes from the configuration
// except the policies.
func NewSnapshot(configured *config.Config) (*snapshot, error) {
	directory, err := access.NewDirectory(configured.Organizations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configured.Path, err)
	}
	certificate, err := loadCertificate(configured.TLS)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	known, err := deployment.ReadKnowledge(configured)
	if err != nil {
		return nil, err
	}
	rpc, err := newRPCState(context.Background(), configured)
	if err != nil {
		return nil, err
	}
	return &snapshot{configured, directory, certificate, known, rpc}, nil
}

// Put puts a snapshot in force.
func (l *Live) Put(next *snapshot) {
	l.Current.Store(next)
	l.InForce.Replace(live.State{Directory: next.directory, Descriptors: next.known.Reader(), Names: next.known.Names()})
}

// Reload re-reads the configuration. It returns the changed members that take
// effect only after a restart. On an error the old state stays.
func (l *Live) Reload(ctx context.Context, path string) (needRestart []string, err error) {
	configured, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	next, err := NewSnapshot(configured)
	if err != nil {
		return nil, err
	}
	files, err := l.Policies.Read(ctx, configured)
	if err != nil {
		return nil, err
	}
	old := l.Current.Load()
	if (old.certificate == nil) != (next.certificate == nil) {
		next.certificate = old.certificate // TLS cannot be turned on or off while listening
	}
	if (old.rpc == nil) != (next.rpc == nil) || old.rpc != nil && (old.rpc.certificate == nil) != (next.rpc.certificate == nil) {
		next.rpc = old.rpc
	}
	l.Policies.PutInForce(files, configured)
	l.Put(next)
	return fixedChanges(old.Configured, configured), nil
}

// fixedChanges returns the members that differ and take effect only after a
// restart.
func fixedChanges(old, next *config.Config) []string {
	var names []string
	for _, member := range []struct {
		name      string
		old, next any
	}{
		{"listen", old.Listen, next.Listen}, {"admin", old.Admin, next.Admin}, {"tls", old.TLS == nil, next.TLS == nil},
		{"origins", old.Origins, next.Origins}, {"console", old.Console, next.Console},
		{"store", old.Store, next.Store}, {"keystore", old.Keystore, next.Keystore},
		{"passphraseFile", old.PassphraseFile, next.PassphraseFile}, {"proofKey", old.ProofKey, next.ProofKey}, {"otp", old.OTP, next.OTP},
		{"log", old.Log, next.Log}, {"limits", old.Limits, next.Limits},
		{"rpc", fixedRPC(old.RPC), fixedRPC(next.RPC)},
		{"descriptors", old.Descriptors == nil, next.Descriptors == nil},
	} {
		if !reflect.DeepEqual(member.old, member.next) {
			names = append(names, member.name)
		}
	}
	if policyRemoved(old, next) {
		names = append(names, "policy")
	}
	return names
}

// fixedRPC returns what of the JSON-RPC signer takes effect only at the start.
func fixedRPC(r *config.RPC) any {
	if r == nil {
		return nil
	}
	fixed := config.RPC{Listen: r.Listen, Socket: r.Socket, ChainID: r.ChainID}
	if r.TLS != nil {
		fixed.TLS = &config.RPCTLS{MinVersion: r.TLS.MinVersion}
	}
	return fixed
}

// policyRemoved reports whether an organization that had a policy has none now.
func policyRemoved(old, next *config.Config) bool {
	has := map[string]bool{}
	for organization := range deployment.WithPolicy(next) {
		has[organization.ID] = true
	}
	for organization := range deployment.WithPolicy(old) {
		if !has[organization.ID] {
			return true
		}
	}
	return false
}

// TLSConfig returns a configuration that always serves the current certificate, or
// nil without TLS.
func (l *Live) TLSConfig() *tls.Config {
	if l.Current.Load().certificate == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.Current.Load().certificate, nil },
	}
}

// Expiry returns when the certificate expires; zero without TLS.
func (l *Live) Expiry() time.Time {
	certificate := l.Current.Load().certificate
	if certificate == nil || certificate.Leaf == nil {
		return time.Time{}
	}
	return certificate.Leaf.NotAfter
}

// loadCertificate loads the certificate. It returns nil if none is configured.
func loadCertificate(configured *config.TLS) (*tls.Certificate, error) {
	if configured == nil {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(configured.CertFile, configured.KeyFile)
	if err != nil {
		return nil, err
	}
	return &certificate, nil
}
