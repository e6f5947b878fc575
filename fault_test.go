package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// faultyStore returns keys whose signatures are faulty, like those of a broken HSM,
// library or memory.
type faultyStore struct {
	keystore.Keystore
	find func() error                               // fails Find, if it is there
	sign func(signature [65]byte) ([65]byte, error) // changes what SignECDSA returns
}

func (s *faultyStore) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if s.find != nil {
		return nil, s.find()
	}
	key, err := s.Keystore.Find(ctx, organizationID, at)
	if err != nil {
		return nil, err
	}
	return &faultyKey{key, s.sign}, nil
}

type faultyKey struct {
	keystore.Key
	sign func(signature [65]byte) ([65]byte, error)
}

func (k *faultyKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signature, err := k.Key.(keystore.ECDSASigner).SignECDSA(ctx, digest)
	if err != nil {
		return signature, err
	}
	return k.sign(signature)
}

// highS returns the signature with s above half the group order and a matching v: valid
// for the curve, but malleable for the network.
func highS(signature [65]byte) ([65]byte, error) {
	s := new(big.Int).SetBytes(signature[32:64])
	s.Sub(crypto.S256().Params().N, s).FillBytes(signature[32:64])
	signature[64] ^= 1
	return signature, nil
}

// faultySigners are faulty signatures, none of which may be released.
var faultySigners = map[string]func([65]byte) ([65]byte, error){
	"bit of r":      func(s [65]byte) ([65]byte, error) { s[0] ^= 0x80; return s, nil },
	"last bit of s": func(s [65]byte) ([65]byte, error) { s[63] ^= 1; return s, nil },
	"parity":        func(s [65]byte) ([65]byte, error) { s[64] ^= 1; return s, nil },
	"v of 27":       func(s [65]byte) ([65]byte, error) { s[64] += 27; return s, nil },
	"v of 2":        func(s [65]byte) ([65]byte, error) { s[64] += 2; return s, nil },
	"zero":          func([65]byte) ([65]byte, error) { return [65]byte{}, nil },
	"r and s swapped": func(s [65]byte) ([65]byte, error) {
		var swapped [65]byte
		copy(swapped[:32], s[32:64])
		copy(swapped[32:64], s[:32])
		swapped[64] = s[64]
		return swapped, nil
	},
	"high s": highS,
}

// TestFaultySigner checks that a faulty signature is not released, and that the caller
// learns nothing about the backend.
func TestFaultySigner(t *testing.T) {
	for name, sign := range faultySigners {
		t.Run(name, func(t *testing.T) {
			_, keys := newEngine(t, countersign.Config{})
			engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: &faultyStore{Keystore: keys, sign: sign}})
			testenv.Must(t, err)
			result, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer))
			checkError(t, err, activity.ReasonInternal, 13, "", "the key's backend returned a signature that does not verify; it was not released")
			if !errors.Is(err, keystore.ErrSignatureCheck) || result.SignedTransaction != "" {
				t.Errorf("%v, released %q", err, result.SignedTransaction)
			}
		})
	}
}

// TestReleaseUnverifiedSignatures checks that without verification a faulty signature is
// released.
func TestReleaseUnverifiedSignatures(t *testing.T) {
	_, keys := newEngine(t, countersign.Config{})
	engine, err := countersign.New(countersign.Config{
		Chains:                      all.Chains(all.Limits{}),
		Keystore:                    &faultyStore{Keystore: keys, sign: faultySigners["last bit of s"]},
		ReleaseUnverifiedSignatures: true,
	})
	testenv.Must(t, err)
	result, err := engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer))
	if err != nil || result.SignedTransaction == signed || result.SignedTransaction == "" {
		t.Errorf("%v, %v", result, err)
	}
}

// TestBackendErrors checks that a backend's own errors are the cause and not part of the
// message, and are not reported as the caller's mistake.
func TestBackendErrors(t *testing.T) {
	broken := errors.New("pkcs11: CKR_DEVICE_ERROR in slot 3 of /usr/lib/hsm.so")
	for _, c := range []struct {
		err     error
		reason  activity.Reason
		code    activity.Code
		message string
	}{
		{broken, activity.ReasonInternal, 13, "the key could not be used"},
		{fmt.Errorf("hsm: %w", keystore.ErrWithdrawn), activity.ReasonUnavailable, 14, "the key was removed or changed while the request was carried out: send the request again"},
		{fmt.Errorf("hsm: %w", keystore.ErrClosed), activity.ReasonUnavailable, 14, "the keystore is closed: the engine is shutting down"},
		{fmt.Errorf("dial 10.0.0.1: %w", context.DeadlineExceeded), activity.ReasonUnavailable, 14, "the request ended before the key signed: context deadline exceeded"},
		{fmt.Errorf("dial 10.0.0.1: %w", context.Canceled), activity.ReasonUnavailable, 14, "the request ended before the key signed: context canceled"},
		{fmt.Errorf("dial 10.0.0.1: %w", keystore.ErrUnavailable), activity.ReasonUnavailable, 14, "the keystore cannot be reached at the moment"},
		{fmt.Errorf("dial 10.0.0.1: %w", keystore.ErrDenied), activity.ReasonUnavailable, 14, "the key's backend refuses the use of the key: its operator has to change the credentials or the rights"},
		{&keystore.ThrottledError{RetryAfter: 2 * time.Second, Err: broken}, activity.ReasonUnavailable, 14, "the key's backend accepts no more requests at the moment: send the same body again"},
		{fmt.Errorf("dial 10.0.0.1: %w", keystore.ErrSignatureCheck), activity.ReasonInternal, 13, "the key's backend returned a signature that does not verify; it was not released"},
		{fmt.Errorf("dial 10.0.0.1: %w", keystore.ErrUnsupported), activity.ReasonInternal, 13, "the key could not be used"},
	} {
		for _, stage := range []string{"find", "sign"} {
			_, keys := newEngine(t, countersign.Config{})
			store := &faultyStore{Keystore: keys, sign: func([65]byte) ([65]byte, error) { return [65]byte{}, c.err }}
			if stage == "find" {
				store.find = func() error { return c.err }
			}
			engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: store})
			testenv.Must(t, err)
			_, err = engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer))
			checkError(t, err, c.reason, c.code, "", c.message)
			var want time.Duration
			if throttled, ok := errors.AsType[*keystore.ThrottledError](c.err); ok {
				want = throttled.RetryAfter
			}
			if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.RetryAfter != want {
				t.Errorf("%s: %v: Retry-After is not %v", stage, err, want)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%s: the cause is lost: %v", stage, err)
			}
		}
	}
}

// TestNoKeyNoError checks that a keystore that returns neither a key nor an error is an
// error and no panic.
func TestNoKeyNoError(t *testing.T) {
	_, keys := newEngine(t, countersign.Config{})
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: &keyless{keys}})
	testenv.Must(t, err)
	_, err = engine.SignTransaction(t.Context(), org, ethereumIntent(vectorAddr, transfer))
	checkError(t, err, activity.ReasonInternal, 13, "", "the key could not be used")
}

type keyless struct{ keystore.Keystore }

func (*keyless) Find(context.Context, string, keystore.Locator) (keystore.Key, error) {
	return nil, nil
}

// TestConcurrency signs for two organizations at once, while keys are added and the
// engine is closed. Run it with -race.
func TestConcurrency(t *testing.T) {
	keys := memory.New()
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
	testenv.Must(t, err)
	random := rand.New(rand.NewPCG(10, 11))
	var cases []gethoracle.Case
	for number := range 60 {
		c := gethoracle.Generate(random, number%gethoracle.Kinds)
		if _, err := keys.Add(t.Context(), orgOf(number), keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: crypto.FromECDSA(c.Key)}); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	var signers, others sync.WaitGroup
	for worker := range 8 {
		signers.Go(func() {
			for i := range cases {
				number := (i*7 + worker) % len(cases)
				signOne(t, engine, number, &cases[number])
			}
		})
	}
	others.Go(func() {
		for range 50 {
			if _, err := keys.Generate(t.Context(), org, "", keystore.CurveSecp256k1); err != nil {
				t.Error(err)
			}
		}
	})
	signers.Wait()
	others.Wait()
	for range 4 {
		signers.Go(func() { checkClosing(t, engine, &cases[0]) })
	}
	testenv.Must(t, engine.Close())
	signers.Wait()
}

func orgOf(number int) string { return []string{org, otherOrg}[number%2] }

func signOne(t *testing.T, engine *countersign.Engine, number int, c *gethoracle.Case) {
	intent := ethereumIntent(crypto.PubkeyToAddress(c.Key.PublicKey).Hex(), fmt.Sprintf("%x", c.Unsigned))
	result, err := engine.SignTransaction(t.Context(), orgOf(number), intent)
	if err != nil || result.SignedTransaction != fmt.Sprintf("%x", c.Signed) {
		t.Errorf("case %d: %v, %v", number, result, err)
	}
	if _, err := engine.SignTransaction(t.Context(), orgOf(number+1), intent); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("case %d: the other organization: %v", number, err)
	}
}

// checkClosing signs until the engine is closed. Each answer must be correct or report
// that.
func checkClosing(t *testing.T, engine *countersign.Engine, c *gethoracle.Case) {
	intent := ethereumIntent(crypto.PubkeyToAddress(c.Key.PublicKey).Hex(), fmt.Sprintf("%x", c.Unsigned))
	for {
		result, err := engine.SignTransaction(t.Context(), org, intent)
		if err == nil && result.SignedTransaction != fmt.Sprintf("%x", c.Signed) {
			t.Errorf("while closing: %v", result)
		}
		if err != nil {
			if !errors.Is(err, keystore.ErrClosed) || !strings.Contains(err.Error(), "shutting down") {
				t.Errorf("while closing: %v", err)
			}
			return
		}
	}
}
