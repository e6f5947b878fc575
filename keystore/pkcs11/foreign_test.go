//go:build cgo

package pkcs11_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

var secp256k1Params = []byte{0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a}

// generateAs creates a key like another program, with arbitrary attributes.
func (b bare) generateAs(t testing.TB, label string, id []byte, private ...*miekg.Attribute) {
	t.Helper()
	common := []*miekg.Attribute{
		miekg.NewAttribute(miekg.CKA_TOKEN, true), miekg.NewAttribute(miekg.CKA_LABEL, label), miekg.NewAttribute(miekg.CKA_ID, id),
	}
	_, _, err := b.GenerateKeyPair(b.session, []*miekg.Mechanism{miekg.NewMechanism(miekg.CKM_EC_KEY_PAIR_GEN, nil)},
		slices.Concat(common, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_EC_PARAMS, secp256k1Params)}),
		slices.Concat(common, []*miekg.Attribute{miekg.NewAttribute(miekg.CKA_SIGN, true)}, private))
	testenv.Must(t, err)
}

// TestSharedIDsAreSkipped: private keys that share an id are all skipped, however many there
// are and in whatever order the token lists them, so that a request never gets an arbitrary
// one.
func TestSharedIDsAreSkipped(t *testing.T) {
	token, store := newStore(t)
	b := openBare(t, token)
	for _, name := range []string{"first", "second", "third"} {
		b.generateAs(t, org+"/"+name, []byte{0x0b})
		fresh := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
		listed := list(t, fresh, org)
		if name == "first" {
			if len(listed) != 1 {
				t.Fatalf("listed: %v", listed)
			}
			continue
		}
		if len(listed) != 0 {
			t.Errorf("listed: %v", listed)
		}
		if _, err := fresh.Find(t.Context(), org, keystore.ByID("0b")); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("found by the shared id: %v", err)
		}
		mustBeSkipped(t, fresh, `first" with CKA_ID 0b`)
		mustBeSkipped(t, fresh, name+`" with CKA_ID 0b`)
	}
	id := []byte("16 bytes of a id")
	b.generateAs(t, org+"/a", id)
	b.generateAs(t, org+"/b", id)
	store.Forget()
	list(t, store, org)
	taken := keystore.NewKey{ID: uuid.UUID(id).String(), Curve: keystore.CurveEd25519, Secret: []byte(strings.Repeat("1", 32))}
	if _, err := store.Add(t.Context(), org, taken); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("imported under an id that two keys share: %v", err)
	}
}

// TestPublicObjectsTampered: public objects can be planted and destroyed without a PIN. A
// proved key stays, and a new process takes the public key under which the private key signs.
func TestPublicObjectsTampered(t *testing.T) {
	token, store := newStore(t)
	victim := generate(t, store, org, "victim", keystore.CurveSecp256k1)
	generate(t, store, "attacker", "own", keystore.CurveSecp256k1)
	b := openBare(t, token)
	public := b.one(t, miekg.CKO_PUBLIC_KEY, org+"/victim")
	evil := b.attribute(t, b.one(t, miekg.CKO_PUBLIC_KEY, "attacker/own"), miekg.CKA_EC_POINT)
	id := b.attribute(t, public, miekg.CKA_ID)
	mustBeUsed := func(when string, store *pkcs11.Store) {
		t.Helper()
		store.Forget()
		if listed := list(t, store, org); len(listed) != 1 || listed[0] != victim {
			t.Errorf("%s: listed %v, want %v", when, listed, victim)
		}
		key, err := store.Find(t.Context(), org, keystore.ByKeccak(victim.PublicKey.KeccakAddress()))
		if err != nil {
			t.Errorf("%s: %v", when, err)
			return
		}
		if _, err := sign(t.Context(), key); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	b.createPublic(t, org+"/victim", id, secp256k1Params, evil)
	b.createPublic(t, org+"/victim", id, secp256k1Params, []byte("no point"))
	mustBeUsed("with planted objects", store)
	mustBeUsed("with planted objects, in a new process", open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)}))
	b.destroy(t, public)
	mustBeUsed("without its own", store)
}

// TestReplacedPrivateObject: the holder of the PIN replaces the private object by another one
// with the same id and label. It does not sign for the old address, and is found by its own
// address after the next scan.
func TestReplacedPrivateObject(t *testing.T) {
	token, store := newStore(t)
	victim := generate(t, store, org, "victim", keystore.CurveSecp256k1)
	key, err := store.Find(t.Context(), org, keystore.ByID(victim.ID))
	testenv.Must(t, err)
	b := openBare(t, token)
	id := b.attribute(t, b.one(t, miekg.CKO_PRIVATE_KEY, org+"/victim"), miekg.CKA_ID)
	b.destroy(t, b.one(t, miekg.CKO_PRIVATE_KEY, org+"/victim"))
	b.destroy(t, b.one(t, miekg.CKO_PUBLIC_KEY, org+"/victim"))
	b.generateAs(t, org+"/victim", id)
	if _, err := sign(t.Context(), key); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("the old handle: %v, want ErrSignatureCheck", err)
	}
	store.Forget()
	if listed := list(t, store, org); len(listed) != 1 || listed[0].ID != victim.ID || listed[0].PublicKey == victim.PublicKey {
		t.Errorf("listed %v, want the id with another public key", listed)
	}
}

// TestTruncatedIDs: a YubiHSM 2 stores two bytes of CKA_ID, or refuses more. Keys get unique
// ids that fit, and no object is left behind.
func TestTruncatedIDs(t *testing.T) {
	for name, limit := range map[string]func(*faultproxy.Proxy, int){
		"cuts": (*faultproxy.Proxy).CutID, "refuses": (*faultproxy.Proxy).LimitID,
	} {
		t.Run(name, func(t *testing.T) {
			token := testenv.SoftHSM(t)
			proxy := faultproxy.Build(t, token.Module)
			store := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
			limit(proxy, 2)
			seen := map[string]bool{}
			for range 5 {
				info := generate(t, store, org, "", keystore.CurveSecp256k1)
				if len(info.ID) != 4 || seen[info.ID] {
					t.Errorf("id %q, want 2 bytes that are new", info.ID)
				}
				seen[info.ID] = true
				key, err := store.Find(t.Context(), org, keystore.ByID(info.ID))
				testenv.Must(t, err)
				if _, err := sign(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
			importKey(t, store, org, keystore.NewKey{Curve: keystore.CurveEd25519, Secret: []byte(strings.Repeat("1", 32))})
			if objects := openBare(t, token).objects(t); objects != 12 {
				t.Errorf("%d objects on the token, want 12 of 6 keys", objects)
			}
			withID := keystore.NewKey{ID: uuid.NewString(), Curve: keystore.CurveEd25519, Secret: []byte(strings.Repeat("2", 32))}
			if _, err := store.Add(t.Context(), org, withID); err == nil {
				t.Error("imported under an id that does not fit")
			}
			if objects := openBare(t, token).objects(t); objects != 12 {
				t.Errorf("%d objects on the token, want 12 of 6 keys", objects)
			}
		})
	}
}

// TestTruncatedLabels: a truncated label could name another organization.
func TestTruncatedLabels(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	store := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
	proxy.CutLabel(40)
	_, err := store.Generate(t.Context(), org, "a name that is long", keystore.CurveSecp256k1)
	if err == nil || !strings.Contains(err.Error(), "the token stores 40 of the 56 bytes of CKA_LABEL") {
		t.Errorf("%v, want that the label does not fit", err)
	}
	if objects := openBare(t, token).objects(t); objects != 0 {
		t.Errorf("%d objects on the token, want none", objects)
	}
	generate(t, store, org, "abc", keystore.CurveSecp256k1)
}

// TestExtractableKeyIsReported: an extractable key is used, and reported.
func TestExtractableKeyIsReported(t *testing.T) {
	token, store := newStore(t)
	b := openBare(t, token)
	b.generateAs(t, org+"/loose", []byte{1}, miekg.NewAttribute(miekg.CKA_EXTRACTABLE, true))
	b.generateAs(t, org+"/plain", []byte{2}, miekg.NewAttribute(miekg.CKA_SENSITIVE, false))
	generate(t, store, org, "safe", keystore.CurveEd25519)
	store.Forget()
	if listed := list(t, store, org); len(listed) != 3 {
		t.Errorf("listed: %v", listed)
	}
	var text []string
	for _, err := range store.Extractable() {
		text = append(text, err.Error())
	}
	if all := strings.Join(text, "\n"); len(text) != 2 || !strings.Contains(all, "loose") || !strings.Contains(all, "plain") {
		t.Errorf("extractable: %q, want two", text)
	}
}

// TestOneKeyCostsOneKey counts calls of the module: finding a key by its id and importing one
// read no other keys.
func TestOneKeyCostsOneKey(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	store := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)})
	cost := func(do func()) (reads, signatures int) {
		reads, signatures = proxy.Calls(faultproxy.GetAttributeValue), proxy.Signed()
		do()
		return proxy.Calls(faultproxy.GetAttributeValue) - reads, proxy.Signed() - signatures
	}
	var last keystore.KeyInfo
	bring := func(number int) {
		store.Forget() // as if rescanInterval had passed
		secret := []byte(strings.Repeat("1", 31) + string(rune('A'+number)))
		last = importKey(t, store, org, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
	}
	first, _ := cost(func() { bring(0) })
	for number := 1; number < 20; number++ {
		bring(number)
	}
	if reads, _ := cost(func() { bring(20) }); reads > first+2 {
		t.Errorf("importing the 21st key reads %d attributes, the first %d", reads, first)
	}
	single := open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN), OnDemand: true})
	reads, signatures := cost(func() {
		if _, err := single.Find(t.Context(), org, keystore.ByID(last.ID)); err != nil {
			t.Error(err)
		}
	})
	if reads > 4 || signatures > 1 {
		t.Errorf("finding one of 21 keys costs %d reads and %d signatures, want 4 and 1", reads, signatures)
	}
	reads, _ = cost(func() { open(t, token.URI(proxy.Module), pkcs11.Options{PIN: []byte(token.PIN)}) })
	if reads > 4*21 {
		t.Errorf("reading 21 keys takes %d reads, want 4 each", reads)
	}
}

// TestImportConcurrently: a secret imported by two Stores at once is one key in the end.
// SoftHSM occasionally fails a call while the other Store changes the token; the error is
// ErrUnavailable, and the test tries again.
func TestImportConcurrently(t *testing.T) {
	token, one := newStore(t)
	two := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
	for round := range 5 {
		secret := []byte(strings.Repeat("1", 31) + string(rune('A'+round)))
		var both sync.WaitGroup
		for _, store := range []*pkcs11.Store{one, two} {
			both.Go(func() {
				err := keystore.ErrUnavailable
				for tries := 0; errors.Is(err, keystore.ErrUnavailable) && tries < 3; tries++ {
					_, err = store.Add(t.Context(), org, keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret})
				}
				if err != nil && !errors.Is(err, keystore.ErrKeyExists) {
					t.Error(err)
				}
			})
		}
		both.Wait()
		fresh := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
		if listed := list(t, fresh, org); len(listed) != round+1 {
			t.Fatalf("round %d: %d keys, want %d", round, len(listed), round+1)
		}
	}
}

// TestDelete: the key is gone from the token, whether this process or another one has deleted it. An
// existing handle fails, and then the key is not found.
func TestDelete(t *testing.T) {
	token, store := newStore(t)
	other := generate(t, store, org, "other", keystore.CurveEd25519)
	elsewhere := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
	for name, deleting := range map[string]*pkcs11.Store{"here": store, "elsewhere": elsewhere} {
		doomed := generate(t, store, org, "doomed", keystore.CurveSecp256k1)
		key, err := store.Find(t.Context(), org, keystore.ByID(doomed.ID))
		testenv.Must(t, err)
		if err := deleting.Delete(t.Context(), "another organization", doomed.ID); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s: deleted for another organization: %v", name, err)
		}
		deleting.Forget()
		testenv.Must(t, deleting.Delete(t.Context(), org, doomed.ID))
		if _, err := sign(t.Context(), key); !errors.Is(err, keystore.ErrWithdrawn) {
			t.Errorf("%s: signed with: %v, want keystore.ErrWithdrawn", name, err)
		}
		if _, err := store.Find(t.Context(), org, keystore.ByID(doomed.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s: found: %v", name, err)
		}
		if listed := list(t, store, org); len(listed) != 1 || listed[0] != other {
			t.Errorf("%s: listed: %v", name, listed)
		}
		if objects := openBare(t, token).objects(t); objects != 2 {
			t.Errorf("%s: %d objects on the token, want 2", name, objects)
		}
	}
}
