package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// receiver is an endpoint without a network.
type receiver struct {
	mu     sync.Mutex
	taken  []string // ids, in the order in which they were taken
	tried  []time.Time
	answer func(id string, try int) (status int, err error)
	takes  time.Duration
	before func(id string) (status int, err error) // is asked outside of the lock
	status int                                     // with which an event is taken; 200 if it is 0
}

// RoundTrip implements http.RoundTripper.
func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	time.Sleep(r.takes) // virtual time
	id := request.Header.Get("webhook-id")
	status, want := http.StatusOK, cmp.Or(r.status, http.StatusOK)
	if r.before != nil {
		if status, err = r.before(id); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried = append(r.tried, time.Now())
	if r.answer != nil {
		if status, err = r.answer(id, len(r.tried)); err != nil {
			return nil, err
		}
	}
	if status == want && string(body) == "data of "+id {
		r.taken = append(r.taken, id)
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://elsewhere.example"}}, Body: io.NopCloser(strings.NewReader("ok")), Request: request}, nil
}

// add records a change of an activity, with its event.
func add(t *testing.T, s *memory.Store, organization, body string, waits bool, id string) {
	t.Helper()
	event := &store.Event{ID: id, At: time.Now(), Data: []byte("data of " + id)}
	claim := store.Claim{OrganizationID: organization, LeaseTTL: time.Minute, Now: time.Now()}
	copy(claim.Fingerprint[:], body)
	found, err := s.Find(t.Context(), organization, claim.Fingerprint)
	if err == nil {
		claim.Revision = found.Revision
	}
	begun, err := s.Begin(t.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		t.Fatal(begun, err)
	}
	one := store.Activity{ID: organization + body, Waiting: waits, Event: event, KeepUntil: time.Now().Add(1000 * time.Hour)}
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, one, nil))
}

// sending starts a sender over an outbox.
func sending(t *testing.T, outbox store.Outbox, to *receiver) (s *Sender, stop func()) {
	t.Helper()
	s, err := New(Config{Outbox: outbox, URL: "https://events.example/", Secrets: webhook.Secrets{make([]byte, 32)}, Client: &http.Client{Transport: to}})
	testenv.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	return s, func() {
		cancel()
		running.Wait()
	}
}

// TestDelivers delivers each event once, those of one activity in order.
func TestDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, to := memory.New(0), new(receiver)
		add(t, s, "one", "a", true, "a waits")
		add(t, s, "one", "b", false, "b")
		add(t, s, "two", "c", false, "c")
		add(t, s, "one", "a", false, "a done")
		sender, stop := sending(t, s, to)
		time.Sleep(time.Minute)
		add(t, s, "one", "d", false, "d")
		time.Sleep(2 * poll)
		stop()
		waits, done := slices.Index(to.taken, "a waits"), slices.Index(to.taken, "a done")
		if len(to.taken) != 5 || waits < 0 || done < waits || to.taken[4] != "d" {
			t.Errorf("%q", to.taken)
		}
		if stats := sender.Stats(); stats.Delivered != 5 || stats.Failed != 0 || stats.Waiting != 0 || !stats.Oldest.IsZero() {
			t.Errorf("%+v", stats)
		}
		if left, _, err := s.Events(t.Context(), 10, nil); err != nil || len(left) > 0 {
			t.Errorf("%d are left, %v", len(left), err)
		}
	})
}

// TestFailingReceiver has an endpoint that takes every other attempt: nothing is lost, and the
// events of each activity stay in order.
func TestFailingReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		to := &receiver{answer: func(_ string, try int) (int, error) {
			switch try % 4 {
			case 1:
				return http.StatusInternalServerError, nil
			case 3:
				return 0, errors.New("connection refused")
			}
			return http.StatusOK, nil
		}}
		const activities, changes = 20, 3
		for change := range changes {
			for n := range activities {
				add(t, s, fmt.Sprint("org", n%3), fmt.Sprint(n), change < changes-1, fmt.Sprintf("%02d/%d", n, change))
			}
		}
		_, stop := sending(t, s, to)
		time.Sleep(time.Hour)
		stop()
		if len(to.taken) != activities*changes {
			t.Errorf("%d were taken, want %d", len(to.taken), activities*changes)
		}
		for n := range activities {
			var order []string
			for _, id := range to.taken {
				if strings.HasPrefix(id, fmt.Sprintf("%02d/", n)) {
					order = append(order, id)
				}
			}
			if !slices.IsSorted(order) || len(slices.Compact(order)) != changes {
				t.Errorf("activity %d: %q", n, order)
			}
		}
	})
}

// TestHalfFailing: an endpoint that fails half of the time slows nothing down much, and one
// that takes a second to answer is sent many events at once.
func TestHalfFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		const activities = 2000
		for n := range activities {
			add(t, s, fmt.Sprint("org", n%20), fmt.Sprint(n), false, fmt.Sprint(n))
		}
		draw := rand.New(rand.NewPCG(1, 2))
		to := &receiver{takes: 100 * time.Millisecond, answer: func(string, int) (int, error) {
			return []int{http.StatusOK, http.StatusServiceUnavailable}[draw.IntN(2)], nil
		}}
		sender, stop := sending(t, s, to)
		time.Sleep(time.Minute)
		if stats := sender.Stats(); stats.Delivered < activities*9/10 {
			t.Errorf("after a minute %+v", stats)
		}
		time.Sleep(time.Hour)
		stop()
		if stats := sender.Stats(); stats.Delivered != activities || stats.Dropped > 0 || len(to.taken) != activities {
			t.Errorf("%+v", stats)
		}
	})
}

// TestAway: an endpoint that is away is not tried with each of the events that wait.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, down := memory.New(0), true
		to := &receiver{answer: func(string, int) (int, error) {
			if down {
				return 0, errors.New("connection refused")
			}
			return http.StatusOK, nil
		}}
		for n := range 500 {
			add(t, s, fmt.Sprint("org", n%5), fmt.Sprint(n), false, fmt.Sprint(n))
		}
		_, stop := sending(t, s, to)
		time.Sleep(time.Hour)
		synctest.Wait()
		to.mu.Lock()
		tried := len(to.tried)
		down = false
		to.mu.Unlock()
		if tried < 20 || tried > 60 {
			t.Errorf("%d attempts in an hour", tried)
		}
		time.Sleep(2 * longPause)
		stop()
		if len(to.taken) != 500 {
			t.Errorf("%d were taken afterwards", len(to.taken))
		}
	})
}

// TestRefusedEvent: an event that the endpoint never takes holds up its own activity only.
func TestRefusedEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		to := &receiver{answer: func(id string, _ int) (int, error) {
			if id == "bad" {
				return http.StatusBadRequest, nil
			}
			return http.StatusOK, nil
		}}
		add(t, s, "one", "a", true, "bad")
		add(t, s, "one", "a", false, "behind it")
		for n := range 5 {
			add(t, s, "one", fmt.Sprint(n), false, fmt.Sprint("other ", n))
		}
		_, stop := sending(t, s, to)
		time.Sleep(time.Hour)
		stop()
		if len(to.taken) != 5 || slices.Contains(to.taken, "behind it") {
			t.Errorf("%q", to.taken)
		}
	})
}

// poisons are the ways in which an endpoint does not take an event because of what it says.
var poisons = map[string]func() (int, error){
	"refused":      func() (int, error) { return http.StatusInternalServerError, nil },
	"cut off":      func() (int, error) { return 0, errors.New("connection reset") },
	"not answered": func() (int, error) { time.Sleep(timeout); return 0, context.DeadlineExceeded }, // virtual time
}

// TestPoison: however many events of some organizations the endpoint does not take, those of
// another are taken within seconds, and their own good ones before long.
func TestPoison(t *testing.T) {
	for name, poison := range poisons {
		for _, poisoned := range []int{1, 3} { // organizations
			t.Run(fmt.Sprint(name, " of ", poisoned), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { poisonedBy(t, poison, poisoned, store.MaxEvents/poisoned) })
			})
		}
	}
}

func poisonedBy(t *testing.T, poison func() (int, error), organizations, each int) {
	s := memory.New(1 << 30)
	for n := range organizations * each {
		add(t, s, fmt.Sprint("bad ", n%organizations), fmt.Sprint(n), false, fmt.Sprint("poison ", n))
	}
	to := &receiver{takes: 10 * time.Millisecond}
	late := map[string]time.Duration{}
	to.before = func(id string) (int, error) {
		if strings.HasPrefix(id, "poison") {
			return poison()
		}
		return http.StatusOK, nil
	}
	sender, stop := sending(t, s, to)
	for n := range 20 {
		time.Sleep(31 * time.Second) // virtual time
		id := fmt.Sprint("good ", n)
		added := time.Now()
		add(t, s, "good", id, false, id)
		for late[id] == 0 {
			time.Sleep(100 * time.Millisecond) // virtual time
			to.mu.Lock()
			if slices.Contains(to.taken, id) || time.Since(added) > time.Hour {
				late[id] = time.Since(added)
			}
			to.mu.Unlock()
		}
		if late[id] > 5*time.Second {
			t.Errorf("%s came %v late", id, late[id])
		}
	}
	synctest.Wait()
	if stats := sender.Stats(); stats.Waiting != organizations*each || stats.Delivered != 20 {
		t.Errorf("%+v", stats)
	}
	stop()
}

// TestOwnPoison: 220 events that the endpoint refuses hold up neither those of the same
// organization behind them, nor later ones.
func TestOwnPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		to := &receiver{answer: func(id string, _ int) (int, error) {
			if strings.HasPrefix(id, "000999") {
				return http.StatusInternalServerError, nil
			}
			return http.StatusNoContent, nil
		}}
		to.status = http.StatusNoContent
		for n := range 220 {
			add(t, s, "one", fmt.Sprint("a", n), false, fmt.Sprint("000999 ", n))
		}
		for n := range 5 {
			add(t, s, "one", fmt.Sprint("b", n), false, fmt.Sprint("000123 ", n))
		}
		_, stop := sending(t, s, to)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(to.taken) != 5 {
			t.Errorf("after a minute: %q", to.taken)
		}
		time.Sleep(time.Hour)
		add(t, s, "one", "c", false, "000124")
		time.Sleep(5 * time.Second)
		stop()
		if len(to.taken) != 6 {
			t.Errorf("after an hour: %q", to.taken)
		}
	})
}

// TestUnreachable: the pauses grow to five minutes, and after three days events are dropped and
// counted. Requests are recorded all the while.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		down := true
		to := &receiver{answer: func(string, int) (int, error) {
			if down {
				return 0, errors.New("no route to host")
			}
			return http.StatusOK, nil
		}}
		add(t, s, "one", "a", false, "a")
		sender, stop := sending(t, s, to)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			if got := to.tried[i+1].Sub(to.tried[i]); got < want*time.Second || got > want*time.Second+2*poll {
				t.Errorf("pause %d is %v, want about %v", i, got, want*time.Second)
			}
		}
		if stats := sender.Stats(); stats.Waiting != 1 || stats.Oldest.IsZero() || stats.Failed == 0 {
			t.Errorf("%+v", stats)
		}
		time.Sleep(KeepFor)
		synctest.Wait()
		add(t, s, "one", "b", false, "b")
		to.mu.Lock()
		down = false
		to.mu.Unlock()
		time.Sleep(2 * longPause)
		stop()
		if stats := sender.Stats(); stats.Dropped != 1 || stats.Delivered != 1 || !slices.Equal(to.taken, []string{"b"}) {
			t.Errorf("%+v, taken %q", stats, to.taken)
		}
	})
}

// leased is an outbox of several nodes.
type leased struct {
	store.Outbox
	mu     sync.Mutex
	holder uint64
	until  time.Time
}

func (l *leased) HoldOutbox(_ context.Context, holder uint64, ttl time.Duration, _ time.Time) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != holder && time.Now().Before(l.until) {
		return false, nil
	}
	l.holder, l.until = holder, time.Now().Add(ttl)
	return true, nil
}

// TestTwoNodes: one of two nodes delivers. When it stops, the other takes over.
func TestTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, to := memory.New(0), new(receiver)
		outbox := &leased{Outbox: s}
		one, stopOne := sending(t, outbox, to)
		time.Sleep(time.Second)
		other, stopOther := sending(t, outbox, to)
		for n := range 10 {
			add(t, s, "one", fmt.Sprint(n), false, fmt.Sprint(n))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		if len(to.taken) != 10 || one.Stats().Delivered != 10 || other.Stats().Delivered != 0 {
			t.Errorf("%q, %+v and %+v", to.taken, one.Stats(), other.Stats())
		}
		stopOne()
		add(t, s, "one", "last", false, "last")
		time.Sleep(2 * leaseTTL)
		stopOther()
		if other.Stats().Delivered != 1 || len(to.taken) != 11 {
			t.Errorf("%q, %+v", to.taken, other.Stats())
		}
	})
}

// TestEndpoints refuses endpoints that could be overheard, and follows no redirect.
func TestEndpoints(t *testing.T) {
	for _, url := range []string{"", "http://events.example/", "ftp://localhost/", "https://", "//x"} {
		if _, err := New(Config{URL: url}); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		to := &receiver{answer: func(string, int) (int, error) { return http.StatusTemporaryRedirect, nil }}
		add(t, s, "one", "a", false, "a")
		sender, stop := sending(t, s, to)
		time.Sleep(time.Second / 2)
		stop()
		if len(to.tried) != 1 || sender.Stats().Failed != 1 {
			t.Errorf("%d attempts, %+v", len(to.tried), sender.Stats())
		}
	})
}

// TestOthers: a user whose requests are refused all day makes one event a minute, which evicts
// nothing, and types that are not wanted are not told.
func TestOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		conflicts := []string{"one"}
		others := &Others{
			Outbox: s, Types: []activity.EventType{activity.EventRefused, activity.EventLogConflict}, Logger: slog.New(slog.DiscardHandler),
			Now: time.Now, Conflict: func() []string { return conflicts },
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { others.Run(ctx) })
		for range 5 {
			for i := range 400 {
				others.Observe(countersign.Observation{OrganizationID: "one", UserID: "bot", Reason: activity.ReasonNotAuthorized, Rule: []string{"", "day"}[i%2]})
			}
			others.Observe(countersign.Observation{OrganizationID: "one", UserID: "bot"})
			others.Observe(countersign.Observation{OrganizationID: "one", Reason: activity.ReasonNotAuthorized})
			time.Sleep(time.Minute + time.Second)
		}
		others.Tell(ctx, activity.EventReloaded, activity.EventData{})
		cancel()
		running.Wait()
		events, _, err := s.Events(t.Context(), 100, nil)
		if err != nil || len(events) != 11 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		counted := 0
		for _, one := range events {
			if !one.Second {
				t.Errorf("%s is of the first class", one.Data)
			}
			for _, rules := range []string{"", `,"rules":["day"]`} {
				if strings.Contains(string(one.Data), `"userId":"bot"`+rules+`,"reason":"REQUEST_NOT_AUTHORIZED","count":200`) {
					counted++
				}
			}
		}
		if counted != 10 {
			t.Errorf("%d of the bot: %s", counted, events[0].Data)
		}
	})
}

// TestReloads checks that the first reload in a minute is told at once, and the others together.
func TestReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(0)
		others := &Others{Outbox: s, Types: []activity.EventType{activity.EventReloaded}, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { others.Run(ctx) })
		told := func(want int, last string) {
			t.Helper()
			events, _, err := s.Events(t.Context(), 100, nil)
			if err != nil || len(events) != want || !strings.Contains(string(events[want-1].Data), last) {
				t.Fatalf("%v, %v", events, err)
			}
		}
		for range 400 {
			others.Reloaded(ctx)
		}
		told(1, `"data":{}`)
		time.Sleep(time.Minute + time.Second)
		told(2, `"count":399`)
		others.Reloaded(ctx)
		told(3, `"data":{}`)
		time.Sleep(2 * time.Minute)
		told(3, `"data":{}`)
		cancel()
		running.Wait()
	})
}

// TestRing keeps the latest events, whether or not they go on to the outbox.
func TestRing(t *testing.T) {
	for _, keep := range []bool{false, true} {
		inner := memory.New(0)
		s := &Store{Full: inner, Ring: new(Ring), Keep: keep}
		begun, err := s.Begin(t.Context(), store.Claim{OrganizationID: "one", LeaseTTL: time.Minute, Now: time.Now()}, nil)
		testenv.Must(t, err)
		done := store.Activity{ID: "a", Waiting: true, Event: &store.Event{ID: "1", Data: []byte(`{}`)}, KeepUntil: time.Now().Add(time.Hour)}
		testenv.Must(t, s.Complete(t.Context(), *begun.Lease, done, nil))
		if err := s.Complete(t.Context(), *begun.Lease, done, nil); err == nil {
			t.Error("completed twice")
		}
		done.OrganizationID, done.Revision, done.Event = "one", 1, &store.Event{ID: "2", Data: []byte(`{}`)}
		testenv.Must(t, s.Replace(t.Context(), done, time.Now(), nil))
		for n := range ringSize {
			testenv.Must(t, s.AddEvents(t.Context(), "one", []store.Event{{ID: fmt.Sprint(3 + n), Data: []byte(`{"n":1}`)}}))
		}
		var ids []string
		for after := uint64(0); ; {
			page := s.Ring.After(after)
			if len(page) == 0 {
				break
			}
			for _, one := range page {
				ids, after = append(ids, one.ID), one.Place
			}
		}
		if len(ids) != ringSize || ids[0] != "3" || ids[ringSize-1] != fmt.Sprint(ringSize+2) {
			t.Errorf("%d events from %s to %s", len(ids), ids[0], ids[len(ids)-1])
		}
		if kept, _, err := inner.Events(t.Context(), store.MaxEvents, nil); err != nil || len(kept) > 0 != keep {
			t.Errorf("keep %v: %d in the outbox, %v", keep, len(kept), err)
		}
	}
}
