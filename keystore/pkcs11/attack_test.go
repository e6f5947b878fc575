//go:build cgo

package pkcs11_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

const org = keystoretest.Organization

func newStore(t testing.TB) (testenv.Token, *pkcs11.Store) {
	t.Helper()
	token := testenv.SoftHSM(t)
	return token, open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
}

func generate(t testing.TB, store *pkcs11.Store, organizationID, name string, curve keystore.Curve) keystore.KeyInfo {
	t.Helper()
	info, err := store.Generate(t.Context(), organizationID, name, curve)
	testenv.Must(t, err)
	return info
}

func list(t testing.TB, store keystore.Keystore, organizationID string) (infos []keystore.KeyInfo) {
	t.Helper()
	for info, err := range store.Keys(t.Context(), organizationID) {
		testenv.Must(t, err)
		infos = append(infos, info)
	}
	return infos
}

// TestPlantedPublicKey replaces the public object of a key, which takes no PIN, by the
// attacker's. The attacker's address must never be shown.
func TestPlantedPublicKey(t *testing.T) {
	token, store := newStore(t)
	victim := generate(t, store, org, "victim", keystore.CurveSecp256k1)
	attacker := generate(t, store, "attacker", "own", keystore.CurveSecp256k1)
	b := openBare(t, token)
	own := b.one(t, miekg.CKO_PUBLIC_KEY, "attacker/own")
	public := b.one(t, miekg.CKO_PUBLIC_KEY, org+"/victim")
	id, params := b.attribute(t, public, miekg.CKA_ID), b.attribute(t, public, miekg.CKA_EC_PARAMS)
	point := b.attribute(t, own, miekg.CKA_EC_POINT)
	b.destroy(t, public)
	b.createPublic(t, org+"/victim", id, params, point)

	fresh := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
	if listed := list(t, fresh, org); len(listed) != 0 {
		t.Errorf("listed: %v", listed)
	}
	mustBeSkipped(t, fresh, "does not belong to the private key")
	for what, at := range map[string]keystore.Locator{
		"id":                     keystore.ByID(victim.ID),
		"the attacker's address": keystore.ByKeccak(attacker.PublicKey.KeccakAddress()),
	} {
		if key, err := fresh.Find(t.Context(), org, at); !errors.Is(err, keystore.ErrSignatureCheck) {
			t.Errorf("by %s: %v, %v, want ErrSignatureCheck", what, key, err)
		}
	}
	if at := keystore.ByKeccak(victim.PublicKey.KeccakAddress()); !errors.Is(errOf(fresh.Find(t.Context(), org, at)), keystore.ErrKeyNotFound) {
		t.Error("the victim's address is found without its public key")
	}
	// A configured public key takes precedence over the token's, and is proved.
	configured := open(t, token.URI(""), pkcs11.Options{
		PIN:        []byte(token.PIN),
		PublicKeys: map[string]keystore.PublicKey{victim.ID: victim.PublicKey},
	})
	if listed := list(t, configured, org); len(listed) != 1 || listed[0] != victim {
		t.Errorf("with the public key configured: %v, want %v", listed, victim)
	}
}

func errOf(_ keystore.Key, err error) error { return err }

func mustBeSkipped(t testing.TB, store *pkcs11.Store, why string) {
	t.Helper()
	for _, err := range store.Skipped() {
		if strings.Contains(err.Error(), why) {
			return
		}
	}
	t.Errorf("skipped: %v, want one because %s", store.Skipped(), why)
}

// TestSkipped creates keys that cannot be used for one reason each.
func TestSkipped(t *testing.T) {
	for why, spoil := range map[string]func(t *testing.T, b bare, private, public miekg.ObjectHandle){
		"no public object on the token has its CKA_ID": func(t *testing.T, b bare, _, public miekg.ObjectHandle) { b.destroy(t, public) },
		"is not ORGANIZATION/NAME": func(t *testing.T, b bare, private, _ miekg.ObjectHandle) {
			b.set(t, private, miekg.CKA_LABEL, "victim")
		},
		"has no CKA_ID": func(t *testing.T, b bare, private, public miekg.ObjectHandle) {
			b.set(t, private, miekg.CKA_ID, []byte{})
			b.set(t, public, miekg.CKA_ID, []byte{})
		},
		"2 private keys of its organization have this CKA_ID": func(t *testing.T, b bare, private, _ miekg.ObjectHandle) {
			if _, err := b.CopyObject(b.session, private, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_LABEL, org+"/victim")}); err != nil {
				t.Fatal(err)
			}
		},
		`org/copy" with CKA_ID`: func(t *testing.T, b bare, private, _ miekg.ObjectHandle) {
			if _, err := b.CopyObject(b.session, private, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_LABEL, org+"/org/copy")}); err != nil {
				t.Fatal(err)
			}
		},
		"do not name a curve": func(t *testing.T, b bare, _, public miekg.ObjectHandle) {
			id, point := b.attribute(t, public, miekg.CKA_ID), b.attribute(t, public, miekg.CKA_EC_POINT)
			b.destroy(t, public)
			b.createPublic(t, org+"/victim", id, []byte{0x30, 0}, point)
		},
		"CKA_EC_POINT of 67 bytes": func(t *testing.T, b bare, _, public miekg.ObjectHandle) {
			id, params, point := b.attribute(t, public, miekg.CKA_ID), b.attribute(t, public, miekg.CKA_EC_PARAMS), b.attribute(t, public, miekg.CKA_EC_POINT)
			point[66] ^= 1
			b.destroy(t, public)
			b.createPublic(t, org+"/victim", id, params, point)
		},
	} {
		t.Run(why, func(t *testing.T) {
			token, store := newStore(t)
			generate(t, store, org, "victim", keystore.CurveSecp256k1)
			other := generate(t, store, org, "other", keystore.CurveEd25519)
			b := openBare(t, token)
			spoil(t, b, b.one(t, miekg.CKO_PRIVATE_KEY, org+"/victim"), b.one(t, miekg.CKO_PUBLIC_KEY, org+"/victim"))
			fresh := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
			mustBeSkipped(t, fresh, why)
			for _, info := range list(t, fresh, org) {
				if info != other {
					t.Errorf("listed: %v", info)
				}
			}
			if _, err := fresh.Find(t.Context(), org, keystore.ByID(other.ID)); err != nil {
				t.Errorf("the other key: %v", err)
			}
		})
	}
}

// TestGeneratedKeysStay asks the token for the secrets of generated and imported keys, and
// whether they were ever outside.
func TestGeneratedKeysStay(t *testing.T) {
	token, store := newStore(t)
	secret := []byte("a secret of 32 bytes, long enough")[:32]
	imported := map[string]bool{}
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
		generate(t, store, org, "", curve)
		info := importKey(t, store, org, keystore.NewKey{Curve: curve, Secret: secret})
		id := uuid.MustParse(info.ID)
		imported[string(id[:])] = true
	}
	b := openBare(t, token)
	private := b.find(t, miekg.CKO_PRIVATE_KEY, "")
	if len(private) != 4 {
		t.Fatalf("%d private keys, want 4", len(private))
	}
	for _, object := range private {
		local := byte(1) // generated on the token
		if imported[string(b.attribute(t, object, miekg.CKA_ID))] {
			local = 0
		}
		for kind, want := range map[uint]byte{
			miekg.CKA_LOCAL: local, miekg.CKA_NEVER_EXTRACTABLE: local,
			miekg.CKA_SENSITIVE: 1, miekg.CKA_EXTRACTABLE: 0, miekg.CKA_PRIVATE: 1, miekg.CKA_SIGN: 1, miekg.CKA_DERIVE: 0,
		} {
			if got := b.attribute(t, object, kind); len(got) != 1 || got[0] != want {
				t.Errorf("attribute %#x is %x, want %d", kind, got, want)
			}
		}
		value, err := b.GetAttributeValue(b.session, object, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_VALUE, nil)})
		if err == nil {
			t.Errorf("the token reveals the secret: %d bytes", len(value[0].Value))
		}
	}
}

// TestNothingPrintsThePIN prints every value that holds the PIN.
func TestNothingPrintsThePIN(t *testing.T) {
	token := testenv.SoftHSM(t)
	options := pkcs11.Options{PIN: []byte(token.PIN)}
	store := open(t, token.URI(""), options)
	proof := generateProofKey(t, proofURI(token, "", "object=proof;id=%01"), token)
	info := generate(t, store, org, "", keystore.CurveEd25519)
	key, err := store.Find(t.Context(), org, keystore.ByID(info.ID))
	testenv.Must(t, err)
	_, wrongPIN := pkcs11.Open(t.Context(), token.URI(""), pkcs11.Options{PIN: []byte(token.PIN + "\n")})
	_, noToken := pkcs11.Open(t.Context(), strings.Replace(token.URI(""), "token=", "serial=1;token=", 1), options)
	for name, value := range map[string]any{
		"a Store": store, "a key": key, "a ProofSigner": proof, "an error of a PIN": wrongPIN, "an error of a token": noToken,
	} {
		keystoretest.CheckNotPrinted(t, name, value, []byte(token.PIN))
	}
	keystoretest.CheckNotLogged(t, "Options", options, []byte(token.PIN))
	keystoretest.CheckNotLogged(t, "Key", keystore.NewKey{Secret: []byte(token.PIN)}, []byte(token.PIN))
}
