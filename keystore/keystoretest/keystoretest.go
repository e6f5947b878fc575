// Package keystoretest is the contract of keystore.Keystore as a test suite. Every backend should
// run it:
//
//	func TestContract(t *testing.T) {
//		keystoretest.Run(t, keystoretest.Backend{
//			Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
//				store := mybackend.New(…)
//				for _, key := range keys {
//					store.Import(key.OrganizationID, key.ID, key.Name, key.Curve, key.Secret)
//				}
//				return store
//			},
//		})
//	}
//
// A backend whose service creates the secrets itself names its own keys with Backend.Own, and
// has its service misbehave with Backend.Fault.
//
// Run it with the race detector too: much of the contract concerns concurrent use.
package keystoretest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Key is a key for the keystore under test.
type Key struct {
	OrganizationID string
	ID             string // a UUID in lower case, unless the key is the backend's own
	Name           string
	Curve          keystore.Curve
	Secret         keystore.SecretBytes // keystore.SecretSize bytes; nil for a key of Backend.Own
	PublicKey      keystore.PublicKey   // of a key of Backend.Own
	CreatedAt      time.Time            // for backends that store it
}

// Backend is the backend under test. If all fields but Open are zero, the suite checks the whole
// contract.
type Backend struct {
	// Open returns a keystore with exactly these keys, which are in no particular order. The
	// suite closes it.
	Open func(t *testing.T, keys []Key) keystore.Keystore

	// Own takes the place of Open for a backend that cannot be given secrets: it returns a
	// keystore and all its keys, oldest first, each with its PublicKey, at least one of them
	// in Organization. No two keys of an organization are the same.
	Own func(t *testing.T) (keystore.Keystore, []Key)

	// Fault makes what is below a keystore, such as a service, misbehave from now on; with
	// NoFault it works again. It returns false for a fault that it cannot have. Without
	// Fault, the suite has no part Faults.
	Fault func(t *testing.T, store keystore.Keystore, fault Fault) bool

	// MaxMessage is the number of bytes of the longest message that the backend's Ed25519
	// keys sign, if not 0. For longer ones they return keystore.ErrUnsupported.
	MaxMessage int

	// NoSecp256k1 and NoEd25519 omit the keys of a curve that the backend does not support.
	NoSecp256k1, NoEd25519 bool

	// NoSchnorr: the backend's secp256k1 keys make no BIP-340 signatures. keystore.AsSchnorr
	// must then return an error.
	NoSchnorr bool

	// RandomizedECDSA: equal digests may give different ECDSA signatures, as in HSMs with
	// random nonces.
	RandomizedECDSA bool

	// OneOrganization: the backend serves only the organization with the id
	// Organization, so that isolation from other organizations cannot be checked.
	OneOrganization bool
}

// Organization is the id of the organization of most of the suite's keys.
const Organization = "6e1f8f5e-1111-4222-8333-444455556666"

const otherOrganization = "default"

// Run runs the suite.
func Run(t *testing.T, backend Backend) {
	suite := suite{Backend: backend}
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"FindByEveryLocator", suite.findByEveryLocator},
		{"FindMissing", suite.findMissing},
		{"Organizations", suite.organizations},
		{"Listing", suite.listing},
		{"ListingStops", suite.listingStops},
		{"Names", suite.names},
		{"CancelledContext", suite.cancelledContext},
		{"ECDSA", suite.ecdsa},
		{"LowR", suite.lowR},
		{"Schnorr", suite.schnorr},
		{"Ed25519", suite.ed25519},
		{"Unsupported", suite.unsupported},
		{"ConcurrentUse", suite.concurrentUse},
		{"Close", suite.close},
		{"CloseDuringUse", suite.closeDuringUse},
		{"SecretsAreNotPrinted", suite.secretsAreNotPrinted},
		{"Faults", suite.faults},
	} {
		if part.name != "Faults" || backend.Fault != nil {
			t.Run(part.name, part.run)
		}
	}
}

type suite struct{ Backend }

// keys returns the keys of the suite. The first and the third have the same secret in two
// organizations.
func (s suite) keys() []Key {
	all := []Key{
		newKey(1, Organization, "hot", keystore.CurveSecp256k1, "one"),
		newKey(2, Organization, "", keystore.CurveEd25519, "two"),
		newKey(3, otherOrganization, "hot", keystore.CurveSecp256k1, "one"),
		newKey(4, Organization, `cold "quoted" <ключ>`, keystore.CurveSecp256k1, "four"),
		newKey(5, otherOrganization, "sol", keystore.CurveEd25519, "five"),
		newKey(6, Organization, "sol", keystore.CurveEd25519, "six"),
	}
	return slices.DeleteFunc(all, func(key Key) bool {
		return s.NoSecp256k1 && key.Curve == keystore.CurveSecp256k1 ||
			s.NoEd25519 && key.Curve == keystore.CurveEd25519 ||
			s.OneOrganization && key.OrganizationID != Organization
	})
}

func newKey(number int, organizationID, name string, curve keystore.Curve, secret string) Key {
	digest := sha256.Sum256([]byte("keystoretest: " + secret))
	return Key{
		OrganizationID: organizationID,
		ID:             fmt.Sprintf("abcdef00-0000-4000-8000-%012x", 16-number),
		Name:           name,
		Curve:          curve,
		Secret:         digest[:],
		CreatedAt:      time.Date(2026, 1, 1, 0, 0, number, 0, time.UTC),
	}
}

// open returns a keystore with the suite's keys, which it passes to Open newest first, or one
// with keys of its own.
func (s suite) open(t *testing.T) (keystore.Keystore, []Key) {
	t.Helper()
	store, keys := s.opened(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return store, keys
}

func (s suite) opened(t *testing.T) (keystore.Keystore, []Key) {
	t.Helper()
	if s.Own != nil {
		return s.Own(t)
	}
	reversed := s.keys()
	slices.Reverse(reversed)
	return s.Open(t, reversed), s.keys()
}

// find returns the handle of one of the suite's keys.
func find(t *testing.T, store keystore.Keystore, key Key) keystore.Key {
	t.Helper()
	handle, err := store.Find(t.Context(), key.OrganizationID, keystore.ByID(key.ID))
	if err != nil {
		t.Fatalf("Find by id %s: %v", key.ID, err)
	}
	return handle
}
