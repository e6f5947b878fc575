package otp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
)

// Limits bound what one organization sends and tries. A zero field means its
// default. A user is what the request's userIdentifier names; all requests without
// one for the same contact count as one user.
//
// Sends to the organization, failed deliveries to it, and sends of a user count apart for
// e-mails and text messages. A contact is of one type anyway.
//
// A message handed to the sender counts as a send until the sender reports that it could not be
// delivered; then it counts as a failed delivery instead. A try counts if a live code was compared
// and was wrong, once per request however often that is replayed. Right codes do not count, nor do
// unknown, expired, used and dead ones, which are not compared.
//
// Sends, failed deliveries and tries count for the user and for the contact, each of
// which has the rate to itself. One user can use up all but one of a contact's rate,
// so that flooding an address from one account cannot lock out its owner.
type Limits struct {
	Sends                Rate // per user and per contact
	OrganizationSends    Rate
	Failures             Rate // failed deliveries, per user and per contact
	OrganizationFailures Rate
	HourlyTries          Rate // wrong tries over all codes, per user and per contact
	DailyTries           Rate

	// Email and SMS replace the rates of sends for one type of message.
	Email, SMS SendLimits

	// LiveCodes is how many codes of a user or of a contact can be live. One
	// more kills the oldest of the same user, or else the oldest of all.
	LiveCodes int

	// TriesPerCode is how many different requests can try a code. At most 100.
	TriesPerCode int

	// MaxExpiration is the longest lifetime that a request can ask for.
	MaxExpiration time.Duration
}

// SendLimits bound what is sent of one type of message.
type SendLimits struct {
	Organization Rate // default: Limits.OrganizationSends
	Contact      Rate // per user and per contact; default: Limits.Sends
	Credential   Rate // of the requests with one Request.Credential; default: none
}

// of returns the limits of sends of a type. Without a rate for credentials, its Count is 0.
func (l *Limits) of(kind Type) SendLimits {
	limits := l.Email
	if kind == TypeSMS {
		limits = l.SMS
	}
	limits.Organization = cmp.Or(limits.Organization, l.OrganizationSends)
	limits.Contact = cmp.Or(limits.Contact, l.Sends)
	return limits
}

// Defaults of Limits.
const (
	DefaultSends                      = 3
	DefaultSendsWindow                = 3 * time.Minute
	DefaultOrganizationSends          = 1000
	DefaultOrganizationSendsWindow    = time.Hour
	DefaultFailures                   = 5
	DefaultFailuresWindow             = 3 * time.Minute
	DefaultOrganizationFailures       = 1000
	DefaultOrganizationFailuresWindow = 3 * time.Minute
	DefaultHourlyTries                = 10
	DefaultDailyTries                 = 50
	DefaultLiveCodes                  = 3
	DefaultTriesPerCode               = 3
	DefaultMaxExpiration              = 10 * time.Minute
)

func (l Limits) withDefaults() Limits {
	l.Sends = cmp.Or(l.Sends, Rate{DefaultSends, DefaultSendsWindow})
	l.OrganizationSends = cmp.Or(l.OrganizationSends, Rate{DefaultOrganizationSends, DefaultOrganizationSendsWindow})
	l.Failures = cmp.Or(l.Failures, Rate{DefaultFailures, DefaultFailuresWindow})
	l.OrganizationFailures = cmp.Or(l.OrganizationFailures, Rate{DefaultOrganizationFailures, DefaultOrganizationFailuresWindow})
	l.HourlyTries = cmp.Or(l.HourlyTries, Rate{DefaultHourlyTries, time.Hour})
	l.DailyTries = cmp.Or(l.DailyTries, Rate{DefaultDailyTries, 24 * time.Hour})
	l.LiveCodes = cmp.Or(l.LiveCodes, DefaultLiveCodes)
	l.TriesPerCode = cmp.Or(l.TriesPerCode, DefaultTriesPerCode)
	l.MaxExpiration = cmp.Or(l.MaxExpiration, DefaultMaxExpiration)
	return l
}

// longestWindow bounds the window of every rate, and so how long meters are kept.
const longestWindow = 24 * time.Hour

// maxTriesPerCode bounds the fingerprints that are stored with a code.
const maxTriesPerCode = 100

type namedRate struct {
	name LimitName
	rate Rate
}

// check returns what is wrong with limits that have their defaults.
func (l Limits) check() error {
	limits := []namedRate{
		{LimitSends, l.Sends}, {LimitOrganizationSends, l.OrganizationSends},
		{LimitFailures, l.Failures}, {LimitOrganizationFailures, l.OrganizationFailures},
		{LimitHourlyTries, l.HourlyTries}, {LimitDailyTries, l.DailyTries},
	}
	for _, kind := range []Type{TypeEmail, TypeSMS} {
		of := l.of(kind)
		limits = append(limits, namedRate{LimitSends, of.Contact}, namedRate{LimitOrganizationSends, of.Organization})
		if of.Credential != (Rate{}) {
			limits = append(limits, namedRate{LimitCredentialSends, of.Credential})
		}
	}
	for _, limit := range limits {
		if err := limit.rate.Check(); err != nil {
			return fmt.Errorf("otp: limit of %s: %w", limit.name, err)
		}
	}
	if l.LiveCodes < 1 || l.TriesPerCode < 1 || l.TriesPerCode > maxTriesPerCode || l.MaxExpiration < time.Second {
		return fmt.Errorf("otp: limits of %d live codes, %d tries per code and a lifetime of %v: they must be at "+
			"least 1, between 1 and %d, and at least 1 s",
			l.LiveCodes, l.TriesPerCode, l.MaxExpiration, maxTriesPerCode)
	}
	return nil
}

// Which meters count a message: the user's and the contact's, then what the user was sent of its
// type, what the organization was, with what failed, and what the credential sent, if that is limited.
const (
	ofUser = iota
	ofContact
	ofUserSends
	ofOrganization
	ofCredential
)

// meters are some of those, locked.
type meters struct {
	keys []otpledger.MeterKey
	list []otpledger.Meter
}

func lock(ledger otpledger.Ledger, keys ...otpledger.MeterKey) (meters, error) {
	list, err := ledger.Meters(keys...)
	return meters{keys, list}, err
}

func (m *meters) save(ledger otpledger.Ledger) (err error) {
	for i, key := range m.keys {
		err = errors.Join(err, ledger.SetMeter(key, m.list[i]))
	}
	return err
}

// tally is a list of events of a meter, and the rate that bounds it.
type tally struct {
	limit  LimitName
	rate   Rate
	share  int // of the rate that a single user may consume
	meter  *otpledger.Meter
	events *[]otpledger.Event
	by     uint64 // the user; 0 where all are one
}

// shared are the tallies of a user and of a contact under one rate. events selects a list of a meter.
func (m *meters) shared(limit LimitName, rate Rate, user int,
	events func(*otpledger.Meter) *[]otpledger.Event) []tally {
	by, of, to := m.keys[ofUser].Tag(), &m.list[user], &m.list[ofContact]
	return []tally{
		{limit, rate, unlimitedShare, of, events(of), by}, {limit, rate, rate.share(), to, events(to), by},
	}
}

func (m *meters) sends(limits *SendLimits) []tally {
	organization := &m.list[ofOrganization]
	all := append(m.shared(LimitSends, limits.Contact, ofUserSends, sent),
		tally{LimitOrganizationSends, limits.Organization, unlimitedShare, organization, &organization.Sent, 0})
	if len(m.list) > ofCredential {
		credential := &m.list[ofCredential]
		all = append(all,
			tally{LimitCredentialSends, limits.Credential, unlimitedShare, credential, &credential.Sent, 0})
	}
	return all
}

func (m *meters) failures(limits *Limits) []tally {
	organization := &m.list[ofOrganization]
	return append(m.shared(LimitFailures, limits.Failures, ofUser, failed), tally{LimitOrganizationFailures,
		limits.OrganizationFailures, unlimitedShare, organization, &organization.Failed, 0})
}

// check returns a *LimitError if a rate does not allow one more event: that of the first such
// limit, for as long as any of its tallies is full.
func check(tallies []tally, now time.Time) error {
	var refused *LimitError
	for i := range tallies {
		t := &tallies[i]
		wait := t.rate.wait(*t.events, now, t.share)
		if wait > 0 && (refused == nil || t.limit == refused.Limit && wait > refused.RetryAfter) {
			refused = &LimitError{Limit: t.limit, Rate: t.rate, RetryAfter: wait}
		}
	}
	if refused == nil {
		return nil
	}
	return refused
}

func count(tallies []tally, at time.Time) {
	for i := range tallies {
		t := &tallies[i]
		t.rate.count(t.meter, t.events, at, t.by)
	}
}

func sent(m *otpledger.Meter) *[]otpledger.Event   { return &m.Sent }
func failed(m *otpledger.Meter) *[]otpledger.Event { return &m.Failed }
func tried(m *otpledger.Meter) *[]otpledger.Event  { return &m.Tried }

// Rate allows at most Count events in any Window: a sliding one, not a calendar hour.
type Rate struct {
	Count  int
	Window time.Duration // at most a day
}

// Check returns an error unless a rate allows at least one event, in a window from one
// second to one day.
func (r Rate) Check() error {
	if r.Count < 1 || r.Window < time.Second || r.Window > longestWindow {
		return fmt.Errorf("%d in %v: the count must be at least 1 and the window between 1 s and %v", r.Count, r.Window, longestWindow)
	}
	return nil
}

// exactEvents is the largest count for which a meter keeps events to the
// millisecond. For larger ones their times are rounded up to multiples of a 1024th
// of the window, so that a window never allows more than Count.
const exactEvents = 1024

func (r Rate) step() int64 {
	if r.Count <= exactEvents {
		return 1
	}
	return max(1, r.Window.Milliseconds()/exactEvents)
}

// unlimitedShare lets a single user consume the whole rate.
const unlimitedShare = math.MaxInt

// share is the part of a contact's rate that a single user may consume: Count−1, but at least 1, so
// that flooding an address cannot lock out its owner. A window may exceed Count by at most one.
func (r Rate) share() int { return max(1, r.Count-1) }

// wait returns how long it takes until one more event is allowed: zero if it is
// allowed at now. No user counts for more than share.
func (r Rate) wait(events []otpledger.Event, now time.Time, share int) time.Duration {
	window := r.Window.Milliseconds()
	events = since(events, now.UnixMilli()-window)
	byUser := map[uint64]int{}
	total := 0
	for _, event := range events {
		before := byUser[event.By]
		byUser[event.By] = before + int(event.N)
		total += min(before+int(event.N), share) - min(before, share)
	}
	for _, event := range events {
		if total < r.Count {
			return 0
		}
		before := byUser[event.By]
		byUser[event.By] = before - int(event.N)
		total -= min(before, share) - min(before-int(event.N), share)
		if total < r.Count {
			return time.UnixMilli(event.At + window).Sub(now)
		}
	}
	if total < r.Count {
		return 0
	}
	return r.Window // a rate that allows no events
}

// count adds an event to one of the meter's lists, and keeps the meter for as long
// as the event matters.
func (r Rate) count(meter *otpledger.Meter, events *[]otpledger.Event, at time.Time, by uint64) {
	*events = r.add(*events, at, by)
	meter.Until = max(meter.Until, roundUp(at.UnixMilli(), r.step())+r.Window.Milliseconds())
}

// add adds an event, and removes those that have left the window.
func (r Rate) add(events []otpledger.Event, at time.Time, by uint64) []otpledger.Event {
	ms := roundUp(at.UnixMilli(), r.step())
	events = since(events, ms-r.Window.Milliseconds())
	i := len(events)
	for i > 0 && events[i-1].At > ms {
		i--
	}
	if i > 0 && events[i-1].At == ms && events[i-1].By == by {
		events[i-1].N++
		return events
	}
	return slices.Insert(events, i, otpledger.Event{At: ms, By: by, N: 1})
}

// remove takes back an event that add has added.
func (r Rate) remove(events []otpledger.Event, at time.Time, by uint64) []otpledger.Event {
	ms := roundUp(at.UnixMilli(), r.step())
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].At != ms || events[i].By != by {
			continue
		}
		if events[i].N > 1 {
			events[i].N--
			return events
		}
		return slices.Delete(events, i, i+1)
	}
	return events
}

// since returns a copy of the events after ms: an event that is exactly one window old has left it.
func since(events []otpledger.Event, ms int64) []otpledger.Event {
	first := slices.IndexFunc(events, func(event otpledger.Event) bool { return event.At > ms })
	if first < 0 {
		return nil
	}
	return slices.Clone(events[first:])
}

func roundUp(ms, step int64) int64 {
	if over := ms % step; over > 0 {
		return ms + step - over
	}
	return ms
}
