package otp

import (
	"cmp"
	"errors"
	"fmt"
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
// A message handed to the sender counts as a send until the sender reports that it
// could not be delivered; then it counts as a failed delivery instead. A try counts
// if a live code was compared and was wrong, once per request however often that is
// replayed. Right codes do not count, nor do unknown, expired, used and dead ones,
// which are not compared.
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
