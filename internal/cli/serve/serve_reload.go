package serve

import (
	"context"
	"crypto/tls"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/stamp"
)

// Live is the state that SIGHUP changes while serve runs: organizations with their
// users and credentials, policies, descriptors and names, and the TLS certificate. A
// reload replaces all of it or nothing. It implements access.Directory,
// chains.Reader, chains.TableReader, chains.Names and names.Labeled.
type Live struct {
	Current  atomic.Pointer[deployment.Loaded]
	Policies *deployment.LoadedPolicies // nil before the engine is open
	Loader   deployment.Loader          // that the server was started with
	engine   *countersign.Engine
}

// Reload re-reads the configuration. It returns the changed members that take
// effect only after a restart. On an error the old state stays.
func (l *Live) Reload(cmd *cobra.Command, path string) (needRestart []string, err error) {
	old := l.Current.Load()
	loader := l.Loader
	loader.Path, loader.Running = path, old
	next, err := loader.Load(cmd)
	if err != nil {
		return nil, err
	}
	next.Discard() // the engine keeps what it was opened with
	next.Keys = old.Keys
	if (old.Certificate == nil) != (next.Certificate == nil) {
		next.Certificate = old.Certificate // TLS cannot be turned on or off while listening
	}
	l.Current.Store(next) // first: a credential that was removed stops here
	if l.Policies != nil {
		l.Policies.PutInForce(next.Policies, next.Configured)
	}
	return fixedChanges(old.Configured, next.Configured), nil
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

// Organization implements access.Directory.
func (l *Live) Organization(ctx context.Context, organizationID string) (*access.Organization, error) {
	return l.Current.Load().Directory.Organization(ctx, organizationID)
}

// Member implements access.Directory.
func (l *Live) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	return l.Current.Load().Directory.Member(ctx, organizationID, id)
}

// Read implements chains.Reader.
func (l *Live) Read(call chains.Call) (chains.Reading, bool) {
	if reader := l.Current.Load().Known.Reader(); reader != nil {
		return reader.Read(call)
	}
	return chains.Reading{}, false
}

// LookupTable implements chains.TableReader.
func (l *Live) LookupTable(address []byte) (chains.LookupTable, bool) {
	if reader, ok := l.Current.Load().Known.Reader().(chains.TableReader); ok {
		return reader.LookupTable(address)
	}
	return chains.LookupTable{}, false
}

// Token implements chains.Names.
func (l *Live) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	return l.Current.Load().Known.Names().Token(asset)
}

// Label implements chains.Names.
func (l *Live) Label(party chains.Party) string { return l.Current.Load().Known.Names().Label(party) }

// Labeled implements names.Labeled.
func (l *Live) Labeled() [][]byte {
	if labeled, ok := l.Current.Load().Known.Names().(names.Labeled); ok {
		return labeled.Labeled()
	}
	return nil
}

// TLSConfig returns a configuration that always serves the current certificate, or
// nil without TLS.
func (l *Live) TLSConfig() *tls.Config {
	if l.Current.Load().Certificate == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.Current.Load().Certificate, nil },
	}
}

// Expiry returns when the certificate expires; zero without TLS.
func (l *Live) Expiry() time.Time {
	certificate := l.Current.Load().Certificate
	if certificate == nil || certificate.Leaf == nil {
		return time.Time{}
	}
	return certificate.Leaf.NotAfter
}
