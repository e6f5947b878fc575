package keystoretest_test

import (
	"bytes"
	"context"
	"crypto/sha512"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// broken is a keystore with one fault. Each field replaces the method it is named after.
type broken struct {
	*memory.Store
	find   func(*memory.Store, context.Context, string, keystore.Locator) (keystore.Key, error)
	keys   func(*memory.Store, context.Context, string) iter.Seq2[keystore.KeyInfo, error]
	close  func(*memory.Store) error
	rename func(name string) error
	fault  func(keystoretest.Fault) bool
}

func (b *broken) Rename(ctx context.Context, organizationID, id, name string) error {
	if b.rename != nil {
		return b.rename(name)
	}
	return b.Store.Rename(ctx, organizationID, id, name)
}

func (b *broken) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if b.find != nil {
		return b.find(b.Store, ctx, organizationID, at)
	}
	return b.Store.Find(ctx, organizationID, at)
}

func (b *broken) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	if b.keys != nil {
		return b.keys(b.Store, ctx, organizationID)
	}
	return b.Store.Keys(ctx, organizationID)
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close(b.Store)
	}
	return b.Store.Close()
}

// faultyKey corrupts a key's signatures.
type faultyKey struct {
	keystore.Key
	keystore.ECDSASigner
	keystore.SchnorrSigner
	change func([]byte)
}

func (k faultyKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signature, err := k.ECDSASigner.SignECDSA(ctx, digest)
	if err == nil {
		k.change(signature[:])
	}
	return signature, err
}

// leaky is a key that prints its secret.
type leaky struct {
	keystore.Key
	keystore.ECDSASigner
	keystore.SchnorrSigner
	Secret []byte
}

func replaceKeys(replace func(secp256k1 keystore.Key) keystore.Key) *broken {
	return &broken{find: func(store *memory.Store, ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		key, err := store.Find(ctx, organizationID, at)
		if err == nil && key.PublicKey().Curve() == keystore.CurveSecp256k1 {
			return replace(key), nil
		}
		return key, err
	}}
}

func faulty(change func([]byte)) *broken {
	return replaceKeys(func(key keystore.Key) keystore.Key {
		return faultyKey{key, key.(keystore.ECDSASigner), key.(keystore.SchnorrSigner), change}
	})
}

// faults lists faulty keystores by the part of the suite that must fail.
var faults = map[string]*broken{
	"Organizations": {find: func(store *memory.Store, ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		key, err := store.Find(ctx, organizationID, at)
		if errors.Is(err, keystore.ErrKeyNotFound) {
			return store.Find(ctx, "default", at)
		}
		return key, err
	}},
	"FindByEveryLocator": {find: func(store *memory.Store, ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		if at.IsTaproot() {
			return nil, keystore.ErrKeyNotFound
		}
		return store.Find(ctx, organizationID, at)
	}},
	"CancelledContext": {find: func(store *memory.Store, _ context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		return store.Find(context.Background(), organizationID, at)
	}},
	"Listing": {keys: func(store *memory.Store, ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
		var infos []keystore.KeyInfo
		for info := range store.Keys(ctx, organizationID) {
			infos = append([]keystore.KeyInfo{info}, infos...)
		}
		return func(yield func(keystore.KeyInfo, error) bool) {
			slices.Values(infos)(func(info keystore.KeyInfo) bool { return yield(info, nil) })
		}
	}},
	"Names": {rename: func(name string) error {
		if strings.ContainsFunc(name, unicode.IsControl) {
			return errors.New("a control character")
		}
		return nil
	}},
	"Close":                {close: func(*memory.Store) error { return nil }},
	"CloseDuringUse":       {close: closeLater},
	"ECDSA":                faulty(func(signature []byte) { signature[64] ^= 1 }),
	"ConcurrentUse":        faulty(func(signature []byte) { signature[40] ^= 1 }),
	"SecretsAreNotPrinted": replaceKeys(func(key keystore.Key) keystore.Key { return tell(key) }),
	"Schnorr":              replaceKeys(func(key keystore.Key) keystore.Key { return otherTweak{key, key.(keystore.SchnorrSigner)} }),
	"Unsupported":          replaceKeys(func(key keystore.Key) keystore.Key { return pretender{Key: key} }),
	"Ed25519": {find: func(store *memory.Store, ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		key, err := store.Find(ctx, organizationID, at)
		if signer, ok := key.(keystore.Ed25519Signer); ok {
			return prehashed{key, signer}, err
		}
		return key, err
	}},
	"FindMissing": {find: func(store *memory.Store, ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
		key, err := store.Find(ctx, organizationID, at)
		if errors.Is(err, keystore.ErrKeyNotFound) {
			return nil, errors.New("none")
		}
		return key, err
	}},
	"Faults": {fault: func(fault keystoretest.Fault) bool { // signs although it should not
		return fault == keystoretest.NoFault || fault == keystoretest.Denied
	}},
	"ListingStops": {keys: func(store *memory.Store, ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
		return func(yield func(keystore.KeyInfo, error) bool) {
			for info, err := range store.Keys(ctx, organizationID) {
				if !yield(info, err) {
					_ = store.Close() // as if the lock were kept
					return
				}
			}
		}
	}},
}

// pretender has a method for a curve that is not its key's.
type pretender struct {
	keystore.Key
	keystore.Ed25519Signer
}

// prehashed signs the hash of the message.
type prehashed struct {
	keystore.Key
	signer keystore.Ed25519Signer
}

func (k prehashed) SignEd25519(ctx context.Context, message []byte) ([64]byte, error) {
	hash := sha512.Sum512(message)
	return k.signer.SignEd25519(ctx, hash[:])
}

// closeLater returns long before it closes, so that the signing goroutines get to sign on any
// machine.
func closeLater(store *memory.Store) error {
	time.AfterFunc(time.Minute, func() { _ = store.Close() })
	return nil
}

// otherTweak omits the merkle root.
type otherTweak struct {
	keystore.Key
	keystore.SchnorrSigner
}

func (k otherTweak) SignSchnorr(ctx context.Context, digest [32]byte, _ keystore.TaprootTweak) ([64]byte, error) {
	return k.SchnorrSigner.SignSchnorr(ctx, digest, keystore.KeyPath())
}

func tell(key keystore.Key) keystore.Key {
	return leaky{key, key.(keystore.ECDSASigner), key.(keystore.SchnorrSigner), secrets[key.ID()]}
}

var secrets = map[string][]byte{}

const faultVariable = "KEYSTORETEST_FAULT"

// TestFaultsAreNoticed runs the suite against each faulty keystore in a separate process, where the
// part that the fault concerns must fail, and against the same keystore without a fault.
func TestFaultsAreNoticed(t *testing.T) {
	if fault := os.Getenv(faultVariable); fault != "" {
		keystoretest.Run(t, backend(faults[fault]))
		return
	}
	t.Run("none", func(t *testing.T) { keystoretest.Run(t, backend(&broken{})) })
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFaultsAreNoticed$/^"+fault+"$")
			command.Env = append(os.Environ(), faultVariable+"="+fault)
			output, err := command.CombinedOutput()
			if !bytes.Contains(output, []byte("--- FAIL: TestFaultsAreNoticed/"+fault+" ")) || bytes.Contains(output, []byte("panic:")) {
				t.Errorf("the suite lets a keystore pass whose fault is in %s: %v\n%s", fault, err, output)
			}
		})
	}
}

func backend(with *broken) keystoretest.Backend {
	made := keystoretest.Backend{Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
		opened := *with
		opened.Store = memory.New()
		for _, key := range keys {
			secrets[key.ID] = key.Secret
			if _, err := opened.Store.Add(t.Context(), key.OrganizationID, keystore.NewKey{
				ID: key.ID, Name: key.Name, Curve: key.Curve, Secret: key.Secret, CreatedAt: key.CreatedAt,
			}); err != nil {
				t.Fatal(err)
			}
		}
		return &opened
	}}
	if with.fault != nil {
		made.Fault = func(_ *testing.T, _ keystore.Keystore, fault keystoretest.Fault) bool { return with.fault(fault) }
	}
	return made
}

// TestOwnKeys runs the suite against a keystore whose secrets it does not have. Its Faults
// part must find that each fault was asked for.
func TestOwnKeys(t *testing.T) {
	asked := map[keystoretest.Fault]bool{}
	keystoretest.Run(t, keystoretest.Backend{
		Fault: func(_ *testing.T, _ keystore.Keystore, fault keystoretest.Fault) bool {
			asked[fault] = true
			return fault == keystoretest.NoFault || fault == keystoretest.LowS
		},
		Own: func(t *testing.T) (keystore.Keystore, []keystoretest.Key) {
			store := memory.New()
			var keys []keystoretest.Key
			for i, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
				info, err := store.Add(t.Context(), keystoretest.Organization, keystore.NewKey{
					Curve: curve, Secret: bytes.Repeat([]byte{1}, keystore.SecretSize), CreatedAt: time.Unix(int64(i), 0),
				})
				testenv.Must(t, err)
				keys = append(keys, keystoretest.Key{
					OrganizationID: keystoretest.Organization, ID: info.ID, Curve: curve, PublicKey: info.PublicKey, CreatedAt: info.CreatedAt,
				})
			}
			return store, keys
		},
	})
	if len(asked) != len(keystoretest.Faults())+1 {
		t.Errorf("%d faults were asked for", len(asked))
	}
}

// recorder counts the errors that a check reports.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }

type stringer struct{ text string }

func (s stringer) String() string { return s.text }

func TestLeaksAreNoticed(t *testing.T) {
	secret := []byte("\x8f\x01secret that nobody may see\xff\x00\x7f\x31")
	for name, leak := range map[string]any{
		"bytes in a field":       struct{ Key []byte }{secret},
		"bytes in a hidden one":  struct{ key []byte }{secret},
		"an array":               [32]byte(secret),
		"a part of it":           struct{ Part []byte }{secret[11:21]},
		"in the midst of others": append([]byte("abc"), secret...),
		"text":                   stringer{string(secret)},
		"an error":               errors.New(string(secret[4:])),
	} {
		recorder := &recorder{TB: t}
		keystoretest.CheckNotPrinted(recorder, name, leak, secret)
		if recorder.errors == 0 {
			t.Errorf("%s: not noticed", name)
		}
	}
	recorder := &recorder{TB: t}
	keystoretest.CheckNotPrinted(recorder, "another secret", []byte("quite another text, no secret at"), secret)
	if recorder.errors > 0 {
		t.Error("a leak is reported where there is none")
	}
}
