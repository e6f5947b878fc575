package otp

import (
	"fmt"
	"time"
)

// Limits of one organization. A zero field means its default. A user is who
// the request's userIdentifier names; without one, all requests for that
// contact without one.
//
// What counts: a message that was handed to the sender counts as a send, until
// the sender reports that it could not be delivered; then it counts as a failed
// delivery instead. A try counts when a live code was compared and was wrong,
// once for each request, however often that is replayed; tries of codes that
// are unknown, expired, used or dead compare nothing and count nothing, and
// neither does a right one.
//
// A send, a failed delivery and a try count for the user and for the contact,
// and each has the rate to itself. Of the contact's rate one user can use up
// all but one: flooding an address from one account leaves its owner
// a way in.
type Limits struct {
	Sends                Rate // per user and per contact
	OrganizationSends    Rate
	Failures             Rate // failed deliveries, per user and per contact
	OrganizationFailures Rate
	HourlyTries          Rate // wrong tries over all codes, per user and per contact
	DailyTries           Rate

	// LiveCodes is how many codes of a user or of a contact can be live. One
	// more kills the oldest: of the same user, if that user has another.
	LiveCodes int

	// TriesPerCode is how many different requests can try a code.
	TriesPerCode int

	// MaxExpiration is the longest life that a request can ask for.
	MaxExpiration time.Duration
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

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	rate := func(r *Rate, count int, window time.Duration) {
		if *r == (Rate{}) {
			*r = Rate{count, window}
		}
	}
	rate(&l.Sends, DefaultSends, DefaultSendsWindow)
	rate(&l.OrganizationSends, DefaultOrganizationSends, DefaultOrganizationSendsWindow)
	rate(&l.Failures, DefaultFailures, DefaultFailuresWindow)
	rate(&l.OrganizationFailures, DefaultOrganizationFailures, DefaultOrganizationFailuresWindow)
	rate(&l.HourlyTries, DefaultHourlyTries, time.Hour)
	rate(&l.DailyTries, DefaultDailyTries, 24*time.Hour)
	if l.LiveCodes == 0 {
		l.LiveCodes = DefaultLiveCodes
	}
	if l.TriesPerCode == 0 {
		l.TriesPerCode = DefaultTriesPerCode
	}
	if l.MaxExpiration == 0 {
		l.MaxExpiration = DefaultMaxExpiration
	}
	return l
}

// longestWindow bounds the windows of rates, and so how long meters are kept.
const longestWindow = 24 * time.Hour

// maxTriesPerCode bounds what is stored with a code.
const maxTriesPerCode = 100

func (l Limits) check() error {
	for _, one := range []struct {
		name LimitName
		rate Rate
	}{
		{LimitSends, l.Sends}, {LimitOrganizationSends, l.OrganizationSends},
		{LimitFailures, l.Failures}, {LimitOrganizationFailures, l.OrganizationFailures},
		{LimitHourlyTries, l.HourlyTries}, {LimitDailyTries, l.DailyTries},
	} {
		if one.rate.Count < 1 || one.rate.Window < time.Second || one.rate.Window > longestWindow {
			return fmt.Errorf("otp: limit of %s: %d in %v: a count of at least 1 in a window between a second and %v is expected",
				one.name, one.rate.Count, one.rate.Window, longestWindow)
		}
	}
	if l.LiveCodes < 1 || l.TriesPerCode < 1 || l.TriesPerCode > maxTriesPerCode || l.MaxExpiration < time.Second {
		return fmt.Errorf("otp: limits of %d live codes, %d tries per code, %v of life: at least 1, between 1 and %d, and at least a second are expected",
			l.LiveCodes, l.TriesPerCode, l.MaxExpiration, maxTriesPerCode)
	}
	return nil
}

// pair is the two meters that count one user at one contact.
type pair struct {
	userKey, toKey MeterKey
	user, to       Meter
}

// lockPair gets the two meters and the meters of more keys.
func lockPair(ledger Ledger, user, to MeterKey, more ...MeterKey) (pair, []Meter, error) {
	meters, err := ledger.Meters(append([]MeterKey{user, to}, more...)...)
	if err != nil {
		return pair{}, nil, err
	}
	return pair{user, to, meters[0], meters[1]}, meters[2:], nil
}

func (p *pair) save(ledger Ledger) error {
	if err := ledger.SetMeter(p.userKey, p.user); err != nil {
		return err
	}
	return ledger.SetMeter(p.toKey, p.to)
}

// check holds one more of something against a rate, for the user and for the
// contact.
func (p *pair) check(name LimitName, rate Rate, of func(*Meter) []Event, now time.Time) error {
	wait := max(
		rate.wait(of(&p.user), now, unlimitedShare),
		rate.wait(of(&p.to), now, rate.share()),
	)
	return limited(name, rate, wait)
}

func limited(name LimitName, rate Rate, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &LimitError{Limit: name, Rate: rate, RetryAfter: wait}
}

func sent(m *Meter) []Event   { return m.Sent }
func failed(m *Meter) []Event { return m.Failed }
func tried(m *Meter) []Event  { return m.Tried }
