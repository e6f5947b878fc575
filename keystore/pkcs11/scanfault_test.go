//go:build cgo

package pkcs11_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// scanFunctions are the functions that a scan calls.
var scanFunctions = map[string]faultproxy.Function{
	"C_GetSessionInfo":    faultproxy.GetSessionInfo,
	"C_FindObjectsInit":   faultproxy.FindObjectsInit,
	"C_FindObjects":       faultproxy.FindObjects,
	"C_FindObjectsFinal":  faultproxy.FindObjectsFinal,
	"C_GetAttributeValue": faultproxy.GetAttributeValue,
}

// ids returns the ids of a listing, up to its first error.
func ids(ctx context.Context, store keystore.Keystore) (all []string, err error) {
	for info, err := range store.Keys(ctx, "org") {
		if err != nil {
			return all, err
		}
		all = append(all, info.ID)
	}
	return all, nil
}

func (r *rig) mustList(t *testing.T, when string) {
	t.Helper()
	if all, err := ids(t.Context(), r.store); err != nil || !slices.Equal(all, []string{r.keys[0].ID(), r.keys[1].ID()}) {
		t.Errorf("%s: listed %q, %v, want both keys", when, all, err)
	}
}

// eachCall makes one call of scan after the other fail, until it makes no more, with an error
// that a new session does not cure. scan must return it, rather than an incomplete result.
func (r *rig) eachCall(t *testing.T, scan func() error) {
	t.Helper()
	for name, function := range scanFunctions {
		number, failed := 0, true
		for ; failed && number < 30; number++ {
			before := r.proxy.Calls(function)
			r.proxy.Fail(function, miekg.CKR_HOST_MEMORY, number)
			err := scan()
			failed = r.proxy.Calls(function)-before > number
			if failed != (err != nil && strings.Contains(err.Error(), "CKR_HOST_MEMORY")) {
				t.Errorf("call %d of %s: error %v, failed %v", number, name, err, failed)
			}
		}
		if failed || number < 3 {
			t.Errorf("%s: %d calls seen", name, number)
		}
		r.proxy.Release(function)
	}
}

func TestScanFails(t *testing.T) {
	r := newRig(t, 1)
	for name, scan := range map[string]func() error{
		"Open": func() error {
			store, err := pkcs11.Open(t.Context(), r.token.URI(r.proxy.Module), pkcs11.Options{PIN: []byte(r.token.PIN)})
			if err == nil {
				err = store.Close()
			}
			return err
		},
		"Keys": func() error {
			r.store.Forget()
			_, err := ids(t.Context(), r.store)
			return err
		},
		"Find": func() error {
			r.store.Forget()
			_, err := r.store.Find(t.Context(), "org", keystore.ByID("unknown"))
			if errors.Is(err, keystore.ErrKeyNotFound) {
				return nil
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.eachCall(t, scan)
			r.mustList(t, "afterwards")
			r.mustSign(t, "afterwards")
		})
	}
}

// TestScanRecovers is the same with an error that a new session cures.
func TestScanRecovers(t *testing.T) {
	r := newRig(t, 1)
	for name, function := range scanFunctions {
		for number := range 4 {
			r.store.Forget()
			r.proxy.Fail(function, miekg.CKR_DEVICE_ERROR, number)
			r.mustList(t, name)
		}
		r.proxy.Release(function)
	}
	r.store.Forget()
	r.proxy.Fail(faultproxy.FindObjects, miekg.CKR_DEVICE_ERROR)
	if _, err := ids(t.Context(), r.store); !errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "tried twice") {
		t.Errorf("with all searches failing: %v", err)
	}
	r.proxy.Release(faultproxy.FindObjects)
	r.mustList(t, "afterwards")
}

// TestLoginEndsDuringScan: from then on private keys are hidden, without an error. Hidden keys
// must not be mistaken for deleted ones.
func TestLoginEndsDuringScan(t *testing.T) {
	r := newRig(t, 2)
	r.hang(t, 2) // opens two sessions
	r.release(t)
	for when, end := range map[string]func(){
		"at the first search": func() { r.proxy.Fail(faultproxy.FindObjectsInit, faultproxy.EndLogin, 0) },
		"at the last search":  func() { r.proxy.Fail(faultproxy.FindObjectsInit, faultproxy.EndLogin, 2) },
		"before the first search, until somebody else logs in": func() {
			r.proxy.Fail(faultproxy.GetSessionInfo, faultproxy.EndLogin, 0)
			r.proxy.Fail(faultproxy.FindObjectsInit, faultproxy.BeginLogin, 1)
		},
	} {
		r.store.Forget()
		end()
		r.mustList(t, when)
		r.proxy.Release(faultproxy.GetSessionInfo)
		r.proxy.Release(faultproxy.FindObjectsInit)
		r.mustSign(t, when)
	}

	r.store.Forget()
	r.proxy.Fail(faultproxy.FindObjectsInit, faultproxy.EndLogin, 0)
	r.proxy.Fail(faultproxy.FindObjectsFinal, faultproxy.Hold, 0)
	searched := r.proxy.Calls(faultproxy.FindObjectsFinal)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.mustList(t, "until a signature logs in")
	}()
	testenv.Await(t, "the search has ended", func() bool { return r.proxy.Calls(faultproxy.FindObjectsFinal) > searched })
	r.mustSign(t, "beside the scan")
	r.proxy.Release(faultproxy.FindObjectsFinal)
	<-done
	r.mustSign(t, "after the scan")
}

// TestTooManyObjects: a search that never ends is an error.
func TestTooManyObjects(t *testing.T) {
	r := newRig(t, 1)
	r.store.Forget()
	r.proxy.Flood(100_001)
	if _, err := ids(t.Context(), r.store); err == nil || !strings.Contains(err.Error(), "more than 100000 objects of a type") {
		t.Errorf("%v, want that there are too many objects", err)
	}
	r.proxy.Flood(0)
	r.mustList(t, "without them")
	r.store.Forget()
	r.proxy.Flood(99_000)
	r.mustList(t, "among objects that are gone when they are looked at")
}

// TestScansAreRare: however often unknown keys are looked up, the token is scanned at most
// once per second.
func TestScansAreRare(t *testing.T) {
	r := newRig(t, 1)
	scans := func(passed time.Duration) int {
		before := r.proxy.Calls(faultproxy.FindObjectsInit)
		r.store.Advance(passed)
		for range 5 {
			if _, err := r.store.Find(t.Context(), "org", keystore.ByID("unknown")); !errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("%v, want ErrKeyNotFound", err)
			}
		}
		return r.proxy.Calls(faultproxy.FindObjectsInit) - before
	}
	if calls := scans(time.Second - 1); calls != 0 {
		t.Errorf("%d searches within a second of the last scan", calls)
	}
	once := scans(1)
	if once == 0 {
		t.Error("no scan after a second")
	}
	if again := scans(time.Second); again != once {
		t.Errorf("%d searches after another second, want %d", again, once)
	}
}
