package otp_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// recorder is a store that records the calls of its ledger and what was written.
type recorder struct {
	otp.Store
	calls   []string
	written []any
}

func (r *recorder) Change(ctx context.Context, organizationID string, change store.Change) error {
	return r.Store.Change(ctx, organizationID, recordedChange{r, change})
}

type recordedChange struct {
	recorder *recorder
	change   store.Change
}

func (c recordedChange) Apply(ledger store.Ledger) (refusal, err error) {
	return c.change.Apply(&recordedLedger{ledger, c.recorder})
}

type recordedLedger struct {
	store.Ledger
	recorder *recorder
}

func (l *recordedLedger) note(call string, keys ...store.Key) {
	for _, key := range keys {
		call += " " + string(rune(key.Kind))
	}
	l.recorder.calls = append(l.recorder.calls, call)
}

func (l *recordedLedger) Lock(keys ...store.Key) ([]store.Entry, error) {
	l.note("Lock", keys...)
	return l.Ledger.Lock(keys...)
}

func (l *recordedLedger) Read(key store.Key) (store.Entry, error) {
	l.note("Read", key)
	return l.Ledger.Read(key)
}

func (l *recordedLedger) Write(key store.Key, entry store.Entry) error {
	l.note("Write", key)
	l.recorder.written = append(l.recorder.written, key, entry, string(entry.Value))
	return l.Ledger.Write(key, entry)
}

// TestSamePath checks that wrong, unknown, expired, used, dead and undelivered codes
// cause the same accesses to the store in the same order, and get the same answer.
func TestSamePath(t *testing.T) {
	now := time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)
	w := &recorder{Store: memory.New(0)}
	service, box := newService(t, func(c *otp.Config) {
		c.Store, c.Clock = w, func() time.Time { return now }
	})
	issue := func() (id, code string) {
		id, err := service.Issue(t.Context(), org, orgName, sms(func(r *otp.Request) { r.SMS.Template = "{{.OtpCode}}" }))
		testenv.Must(t, err)
		return id, box.last().Text
	}
	verify := func(id, code string) (calls []string, err error) {
		w.calls = nil
		_, err = service.Verify(t.Context(), org, id, code)
		return w.calls, err
	}

	expired, expiredCode := issue()
	now = now.Add(otp.DefaultExpiration)
	used, usedCode := issue()
	if _, err := verify(used, usedCode); err != nil {
		t.Fatal(err)
	}
	dead, deadCode := issue()
	for range 3 {
		_, _ = verify(dead, wrong(deadCode))
	}
	live, liveCode := issue()
	undelivered, err := service.Prepare(org, orgName, sms(nil))
	testenv.Must(t, err)
	testenv.Must(t, w.Change(t.Context(), org, undelivered.Reserve(now)))

	want, err := verify(live, wrong(liveCode))
	if !errors.Is(err, otp.ErrWrong) || len(want) == 0 {
		t.Fatal(want, err)
	}
	for name, test := range map[string]struct {
		id, code string
		why      error
	}{
		"unknown":     {"0fcd14f5-dae7-4331-82ca-ebaddd849534", liveCode, otp.ErrUnknown},
		"no id":       {"x", liveCode, otp.ErrUnknown},
		"expired":     {expired, expiredCode, otp.ErrExpired},
		"used":        {used, usedCode, otp.ErrUsed},
		"dead":        {dead, deadCode, otp.ErrDead},
		"undelivered": {undelivered.ID(), liveCode, otp.ErrUnknown},
		"long":        {live, strings.Repeat("A", 1000), otp.ErrWrong},
	} {
		calls, err := verify(test.id, test.code)
		if !errors.Is(err, test.why) || err.Error() != otp.ErrInvalidCode.Error() {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: accesses %v, want %v, those of a wrong code", name, calls, want)
		}
	}
}

// TestUnusedCodeHidden looks for an unused code in everything that is stored, printed,
// logged or returned.
func TestUnusedCodeHidden(t *testing.T) {
	w := &recorder{Store: memory.New(0)}
	service, _ := newService(t, func(c *otp.Config) { c.Store = w })
	issue, err := service.Prepare(org, orgName, email(func(r *otp.Request) {
		r.Email.MagicLinkTemplate = "https://example.com/%s"
	}))
	testenv.Must(t, err)
	var sent otp.Message
	catch, _ := newService(t, func(c *otp.Config) {
		c.Email = senderFunc(func(message otp.Message) error { sent = message; return errors.New("no") })
	})
	_, failed := catch.Issue(t.Context(), org, orgName, email(func(r *otp.Request) { r.Email.TemplateID = "welcome" }))
	caught, _, _ := strings.Cut(sent.Text, " ")

	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("sent", "issue", issue, "message", sent, "error", failed)
	}
	for _, change := range []store.Change{issue.Reserve(time.Now()), issue.Activate(time.Now()), issue.Failed(time.Now())} {
		testenv.Must(t, w.Change(t.Context(), org, change))
		fmt.Fprintf(&log, "%v %+v\n", change, change)
	}
	fmt.Fprintf(&log, "%v %+v %#v %s %v %+v %#v %v", issue, issue, issue, issue, sent, sent, sent, failed)
	_ = json.NewEncoder(&log).Encode(w.written)
	fmt.Fprintf(&log, "%v %+v %x", w.written, w.written, w.written)

	for _, code := range []string{caught, otp.CodeOf(issue)} {
		if len(code) != otp.DefaultLength {
			t.Fatalf("the code is %q", code)
		}
		for _, form := range []string{code, strings.ToLower(code), hex.EncodeToString([]byte(code)), inDecimal(code)} {
			if strings.Contains(log.String(), form) {
				t.Errorf("the code appears as %q", form)
			}
		}
	}
	if !strings.Contains(log.String(), issue.ID()) || !strings.Contains(log.String(), sent.OTPID) {
		t.Error("the log has no id of the messages: the test looks in the wrong place")
	}
}

type senderFunc func(otp.Message) error

func (f senderFunc) Send(_ context.Context, message otp.Message) error { return f(message) }

// inDecimal returns the bytes of a text as fmt prints them.
func inDecimal(text string) string {
	var numbers []string
	for _, b := range []byte(text) {
		numbers = append(numbers, strconv.Itoa(int(b)))
	}
	return strings.Join(numbers, " ")
}
