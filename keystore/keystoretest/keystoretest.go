// Package keystoretest is the contract of keystore.Keystore as a test suite.
// Every backend runs it, and so should yours:
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
// Run it with the race detector too: a good part of the contract is about
// concurrent use.
package keystoretest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Key is a key that the suite wants a keystore to have.
type Key struct {
	OrganizationID string
	ID             string // a UUID in lower case
	Name           string
	Curve          keystore.Curve
	Secret         keystore.SecretBytes // keystore.SecretSize bytes
	CreatedAt      time.Time            // for backends that can keep it
}

// Backend is what the suite is run against. The zero values of all but Open ask
// for the whole contract.
type Backend struct {
	// Open returns a keystore that has exactly these keys. The suite closes
	// it. They come in no particular order.
	Open func(t *testing.T, keys []Key) keystore.Keystore

	// NoSecp256k1 and NoEd25519 leave out the keys of a curve that the backend
	// does not have at all.
	NoSecp256k1, NoEd25519 bool

	// NoSchnorr: the backend's secp256k1 keys make no BIP-340 signatures. Then
	// keystore.AsSchnorr must say so.
	NoSchnorr bool

	// RandomizedECDSA: equal digests may give different ECDSA signatures, as
	// in HSMs that draw nonces.
	RandomizedECDSA bool

	// OneOrganization: the backend serves one organization, the one named
	// Organization, so that there is no second one to build a wall against.
	OneOrganization bool
}

// Organization is the id of the organization that most of the suite's keys
// belong to.
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
		{"FindNothing", suite.findNothing},
		{"Walls", suite.walls},
		{"Listing", suite.listing},
		{"ListingStops", suite.listingStops},
		{"CancelledContext", suite.cancelledContext},
		{"ECDSA", suite.ecdsa},
		{"Schnorr", suite.schnorr},
		{"Ed25519", suite.ed25519},
		{"Unsupported", suite.unsupported},
		{"ConcurrentUse", suite.concurrentUse},
		{"Close", suite.close},
		{"CloseDuringUse", suite.closeDuringUse},
		{"SecretsAreNotPrinted", suite.secretsAreNotPrinted},
	} {
		t.Run(part.name, part.run)
	}
}

type suite struct{ Backend }

// keys returns the keys of the suite. The first and the third are the same
// secret, in two organizations.
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

// open returns a keystore with the suite's keys, handed over newest first.
func (s suite) open(t *testing.T) (keystore.Keystore, []Key) {
	t.Helper()
	keys, handed := s.keys(), s.keys()
	slices.Reverse(handed)
	store := s.Open(t, handed)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return store, keys
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
