//go:build cgo

package pkcs11

import "testing"

// TestReusedHandle: the module has dropped a session and given its handle to a
// new one. The old one must not be used beside it, and not be closed: the
// connection of this pool has no module to close it with.
func TestReusedHandle(t *testing.T) {
	p := newPool(&connection{}, 2)
	old := p.own(7)
	fresh := p.own(7)
	p.idle <- old
	p.idle <- fresh
	if held, err := p.take(t.Context()); err != nil || held != fresh {
		t.Errorf("took %v, %v, want %v", held, err, fresh)
	}
	p.discard(old, nil)
	if !p.owns(fresh) || p.owns(old) {
		t.Errorf("after the old one was put away: owns fresh %v, old %v", p.owns(fresh), p.owns(old))
	}
	p.discard(fresh, sessionGone[0])
	if p.owns(fresh) {
		t.Error("a session that is gone is still owned")
	}
}
