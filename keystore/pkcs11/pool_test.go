//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestReusedHandle: the module has dropped a session and given its handle to a new one. The
// old one must be neither used nor closed: the connection of this pool has no module to
// close it with.
func TestReusedHandle(t *testing.T) {
	p := newPool(&connection{}, 2)
	old := p.own(7)
	fresh := p.own(7)
	p.idle <- old
	p.idle <- fresh
	if lent, err := p.take(t.Context()); err != nil || lent != fresh {
		t.Errorf("took %v, %v, want %v", lent, err, fresh)
	}
	p.discard(old, nil)
	if !p.owns(fresh) || p.owns(old) {
		t.Errorf("after the old one was discarded: owns fresh %v, old %v", p.owns(fresh), p.owns(old))
	}
	p.discard(fresh, sessionGone[0])
	if p.owns(fresh) {
		t.Error("a session that is gone is still owned")
	}
}

// TestClosedPoolBeginsNothing: permits may be left when the pool has just been closed. An
// operation that took one would begin while the module is being finalized.
func TestClosedPoolBeginsNothing(t *testing.T) {
	p := newPool(&connection{}, 2)
	close(p.closed)
	for range 1_000 {
		err := p.do(t.Context(), func(session, bool) error { return errors.New("it began") })
		if !errors.Is(err, keystore.ErrClosed) {
			t.Fatalf("%v, want ErrClosed", err)
		}
	}
	if left := len(p.permits); left != 2 {
		t.Errorf("%d permits are left, want 2", left)
	}
}

// TestSessionWaitCancelled: a caller that gives up waiting for a session gets an error that
// says that the token has no more.
func TestSessionWaitCancelled(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	store, err := Open(t.Context(), token.URI(proxy.Module), Options{PIN: []byte(token.PIN)})
	testenv.Must(t, err)
	used, err := store.pool.take(t.Context())
	testenv.Must(t, err)
	proxy.CapSessions(proxy.Open())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if lent, err := store.pool.open(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, keystore.ErrUnavailable) ||
		!strings.Contains(err.Error(), "the token has no more sessions: use fewer with countersign-sessions") {
		t.Errorf("opened %v, %v, want an error about the number of sessions", lent, err)
	}
	store.pool.idle <- used
	if lent, err := store.pool.open(t.Context()); err != nil || lent != used {
		t.Errorf("opened %v, %v, want the session that was returned", lent, err)
	}
	store.pool.idle <- used
	testenv.Must(t, store.Close())
}
