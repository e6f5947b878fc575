// Package events delivers the events of a server's outbox to an endpoint, signed as Standard
// Webhooks 1.0.0 says (https://www.standardwebhooks.com), and keeps the latest for 'countersign
// events tail'.
//
// An event is in the outbox of the store before its activity is answered, and leaves it when
// the endpoint has taken it with a 2xx status: it is delivered at least once. Events about one
// activity arrive in order. While the endpoint fails, there is one growing pause for all
// events; an endpoint that cannot be reached delays and refuses no request.
package events

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
)

// How events are delivered.
const (
	KeepFor = 72 * time.Hour // after which an event that was not taken is dropped

	timeout    = 15 * time.Second // of an attempt
	atOnce     = 16               // attempts under way
	patience   = 16               // unanswered attempts in a row after which the endpoint counts as away
	firstPause = time.Second      // after a failure; doubled by each further one
	longPause  = 5 * time.Minute
	leaseTTL   = time.Minute
	poll       = time.Second     // how often the outbox is looked at
	standby    = 5 * time.Second // how often a node that does not deliver asks whether it should
	trimEvery  = time.Minute
	perRound   = 200 // events of one organization that are looked at together
)

// Config configures a Sender.
type Config struct {
	Outbox  store.Outbox
	URL     string // https, or http on this machine
	Secrets webhook.Secrets
	Client  *http.Client // redirects are not followed; default: a new one
	Logger  *slog.Logger
	Now     func() time.Time
}

// Sender delivers events. Use New to create one. A nil Sender has sent nothing.
type Sender struct {
	config   Config
	endpoint *webhook.Endpoint
	holder   uint64

	trimmed  time.Time
	attempts sync.WaitGroup
	freed    chan struct{} // an attempt has ended

	holding sync.Mutex
	held    time.Time // when the lease on the outbox was last extended

	mu         sync.Mutex
	stats      Stats
	unanswered int           // attempts in a row
	pause      time.Duration // between probes; 0 unless the endpoint is away
	probeAt    time.Time
	probing    bool
	late       map[store.Lane]late
	busy       map[store.Lane]bool
	standing   map[string]*standing // by organization; those of which nothing is known are left out
	failing    int                  // attempts under way for organizations whose last one had failed
	warned     time.Time
	untold     int // failures since
}

// Stats says what became of events since the start, and what waits on the node that delivers.
type Stats struct {
	Delivered     uint64
	Failed        uint64 // attempts
	Dropped       uint64 // about activities: too old, or too many
	DroppedOthers uint64
	Waiting       int
	Oldest        time.Time // zero if none waits
}

// New returns a Sender, or an error that names the invalid setting.
func New(config Config) (*Sender, error) {
	endpoint, err := webhook.NewEndpoint(config.URL, config.Secrets, config.Client, timeout)
	if err != nil {
		return nil, err
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	if config.Now == nil {
		config.Now = time.Now
	}
	var holder [8]byte
	_, _ = rand.Read(holder[:]) // never fails
	return &Sender{
		config: config, endpoint: endpoint, holder: binary.BigEndian.Uint64(holder[:]), freed: make(chan struct{}, 1),
		late: map[store.Lane]late{}, busy: map[store.Lane]bool{}, standing: map[string]*standing{},
	}, nil
}

// Stats returns what became of events.
func (s *Sender) Stats() Stats {
	if s == nil {
		return Stats{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Sender) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}

// Run delivers events until the context ends.
func (s *Sender) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := poll
		held, err := s.round(ctx)
		if err != nil && ctx.Err() == nil {
			s.config.Logger.Warn("the outbox of events cannot be used", "cause", err)
		}
		if err != nil || !held {
			wait = standby
		}
		s.await(ctx, wait)
	}
	s.attempts.Wait()
}

// round reads what is in the outbox and due, if this node is to deliver, and begins to. It
// returns when all is begun, or after a while: what came meanwhile has its turn.
func (s *Sender) round(ctx context.Context) (held bool, err error) {
	if held, err = s.hold(ctx); err != nil || !held {
		return held, err
	}
	if err := s.trim(ctx); err != nil {
		return held, err
	}
	skip := s.passed()
	events, waiting, err := s.config.Outbox.Events(ctx, perRound, skip)
	if err != nil {
		return held, err
	}
	s.count(func(stats *Stats) { stats.Waiting, stats.Oldest = waiting.Events, waiting.Oldest })
	lanes := s.lanesOf(events)
	s.forget(skip, lanes)
	for until := s.config.Now().Add(poll); s.config.Now().Before(until); {
		if lanes = s.begin(ctx, lanes); len(lanes) == 0 || !s.await(ctx, poll) {
			break
		}
	}
	return held, nil
}

// await waits until an attempt has ended, and reports whether one has within a time.
func (s *Sender) await(ctx context.Context, d time.Duration) bool {
	select {
	case <-s.freed:
		return true
	case <-time.After(d):
	case <-ctx.Done():
	}
	return false
}

// hold takes the lease on the outbox, or extends it in time.
func (s *Sender) hold(ctx context.Context) (bool, error) {
	s.holding.Lock()
	defer s.holding.Unlock()
	if !s.held.IsZero() && s.config.Now().Sub(s.held) < leaseTTL/3 {
		return true, nil
	}
	now := s.config.Now()
	held, err := s.config.Outbox.HoldOutbox(ctx, s.holder, leaseTTL, now)
	if s.held = now; err != nil || !held {
		s.held = time.Time{}
	}
	return held, err
}

// trim drops events that are too old or too many.
func (s *Sender) trim(ctx context.Context) error {
	now := s.config.Now()
	if now.Sub(s.trimmed) < trimEvery {
		return nil
	}
	first, second, err := s.config.Outbox.TrimEvents(ctx, now.Add(-KeepFor))
	if err != nil {
		return err
	}
	s.trimmed = now
	if first > 0 {
		s.config.Logger.Error("events about activities were dropped: they were older than three days, or too many",
			"events", first)
	}
	s.count(func(stats *Stats) { stats.Dropped += uint64(first); stats.DroppedOthers += uint64(second) })
	return nil
}
