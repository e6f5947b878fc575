package otp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// DefaultDeliveryTimeout is the default of Config.DeliveryTimeout.
const DefaultDeliveryTimeout = 20 * time.Second

// Store is what a [Service] needs of a store.Store. An engine makes these changes
// in the transaction of an activity instead.
type Store interface {
	// Change makes a change in a transaction of its own and returns its refusal
	// or its error. A nil error means that the change is durable.
	Change(ctx context.Context, organizationID string, change store.Change) error
}

// Config configures a Service. Store, Secret and at least one sender are required.
type Config struct {
	Store  Store
	Secret Secret // at least MinSecretSize random bytes, the same on all nodes of a store
	Email  Sender // nil: requests for e-mails are refused
	SMS    Sender // nil: requests for text messages are refused

	// Limits apply to each organization separately.
	Limits Limits

	// Templates are e-mail templates by templateId.
	Templates map[string]Template

	// SenderDomains are the domains that sendFromEmailAddress may have. Default: none.
	SenderDomains []string

	// Countries are the beginnings of the phone numbers that text messages are sent to,
	// such as +49. Default: all numbers but those of premium-rate, shared-cost and
	// satellite services. These are refused with a list too, unless it names a service by
	// its calling code (+881) or a range by more than the country's (+1900).
	Countries []string

	// DeliveryTimeout bounds one call of a sender. Default: DefaultDeliveryTimeout.
	DeliveryTimeout time.Duration

	// Clock returns the time for Issue and Verify. Default: time.Now.
	Clock func() time.Time
}

// Service issues one-time passwords and verifies them. It is safe for concurrent use.
type Service struct {
	store     Store
	secret    Secret
	email     Sender
	sms       Sender
	limits    Limits
	templates map[string]Template
	domains   []string
	countries countries
	timeout   time.Duration
	clock     func() time.Time
	random    io.Reader
}

// New returns a service, or an error that names the invalid setting.
func New(config Config) (*Service, error) {
	s := &Service{
		store:     config.Store,
		secret:    config.Secret,
		email:     config.Email,
		sms:       config.SMS,
		limits:    config.Limits.withDefaults(),
		templates: maps.Clone(config.Templates),
		countries: slices.Clone(config.Countries),
		timeout:   config.DeliveryTimeout,
		clock:     config.Clock,
		random:    rand.Reader,
	}
	if s.store == nil {
		return nil, errors.New("otp: Config.Store is missing: set one of store/memory, store/bolt or store/postgres")
	}
	if s.email == nil && s.sms == nil {
		return nil,
			errors.New("otp: Config.Email and Config.SMS are missing: set at least one, such as a sender of otp/smtp or otp/webhook")
	}
	if err := errors.Join(checkSecret(s.secret), s.limits.check(), s.countries.check(), s.setDomains(config.SenderDomains)); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(s.templates)) {
		template := s.templates[id]
		if err := template.check(); err != nil {
			return nil, fmt.Errorf("otp: template %q: %w", id, err)
		}
	}
	if s.timeout <= 0 {
		s.timeout = DefaultDeliveryTimeout
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s, nil
}

func (s *Service) setDomains(domains []string) error {
	for _, domain := range domains {
		canonical, rule := canonicalEmail("a@" + domain)
		if rule != "" {
			return fmt.Errorf("otp: sender domain %q is not a domain name", domain)
		}
		s.domains = append(s.domains, strings.ToLower(domainOf(canonical)))
	}
	return nil
}

// Limits returns the limits in force.
func (s *Service) Limits() Limits { return s.limits }

func (s *Service) sender(kind Type) Sender {
	if kind == TypeSMS {
		return s.sms
	}
	return s.email
}

// Now returns the time of the service's clock.
func (s *Service) Now() time.Time { return s.clock() }

// Issue sends a one-time password and returns its id, for embedders that do not
// submit activities. It returns a *ParameterError, a *LimitError, an error that
// wraps ErrDelivery, or the store's error.
func (s *Service) Issue(ctx context.Context, organizationID, organizationName string, request Request) (id string, err error) {
	issue, err := s.Prepare(organizationID, organizationName, request)
	if err != nil {
		return "", err
	}
	if err := s.store.Change(ctx, organizationID, issue.Reserve(s.clock())); err != nil {
		return "", err
	}
	if err := issue.Deliver(ctx); err != nil {
		// Recorded even if the request has been cancelled.
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		return "", errors.Join(err, s.store.Change(after, organizationID, issue.Failed(s.clock())))
	}
	if err := s.store.Change(ctx, organizationID, issue.Activate(s.clock())); err != nil {
		return "", err
	}
	return issue.ID(), nil
}

// Verify uses up a one-time password and returns what it proves, for embedders that
// do not submit activities. Each call counts as a separate request. It returns a
// *CodeError, a *LimitError, or the store's error.
func (s *Service) Verify(ctx context.Context, organizationID, id, typed string) (Verified, error) {
	var by store.Fingerprint
	if _, err := io.ReadFull(rand.Reader, by[:]); err != nil {
		return Verified{}, err
	}
	verification, err := s.PrepareVerification(organizationID, id, typed, by)
	if err != nil {
		return Verified{}, err
	}
	if err := s.store.Change(ctx, organizationID, verification.Attempt(s.clock())); err != nil {
		return Verified{}, err
	}
	if err := s.store.Change(ctx, organizationID, verification.Consume()); err != nil {
		return Verified{}, err
	}
	return verification.Verified()
}
