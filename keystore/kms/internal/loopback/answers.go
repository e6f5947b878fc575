package loopback

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Answer is what a server says to a call in place of its own answer.
type Answer struct {
	Status     int
	RetryAfter string // the header, if not empty
	Type, Body string
}

// Useless returns answers that report a success and say nothing of what was asked for, by a name.
func Useless() map[string]Answer {
	return map[string]Answer{
		"an empty body": {Status: http.StatusOK},
		"no content":    {Status: http.StatusNoContent},
		"{}":            {Status: http.StatusOK, Type: "application/json", Body: "{}"},
		"null":          {Status: http.StatusOK, Type: "application/json", Body: "null"},
		"[]":            {Status: http.StatusOK, Type: "application/json", Body: "[]"},
		"HTML":          {Status: http.StatusOK, Type: "text/html", Body: "<html>captive portal</html>"},
	}
}

// script has answers that a test has set.
type script struct {
	mu      sync.Mutex
	answers map[string]Answer
	given   int
}

// SetAnswer has the calls whose name, or whose method and path, contain a text answered like this
// from now on.
func (s *script) SetAnswer(call string, answer Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = map[string]Answer{call: answer}
}

// ClearAnswer ends SetAnswer, and returns how often the answer was given.
func (s *script) ClearAnswer() (given int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	given, s.given, s.answers = s.given, 0, nil
	return given
}

// answered gives the answer that the test has set, if there is one for the call.
func (s *script) answered(w http.ResponseWriter, call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text, answer := range s.answers {
		if !strings.Contains(call, text) {
			continue
		}
		s.given++
		if answer.Type != "" {
			w.Header().Set("Content-Type", answer.Type)
		}
		if answer.RetryAfter != "" {
			w.Header().Set("Retry-After", answer.RetryAfter)
		}
		w.WriteHeader(answer.Status)
		_, _ = io.WriteString(w, answer.Body)
		return true
	}
	return false
}

// Answers is a server that has no answers but those that a test sets.
type Answers struct {
	*httptest.Server
	script
}

// NewAnswers starts a server, which ends with the test.
func NewAnswers(t testing.TB) *Answers {
	t.Helper()
	a := &Answers{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.answered(w, r.Method+" "+r.URL.Path) {
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

// Path is a request that a package makes: what SetAnswer knows it by, and what its errors call it.
type Path struct {
	Request, Name string
	Do            func() error
}

// Scripted is a server whose answers a test sets.
type Scripted interface {
	SetAnswer(call string, answer Answer)
	ClearAnswer() (given int)
}

// CheckUseless checks that a success that says nothing is an error that names the service and the call,
// and never says that there is a key, or none. makes are the requests after which a key cannot be found.
func CheckUseless(t *testing.T, server Scripted, service string, paths []Path, makes ...string) {
	t.Helper()
	for _, path := range paths {
		for what, answer := range Useless() {
			server.SetAnswer(path.Request, answer)
			err := path.Do()
			if err == nil || !strings.Contains(err.Error(), service) || !strings.Contains(err.Error(), path.Name) {
				t.Errorf("%s: %s: %v", path.Request, what, err)
			}
			absent := errors.Is(err, keystore.ErrKeyNotFound) && !slices.Contains(makes, path.Request)
			if absent || errors.Is(err, keystore.ErrKeyExists) {
				t.Errorf("%s: %s: %v", path.Request, what, err)
			}
			if server.ClearAnswer() == 0 {
				t.Errorf("%s: %s: not asked", path.Request, what)
			}
		}
	}
}

// CheckThrottled checks that no request waits for throttling to end, and that the wait is the one that
// the answer says. says is in the error, besides the call.
func CheckThrottled(t *testing.T, server Scripted, paths []Path, says string, answers ...Answer) {
	t.Helper()
	for _, path := range paths {
		for _, answer := range answers {
			answer.RetryAfter = "40"
			server.SetAnswer(path.Request, answer)
			err := path.Do()
			throttled, ok := errors.AsType[*keystore.ThrottledError](err)
			if times := server.ClearAnswer(); !ok || throttled.RetryAfter != 40*time.Second || times != 1 {
				t.Errorf("%s: %d: asked %d times: %v", path.Request, answer.Status, times, err)
			}
			if ok && (!strings.Contains(err.Error(), path.Name) || !strings.Contains(err.Error(), says)) {
				t.Errorf("%s: %d: %v, want %s and %q", path.Request, answer.Status, err, path.Name, says)
			}
		}
	}
}
