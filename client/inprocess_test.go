package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// inProcess returns a client of a handler in this process.
func inProcess(t *testing.T, f *enginetest.Fixture, handler http.Handler) *client.Client {
	t.Helper()
	to, err := client.New(client.Config{Handler: handler, Key: keyOf(t, f.APIKey), Now: f.Config.Now, Retries: -1})
	testenv.Must(t, err)
	return to
}

// TestInProcess submits, lists and is refused without a listener, as over HTTP.
func TestInProcess(t *testing.T) {
	f := enginetest.New(t)
	to := inProcess(t, f, httpapi.New(f.Engine, httpapi.Options{}))
	signed, err := to.SignTransaction(t.Context(), intent())
	if err != nil || signed == "" {
		t.Fatalf("%q, %v", signed, err)
	}
	if page, err := to.ListActivities(t.Context(), client.ListOptions{}); err != nil || len(page) != 1 || page[0].Result.SignTransaction.SignedTransaction != signed {
		t.Errorf("%v, %v", page, err)
	}
	unknown := intent()
	unknown.SignWith = strings.Replace(enginetest.Address, "0", "1", 1)
	_, err = to.SignTransaction(t.Context(), unknown)
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Code == 0 || refused.Message == "" {
		t.Errorf("%v, want a refusal", err)
	}
}

// TestInProcessTransport has handlers as a server would have to bear them.
func TestInProcessTransport(t *testing.T) {
	f := enginetest.New(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		handler http.HandlerFunc
		want    string
	}{
		"nothing is written": {t.Context(), func(http.ResponseWriter, *http.Request) {}, "the answer cannot be read"},
		"aborted":            {t.Context(), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unexpected EOF"},
		"a status twice": {t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
		}, "HTTP 418 without a reason"},
		"the context is over": {ended, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "context canceled"},
		"the path and the remote address": {t.Context(), func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Method+" "+r.RequestURI+" "+r.RemoteAddr, http.StatusOK)
		}, `invalid character 'P'`},
	} {
		if _, err := inProcess(t, f, c.handler).WhoAmI(c.ctx); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	defer func() {
		if fault := recover(); fault != "a bug" {
			t.Errorf("%v, want the panic of the handler", fault)
		}
	}()
	_, _ = inProcess(t, f, func() http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) { panic("a bug") }
	}()).WhoAmI(t.Context())
}

// TestHandlerExcludesURL: a client has one server.
func TestHandlerExcludesURL(t *testing.T) {
	key := keyOf(t, enginetest.NewAPIKey(t))
	handler := http.NotFoundHandler()
	for name, config := range map[string]client.Config{
		"a URL":  {Handler: handler, URL: "http://signer.test", Key: key},
		"HTTP":   {Handler: handler, HTTP: http.DefaultClient, Key: key},
		"no key": {Handler: handler},
	} {
		if _, err := client.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestWaitAsksAtOnce: an activity that was decided since it was submitted is returned without
// a pause.
func TestWaitAsksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, server, request := newFake(t)
		server.list = append(server.list, status(200, answer(request, activity.StatusConsensusNeeded, "")),
			status(200, answer(request, activity.StatusCompleted, `"signTransactionResult":{"signedTransaction":"ab"}`)))
		submitted, err := to.Submit(t.Context(), request)
		testenv.Must(t, err)
		started := time.Now()
		if done, err := to.Wait(t.Context(), submitted); err != nil || done.Status != activity.StatusCompleted || time.Since(started) != 0 {
			t.Errorf("%v, %v after %v", done, err, time.Since(started))
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if seen, err := to.Wait(ended, submitted); !errors.Is(err, context.Canceled) || seen != submitted {
			t.Errorf("%v, %v, want the activity as last seen and context.Canceled", seen, err)
		}
	})
}
