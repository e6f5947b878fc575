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
)

// DefaultDeliveryTimeout is how long a sender may take.
const DefaultDeliveryTimeout = 20 * time.Second

// Config is what a service is made of. Store and Secret are required, and a
// sender for each type that is to be served.
type Config struct {
	Store  Store
	Secret Secret // at least MinSecretSize random bytes, the same on all nodes of a store
	Email  Sender
	SMS    Sender

	// Limits hold within one organization. Default: the default of each.
	Limits Limits

	// Templates are e-mail templates by the templateId that asks for them.
	Templates map[string]Template

	// SenderDomains are the domains that a request may choose its sender's
	// address from. Default: none.
	SenderDomains []string

	// DeliveryTimeout is how long a sender may take. Default:
	// DefaultDeliveryTimeout.
	DeliveryTimeout time.Duration

	// Clock tells the time for Issue and Verify. Default: time.Now.
	Clock func() time.Time
}

// Service issues one-time passwords and verifies them. It is safe for
// concurrent use.
type Service struct {
	store     Store
	secret    Secret
	email     Sender
	sms       Sender
	limits    Limits
	templates map[string]Template
	domains   []string
	timeout   time.Duration
	clock     func() time.Time
	random    io.Reader
}

// New makes a service. It returns an error if the configuration cannot be right.
func New(config Config) (*Service, error) {
	s := &Service{
		store:     config.Store,
		secret:    config.Secret,
		email:     config.Email,
		sms:       config.SMS,
		limits:    config.Limits.withDefaults(),
		templates: maps.Clone(config.Templates),
		timeout:   config.DeliveryTimeout,
		clock:     config.Clock,
		random:    rand.Reader,
	}
	if s.store == nil {
		return nil, errors.New("otp: Config.Store is missing: use store/memory, store/bolt or store/postgres")
	}
	if err := errors.Join(checkSecret(s.secret), s.limits.check(), s.setDomains(config.SenderDomains)); err != nil {
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
			return fmt.Errorf("otp: sender domain %q is not the name of a domain", domain)
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

// Issue sends a one-time password and returns its id, for embedders who do not
// submit activities. It returns a *ParameterError, a *LimitError, an error that
// wraps ErrDelivery, or the store's.
func (s *Service) Issue(ctx context.Context, organizationID, organizationName string, request Request) (id string, err error) {
	issue, err := s.Prepare(organizationID, organizationName, request)
	if err != nil {
		return "", err
	}
	if err := s.store.Change(ctx, organizationID, issue.Reserve(s.clock())); err != nil {
		return "", err
	}
	if err := issue.Deliver(ctx); err != nil {
		// The request may be over: what has happened is written all the same.
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		return "", errors.Join(err, s.store.Change(after, organizationID, issue.Failed(s.clock())))
	}
	if err := s.store.Change(ctx, organizationID, issue.Activate(s.clock())); err != nil {
		return "", err
	}
	return issue.ID(), nil
}

// Verify uses up a one-time password and returns what it proves, for embedders
// who do not submit activities. Each call counts as a request of its own. It
// returns a *CodeError, a *LimitError, or the store's error.
func (s *Service) Verify(ctx context.Context, organizationID, id, typed string) (Verified, error) {
	var by Fingerprint
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
