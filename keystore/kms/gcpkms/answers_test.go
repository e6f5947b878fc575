package gcpkms_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/gcpkms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// answering starts a server that speaks HTTP/2 without TLS, as gRPC does on loopback, and gives
// every call the present answer, or a message of gRPC if there is none.
func answering(t *testing.T, message func(call string) string) (service *gcpkms.Service, present *atomic.Pointer[loopback.Answer], asked *atomic.Int64) {
	t.Helper()
	present, asked = &atomic.Pointer[loopback.Answer]{}, &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		if answer := present.Load(); answer != nil {
			w.Header().Set("Content-Type", answer.Type)
			w.WriteHeader(answer.Status)
			_, _ = io.WriteString(w, answer.Body)
			return
		}
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		body := message(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		_, _ = w.Write(append([]byte{0, 0, 0, 0, byte(len(body))}, body...))
		w.Header().Set("Grpc-Status", "0")
	}))
	server.Config.Protocols = &http.Protocols{}
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return gcpkms.New(option.WithEndpoint(strings.TrimPrefix(server.URL, "http://")), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))), present, asked
}

// TestUselessAnswers: a success that says nothing is an error that names Google KMS and the call.
func TestUselessAnswers(t *testing.T) {
	// A CryptoKey with only a name, which is member 1, so that Generate goes on to its version.
	service, present, asked := answering(t, func(call string) string {
		if call == "CreateCryptoKey" {
			return "\x0a\x01k"
		}
		return ""
	})
	nothing, presentToo, _ := answering(t, func(string) string { return "" })
	key, err := service.Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	calls := map[string]func() error{
		"cloudkms.cryptoKeyVersions.viewPublicKey": func() error { _, err := key.PublicKey(t.Context()); return err },
		"cloudkms.cryptoKeyVersions.useToSign": func() error {
			_, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
			return err
		},
		"cloudkms.cryptoKeyVersions.get": func() error {
			_, err := service.Generate(t.Context(), uri("new"), "", remote.Secp256k1)
			return err
		},
		"cloudkms.cryptoKeys.create": func() error {
			_, err := nothing.Generate(t.Context(), uri("new"), "", remote.Secp256k1)
			return err
		},
	}
	for call, do := range calls {
		if err := do(); err == nil || !strings.Contains(err.Error(), "Google KMS") || !strings.Contains(err.Error(), call) || errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s: an empty message: %v", call, err)
		}
	}
	for what, answer := range loopback.Useless() {
		present.Store(&answer)
		presentToo.Store(&answer)
		for call, do := range calls {
			if err := do(); err == nil || !strings.Contains(err.Error(), "Google KMS") || !strings.Contains(err.Error(), "cloudkms.") || errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("%s: %s: %v", call, what, err)
			}
		}
	}
	if asked.Load() == 0 {
		t.Error("not asked")
	}
}
