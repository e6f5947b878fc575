package otp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/store"
)

// Issue is a one-time password on its way: prepared, reserved, delivered, live.
// It is used by one goroutine at a time.
//
//	issue, err := service.Prepare(…)
//	store.Begin(ctx, claim, issue.Reserve(now))
//	err = issue.Deliver(ctx)
//	store.Complete(ctx, lease, activity, issue.Activate(now))   // or
//	store.Release(ctx, lease, issue.Failed(now))                // if it was not delivered
type Issue struct {
	service      *Service
	set          settings
	code         Code
	organization MeterKey
	message      Message
}

// Prepare checks a request and does all that can be done without doing
// anything. It returns a *ParameterError if a parameter breaks its rule.
func (s *Service) Prepare(organizationID, organizationName string, request Request) (*Issue, error) {
	set, err := s.check(organizationName, &request)
	if err != nil {
		return nil, err
	}
	typed, err := generate(s.random, set.length, set.alphanumeric)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("otp: random bytes: %w", err)
	}
	i := &Issue{service: s, set: set}
	i.code = Code{ID: id.String(), Type: request.Type, Contact: set.contact, State: StatePending}
	if err := i.key(organizationID, request.UserIdentifier, typed); err != nil {
		return nil, err
	}
	return i, i.compose(organizationID, typed)
}

// key makes the hash of the code and the keys of its meters.
func (i *Issue) key(organizationID, user, typed string) (err error) {
	secret := i.service.secret
	i.code.Hash, err = keyed(secret, labelCode, organizationID, i.code.ID, typed)
	if err != nil {
		return err
	}
	to, err := keyed(secret, labelContact, organizationID, string(i.code.Type), i.set.counted)
	if err != nil {
		return err
	}
	who, err := keyed(secret, labelUser, organizationID, user)
	if user == "" {
		who, err = keyed(secret, labelAnonymous, organizationID, string(i.code.Type), i.set.counted)
	}
	if err != nil {
		return err
	}
	all, err := keyed(secret, labelOrganization, organizationID)
	i.code.To, i.code.User, i.organization = to, who, all
	return err
}

// compose makes the message.
func (i *Issue) compose(organizationID, typed string) (err error) {
	set := &i.set
	variables := set.variables
	variables[VariableCode] = typed
	variables[VariableApp] = set.appName
	variables[VariableMinutes] = strconv.Itoa(int((set.expiration + time.Minute - 1) / time.Minute))
	variables[VariableMagicLink] = strings.Replace(set.link, magicLinkVerb, typed, 1)
	i.message = Message{
		OTPID:          i.code.ID,
		OrganizationID: organizationID,
		Type:           i.code.Type,
		To:             set.contact,
		FromName:       set.fromName,
		FromAddress:    set.from,
		ReplyTo:        set.replyTo,
	}
	if i.message.Text, err = fill(set.template.Text, variables); err != nil {
		return err
	}
	if i.message.HTML, err = fillHTML(set.template.HTML, variables); err != nil {
		return err
	}
	i.message.Subject, err = fill(set.template.Subject, variables)
	i.message.Subject = strings.Join(strings.Fields(i.message.Subject), " ") // one line, whatever was filled in
	if hasEncodedWord(i.message.Subject) {
		return badParameter("emailCustomization.templateVariables", "the subject has =? in it, which a mail reader decodes")
	}
	return err
}

// ID is the one-time password's id, a UUID.
func (i *Issue) ID() string { return i.code.ID }

// Reserve counts the message as sent and stores the code, not live yet. Its
// life begins now. It refuses with a *LimitError.
func (i *Issue) Reserve(now time.Time) store.Change {
	i.code.CreatedAt = now.UTC().Truncate(time.Millisecond)
	i.code.ExpiresAt = i.code.CreatedAt.Add(i.set.expiration)
	return stored{&reserve{limits: i.service.limits, organization: i.organization, code: i.code, now: i.code.CreatedAt}}
}

// Deliver hands the message to the sender. Its error wraps ErrDelivery.
func (i *Issue) Deliver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, i.service.timeout)
	defer cancel()
	if err := i.service.sender(i.code.Type).Send(ctx, i.message); err != nil {
		return fmt.Errorf("%w: %w", ErrDelivery, err)
	}
	return nil
}

// Activate makes a delivered code live. If its user or its contact has too many
// live codes then, the oldest dies.
func (i *Issue) Activate(now time.Time) store.Change {
	return stored{&activate{limits: i.service.limits, code: i.code, now: now}}
}

// Failed takes the reservation back: the message could not be delivered.
func (i *Issue) Failed(now time.Time) store.Change {
	return stored{&deliveryFailed{
		limits: i.service.limits, organization: i.organization, code: i.code,
		reservedAt: i.code.CreatedAt, now: now.UTC().Truncate(time.Millisecond),
	}}
}
