package rpcapi

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// MinToken is the length of the shortest token, in bytes.
const MinToken = 32

// User is a user of an organization, and how the server knows that a call is by that user.
type User struct {
	OrganizationID string
	UserID         string
	Certificates   []Certificate // of TLS clients; any of them
	Token          string        // at least MinToken bytes; empty for none
	UID            *uint32       // of a process at the other end of the unix socket; nil for none

	// Activities are what the entry grants, as by access.CheckGranted. nil: all of these.
	Activities []activity.Type
}

// Certificate recognizes a client's certificate. Exactly one member is set. The common name
// of a certificate is never looked at.
type Certificate struct {
	DNSName string `yaml:"dnsName"` // a SAN, in lower case, equal: there are no wildcards
	URI     string `yaml:"uri"`     // a SAN, equal byte for byte
	SHA256  string `yaml:"sha256"`  // of the certificate in DER, hex
}

// identity is a user, and how it was recognized.
type identity struct {
	organizationID, userID string
	scheme                 string // as the record says it
}

func (i identity) same(other identity) bool {
	return i.organizationID == other.organizationID && i.userID == other.userID
}

// Users knows who calls. It does not change.
type Users struct {
	roots        *x509.CertPool
	certificates map[string]identity // by the scheme that recognizes them
	tokens       map[[sha256.Size]byte]identity
	peers        map[uint32]identity
	granted      map[identity][]activity.Type
	still        *Users // must recognize the caller as the same user; nil: no others need to
}

// Still returns those of the users whom the next ones recognize in the same way: what is left
// of the old ones while the next ones are not in force yet.
func (u *Users) Still(next *Users) *Users {
	kept := *u
	kept.still = next
	return &kept
}

// NewUsers returns the users of a server. roots are the authorities of the clients'
// certificates; they are required if a user has one. What recognizes two users is an error.
func NewUsers(users []User, roots *x509.CertPool) (*Users, error) {
	u := &Users{roots: roots, certificates: map[string]identity{}, tokens: map[[sha256.Size]byte]identity{},
		peers: map[uint32]identity{}, granted: map[identity][]activity.Type{}}
	for i := range users {
		if err := u.add(&users[i]); err != nil {
			return nil, fmt.Errorf("users[%d] (%s): %w", i, users[i].UserID, err)
		}
	}
	return u, nil
}

func (u *Users) add(user *User) error {
	who := identity{organizationID: user.OrganizationID, userID: user.UserID}
	switch {
	case user.OrganizationID == "" || user.UserID == "":
		return errors.New("both an organization and a user are required")
	case len(user.Certificates) == 0 && user.Token == "" && user.UID == nil:
		return errors.New("nothing recognizes this user: set certificates, a token or a uid")
	case len(user.Certificates) > 0 && u.roots == nil:
		return errors.New("certificates: the authorities that issue them are missing")
	case user.Activities != nil && len(user.Activities) == 0:
		return errors.New("activities: the list is empty: name at least one type, or leave it out for all that sign")
	}
	err := access.CheckGranted(user.Activities)
	if err != nil {
		return err
	}
	for i, certificate := range user.Certificates {
		scheme, err := certificate.scheme()
		if err != nil {
			return fmt.Errorf("certificates[%d]: %w", i, err)
		}
		if other, taken := u.certificates[scheme]; taken && !other.same(who) {
			return fmt.Errorf("certificates[%d]: %s recognizes user %s of organization %s, too", i, scheme,
				other.userID, other.organizationID)
		}
		if u.certificates[scheme], err = u.grant(who, scheme, user.Activities); err != nil {
			return err
		}
	}
	if user.Token != "" {
		if len(user.Token) < MinToken {
			return fmt.Errorf("token: %d bytes, at least %d are required", len(user.Token), MinToken)
		}
		hash := sha256.Sum256([]byte(user.Token))
		if _, taken := u.tokens[hash]; taken {
			return errors.New("token: another user has the same")
		}
		if u.tokens[hash], err = u.grant(who, "TOKEN", user.Activities); err != nil {
			return err
		}
	}
	if user.UID != nil {
		if other, taken := u.peers[*user.UID]; taken {
			return fmt.Errorf("uid: %d is user %s, too", *user.UID, other.userID)
		}
		u.peers[*user.UID], err = u.grant(who, fmt.Sprintf("PEER uid:%d", *user.UID), user.Activities)
	}
	return err
}

// grant notes what an entry grants, and returns the user as it recognizes them. The record of a
// call does not say which of several entries it came by that recognize a user in the same way:
// these must grant the same.
func (u *Users) grant(who identity, scheme string, activities []activity.Type) (identity, error) {
	who.scheme = scheme
	if activities == nil {
		activities = slices.DeleteFunc(activity.Types(), func(kind activity.Type) bool { return !kind.Signs() })
	}
	if other, entered := u.granted[who]; entered && !slices.Equal(slices.Sorted(slices.Values(other)),
		slices.Sorted(slices.Values(activities))) {
		return who, fmt.Errorf("activities: another entry recognizes the user by %s and grants others: "+
			"grant the same in both", who.scheme)
	}
	u.granted[who] = activities
	return who, nil
}

// Granted returns what the entry grants that recognizes a user in a way, as the record of a call
// has it; or access.ErrCallerNotFound. A token that was replaced leaves the entry the same.
func (u *Users) Granted(organizationID, userID, scheme string) ([]activity.Type, error) {
	granted, entered := u.granted[identity{organizationID, userID, scheme}]
	if !entered {
		return nil, access.ErrCallerNotFound
	}
	if u.still == nil {
		return granted, nil
	}
	next, err := u.still.Granted(organizationID, userID, scheme)
	return slices.DeleteFunc(slices.Clone(granted), func(kind activity.Type) bool { return !slices.Contains(next, kind) }), err
}

// Directory returns a directory that knows what the users of a server are granted, besides what
// it has: the engine behind a Handler needs one (see access.Callers).
func Directory(of access.Directory, users func() *Users) access.Directory {
	return callers{of, users}
}

type callers struct {
	access.Directory
	users func() *Users
}

func (c callers) User(ctx context.Context, organizationID, userID string) (*access.User, error) {
	if users, ok := c.Directory.(access.Users); ok {
		return users.User(ctx, organizationID, userID)
	}
	return nil, access.ErrUserNotFound
}

func (c callers) Granted(_ context.Context, organizationID, userID, authentication string) ([]activity.Type, error) {
	return c.users().Granted(organizationID, userID, authentication)
}

// Token reports whether a user is recognized by a token.
func (u *Users) Token() bool { return len(u.tokens) > 0 }

// The schemes of certificates.
const (
	schemeDNS    = "CERTIFICATE dns:"
	schemeURI    = "CERTIFICATE uri:"
	schemeSHA256 = "CERTIFICATE sha256:"
)

// scheme returns what the record of a call says of the certificate.
func (c Certificate) scheme() (string, error) {
	switch {
	case c.DNSName != "" && c.URI == "" && c.SHA256 == "":
		if c.DNSName != strings.ToLower(c.DNSName) || strings.ContainsAny(c.DNSName, "* :/@") || !printable(c.DNSName) {
			return "", fmt.Errorf("dnsName %q: expected a name in lower case, without wildcard", c.DNSName)
		}
		return schemeDNS + c.DNSName, nil
	case c.URI != "" && c.DNSName == "" && c.SHA256 == "":
		if !strings.Contains(c.URI, ":") || !printable(c.URI) {
			return "", fmt.Errorf("uri %q: expected a whole URI, such as spiffe://example.org/batcher", c.URI)
		}
		if parsed, err := url.Parse(c.URI); err != nil || parsed.String() != c.URI {
			return "", fmt.Errorf("uri %q: expected a URI as it is written when read, such as %q", c.URI, parsed)
		}
		return schemeURI + c.URI, nil
	case c.SHA256 != "" && c.DNSName == "" && c.URI == "":
		digest, err := hex.DecodeString(strings.ReplaceAll(c.SHA256, ":", ""))
		if err != nil || len(digest) != sha256.Size {
			return "", fmt.Errorf("sha256 %q: expected 64 hex digits", c.SHA256)
		}
		return schemeSHA256 + hex.EncodeToString(digest), nil
	}
	return "", errors.New("set exactly one of dnsName, uri and sha256")
}

func printable(text string) bool {
	return len(text) <= 255 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// errUnknown is the answer to a caller whom no user recognizes. It does not say why.
var errUnknown = errors.New("the caller is not authenticated: send a client certificate or a token that the configuration names")

// of returns who sent a request. A certificate and a token must be of the same user.
func (u *Users) of(r *http.Request) (identity, error) {
	var identities []identity
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		who, err := u.ofCertificate(r.TLS.PeerCertificates)
		if err != nil {
			return identity{}, err
		}
		identities = append(identities, who)
	}
	token, err := tokenOf(r)
	if err != nil {
		return identity{}, err
	}
	if token != "" {
		who, known := u.tokens[sha256.Sum256([]byte(token))]
		if !known {
			return identity{}, errUnknown
		}
		identities = append(identities, who)
	}
	if len(identities) == 0 || slices.ContainsFunc(identities, func(other identity) bool { return !other.same(identities[0]) }) {
		return identity{}, errUnknown
	}
	if u.still != nil {
		if again, err := u.still.of(r); err != nil || !again.same(identities[0]) {
			return identity{}, errUnknown
		}
	}
	return identities[0], nil
}

// ofPeer returns the user whose process has a uid.
func (u *Users) ofPeer(uid uint32) (who identity, known bool) {
	who, known = u.peers[uid]
	if known && u.still != nil {
		again, still := u.still.ofPeer(uid)
		known = still && again.same(who)
	}
	return who, known
}

// ofCertificate verifies a chain anew, since authorities and entries may have changed after
// the connection was made, and returns the one user whom the certificate is of.
func (u *Users) ofCertificate(chain []*x509.Certificate) (identity, error) {
	leaf := chain[0]
	if u.roots == nil || !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth) {
		return identity{}, errUnknown
	}
	intermediates := x509.NewCertPool()
	for _, issuer := range chain[1:] {
		intermediates.AddCert(issuer)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{
		Roots: u.roots, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return identity{}, errUnknown
	}
	digest := sha256.Sum256(leaf.Raw)
	schemes := []string{}
	for _, name := range leaf.DNSNames {
		schemes = append(schemes, schemeDNS+strings.ToLower(name))
	}
	for _, uri := range urisOf(leaf) {
		schemes = append(schemes, schemeURI+uri)
	}
	var match *identity
	for _, scheme := range append(schemes, schemeSHA256+hex.EncodeToString(digest[:])) {
		who, known := u.certificates[scheme]
		switch {
		case known && match == nil:
			match = &who
		case known && !match.same(who):
			return identity{}, errUnknown
		}
	}
	if match == nil {
		return identity{}, errUnknown
	}
	return *match, nil
}

// urisOf returns the URIs among the SANs of a certificate as it has them (RFC 5280, section
// 4.2.1.6): crypto/x509 parses them, which makes different ones equal.
func urisOf(certificate *x509.Certificate) (uris []string) {
	for _, extension := range certificate.Extensions {
		var names []asn1.RawValue
		if !extension.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		if _, err := asn1.Unmarshal(extension.Value, &names); err != nil {
			return nil
		}
		for _, name := range names {
			if name.Class == asn1.ClassContextSpecific && name.Tag == 6 {
				uris = append(uris, string(name.Bytes))
			}
		}
	}
	return uris
}

// tokenOf returns the bearer token, or the password of basic authentication: some clients
// can only put one into the URL of their endpoint. A second header could be of someone else,
// and what reads the other one sees another caller: several are no token, and are refused.
func tokenOf(r *http.Request) (token string, err error) {
	if len(r.Header.Values("Authorization")) > 1 {
		return "", errUnknown
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return token, nil
	}
	return "", nil
}
