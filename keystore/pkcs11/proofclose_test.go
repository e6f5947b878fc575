//go:build cgo

package pkcs11

import (
	"crypto"
	"errors"
	"strings"
	"testing"

	miekg "github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestCloseBetweenTries: the token fails in a signature that Close waits for. Close waits for
// its second try as well, which needs no other login.
func TestCloseBetweenTries(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	uri := strings.Replace(token.URI(proxy.Module), "?", ";object=proof;id=%01?", 1)
	token.GenerateP256(t, "proof", []byte{1})
	signer, err := OpenProofSigner(t.Context(), uri, Options{PIN: []byte(token.PIN)})
	testenv.Must(t, err)
	proxy.Fail(faultproxy.SignInit, faultproxy.Hold, 0)
	proxy.Fail(faultproxy.Sign, miekg.CKR_DEVICE_ERROR, 0)
	calls := proxy.Calls(faultproxy.SignInit)
	signed, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := signer.Sign(nil, make([]byte, 32), crypto.SHA256)
		signed <- err
	}()
	testenv.Await(t, "the signature hangs", func() bool { return proxy.Calls(faultproxy.SignInit) > calls })
	go func() { closed <- signer.Close() }()
	<-signer.pool.closed
	if _, err := signer.Sign(nil, make([]byte, 32), crypto.SHA256); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("signed while closing: %v, want ErrClosed", err)
	}
	logins := proxy.Calls(faultproxy.Login)
	proxy.Release(faultproxy.SignInit)
	if err := <-signed; err != nil {
		t.Errorf("signed: %v", err)
	}
	testenv.Must(t, <-closed)
	if again := proxy.Calls(faultproxy.Login) - logins; again != 0 {
		t.Errorf("logged in again, %d times", again)
	}
}
