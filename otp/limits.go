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

// withDefaults returns the limits with defaults for zero fields.
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

// counters are the keys of the meters that count one message.
type counters struct {
	user, to     otpledger.MeterKey
	sends        otpledger.MeterKey // of the user: what was sent of the type
	organization otpledger.MeterKey // what was sent of the type, and what failed
	credential   otpledger.MeterKey // what was sent of the type
}

// counted is those meters.
type counted struct {
	pair
	keys                            counters
	sends, organization, credential otpledger.Meter
}

// lockAll locks and returns all meters that count a message.
func lockAll(ledger otpledger.Ledger, keys counters) (counted, error) {
	meters, err := ledger.Meters(keys.user, keys.to, keys.sends, keys.organization, keys.credential)
	if err != nil {
		return counted{}, err
	}
	return counted{
		pair: pair{keys.user, keys.to, meters[0], meters[1]}, keys: keys,
		sends: meters[2], organization: meters[3], credential: meters[4],
	}, nil
}

// save saves all meters; that of the credential only if it counts anything.
func (c *counted) save(ledger otpledger.Ledger, limits *SendLimits) error {
	err := errors.Join(c.pair.save(ledger), ledger.SetMeter(c.keys.sends, c.sends), ledger.SetMeter(c.keys.organization, c.organization))
	if limits.Credential.Count > 0 {
		err = errors.Join(err, ledger.SetMeter(c.keys.credential, c.credential))
	}
	return err
}

// pair is the two meters that count one user's codes to one contact.
type pair struct {
	userKey, toKey otpledger.MeterKey
	user, to       otpledger.Meter
}

// lockPair locks and returns the meters of a user and a contact.
func lockPair(ledger otpledger.Ledger, user, to otpledger.MeterKey) (pair, error) {
	meters, err := ledger.Meters(user, to)
	if err != nil {
		return pair{}, err
	}
	return pair{user, to, meters[0], meters[1]}, nil
}

func (p *pair) save(ledger otpledger.Ledger) error {
	if err := ledger.SetMeter(p.userKey, p.user); err != nil {
		return err
	}
	return ledger.SetMeter(p.toKey, p.to)
}

// check checks whether a rate allows one more event for both the user and the
// contact. events selects the list of a meter that the rate bounds.
func (p *pair) check(name LimitName, rate Rate, events func(*otpledger.Meter) []otpledger.Event, now time.Time) error {
	wait := max(
		rate.wait(events(&p.user), now, unlimitedShare),
		rate.wait(events(&p.to), now, rate.share()),
	)
	return limited(name, rate, wait)
}

func limited(name LimitName, rate Rate, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &LimitError{Limit: name, Rate: rate, RetryAfter: wait}
}

func failed(m *otpledger.Meter) []otpledger.Event { return m.Failed }
func tried(m *otpledger.Meter) []otpledger.Event  { return m.Tried }
