package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/stamp"
)

// live is what SIGHUP changes while serve runs: the organizations with their
// users and credentials, the policies, the descriptors with the names that they are
// shown with, and the TLS certificate. A reload replaces
// all of it or nothing. It implements countersign.Directory and
// chains.Reader.
type live struct {
	current  atomic.Pointer[snapshot]
	policies *loadedPolicies // nil: no organization has one
	engine   *countersign.Engine
}

// snapshot is one reading of the configuration.
type snapshot struct {
	configured  *config.Config
	directory   countersign.Directory
	certificate *tls.Certificate // nil: no TLS
	known       *knowledge
}

// newSnapshot checks all that a reload takes from the configuration.
func newSnapshot(configured *config.Config) (*snapshot, error) {
	directory, err := countersign.NewDirectory(configured.Organizations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configured.Path, err)
	}
	certificate, err := loadCertificate(configured.TLS)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	known, err := readKnowledge(configured)
	if err != nil {
		return nil, err
	}
	return &snapshot{configured, directory, certificate, known}, nil
}

// reload reads the configuration again. On an error the old one stays.
func (l *live) reload(ctx context.Context, path string) (needRestart []string, err error) {
	configured, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	next, err := newSnapshot(configured)
	if err != nil {
		return nil, err
	}
	files, err := l.policies.read(ctx, configured)
	if err != nil {
		return nil, err
	}
	was := l.current.Load()
	if (was.certificate == nil) != (next.certificate == nil) {
		next.certificate = was.certificate // TLS cannot come or go while it listens
	}
	l.policies.replace(files, configured)
	l.current.Store(next)
	return fixedChanges(was.configured, configured), nil
}

// fixedChanges names the members that differ and take effect at a restart only.
func fixedChanges(was, next *config.Config) []string {
	var names []string
	for _, member := range []struct {
		name      string
		was, next any
	}{
		{"listen", was.Listen, next.Listen}, {"admin", was.Admin, next.Admin}, {"tls", was.TLS == nil, next.TLS == nil},
		{"origins", was.Origins, next.Origins}, {"console", was.Console, next.Console},
		{"store", was.Store, next.Store}, {"keystore", was.Keystore, next.Keystore},
		{"passphraseFile", was.PassphraseFile, next.PassphraseFile}, {"proofKey", was.ProofKey, next.ProofKey}, {"otp", was.OTP, next.OTP},
		{"log", was.Log, next.Log}, {"limits", was.Limits, next.Limits},
		{"descriptors", was.Descriptors == nil, next.Descriptors == nil},
	} {
		if !reflect.DeepEqual(member.was, member.next) {
			names = append(names, member.name)
		}
	}
	if policyRemoved(was, next) {
		names = append(names, "policy")
	}
	return names
}

// policyRemoved reports whether an organization had a policy and has none now.
func policyRemoved(was, next *config.Config) bool {
	kept := map[string]bool{}
	for i := range next.Organizations {
		kept[next.Organizations[i].ID] = next.Organizations[i].Policy != ""
	}
	for i := range was.Organizations {
		if was.Organizations[i].Policy != "" && !kept[was.Organizations[i].ID] {
			return true
		}
	}
	return false
}

// Organization implements countersign.Directory.
func (l *live) Organization(ctx context.Context, organizationID string) (*countersign.Organization, error) {
	return l.current.Load().directory.Organization(ctx, organizationID)
}

// Member implements countersign.Directory.
func (l *live) Member(ctx context.Context, organizationID string, id stamp.ID) (*countersign.Member, error) {
	return l.current.Load().directory.Member(ctx, organizationID, id)
}

// Read implements chains.Reader.
func (l *live) Read(call chains.Call) (chains.Reading, bool) {
	if reader := l.current.Load().known.reader(); reader != nil {
		return reader.Read(call)
	}
	return chains.Reading{}, false
}

// LookupTable implements chains.TableReader.
func (l *live) LookupTable(address []byte) (chains.LookupTable, bool) {
	if reader, ok := l.current.Load().known.reader().(chains.TableReader); ok {
		return reader.LookupTable(address)
	}
	return chains.LookupTable{}, false
}

// Token implements chains.Names.
func (l *live) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	return l.current.Load().known.names().Token(asset)
}

// Label implements chains.Names.
func (l *live) Label(party chains.Party) string { return l.current.Load().known.names().Label(party) }

// Labeled implements names.Labeled.
func (l *live) Labeled() [][]byte {
	if labeled, ok := l.current.Load().known.names().(names.Labeled); ok {
		return labeled.Labeled()
	}
	return nil
}

// tlsConfig serves whatever certificate is current; nil without TLS.
func (l *live) tlsConfig() *tls.Config {
	if l.current.Load().certificate == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.current.Load().certificate, nil },
	}
}

// expiry returns when the certificate ends; zero without TLS.
func (l *live) expiry() time.Time {
	certificate := l.current.Load().certificate
	if certificate == nil || certificate.Leaf == nil {
		return time.Time{}
	}
	return certificate.Leaf.NotAfter
}

// loadCertificate loads the certificate; nil if none is configured.
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
