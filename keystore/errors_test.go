package keystore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// TestErrorClasses: a caller that knows only ErrUnavailable treats its two special forms as
// such, and no error belongs to two of the classes.
func TestErrorClasses(t *testing.T) {
	backend := errors.New("the backend's own words")
	throttled := fmt.Errorf("key 1: %w", &keystore.ThrottledError{RetryAfter: 2 * time.Second, Err: backend})
	if found, ok := errors.AsType[*keystore.ThrottledError](throttled); !ok || found.RetryAfter != 2*time.Second || !errors.Is(throttled, backend) {
		t.Errorf("%v: the wait or the cause is lost", throttled)
	}
	if want := "key 1: keystore: unavailable: throttled, retry after 2s: the backend's own words"; throttled.Error() != want {
		t.Errorf("%q, want %q", throttled, want)
	}
	if without := (&keystore.ThrottledError{Err: backend}).Error(); without != "keystore: unavailable: throttled: the backend's own words" {
		t.Errorf("%q", without)
	}
	for _, err := range []error{throttled, keystore.ErrDenied} {
		if !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%v is not ErrUnavailable", err)
		}
	}
	classes := []error{keystore.ErrKeyNotFound, keystore.ErrDenied, keystore.ErrSignatureCheck, keystore.ErrClosed, keystore.ErrWithdrawn, keystore.ErrUnsupported, keystore.ErrKeyExists}
	for _, one := range append(classes, keystore.ErrUnavailable, throttled) {
		for _, class := range classes {
			if errors.Is(one, class) != (one == class) {
				t.Errorf("%v is %v", one, class)
			}
		}
	}
}
