package otp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
)

// Issue is a one-time password that is being issued, step by step. It must not be
// used concurrently.
//
//	issue, err := service.Prepare(…)
//	store.Begin(ctx, claim, issue.Reserve(now))
//	err = issue.Deliver(ctx)
//	store.Complete(ctx, lease, activity, issue.Activate(now))   // or
//	store.Release(ctx, lease, issue.Failed(now))                // if delivery failed
type Issue struct {
	service *Service
	set     settings
	limits  SendLimits
	code    otpledger.Code
	meters  []otpledger.MeterKey
	message Message
}

// Prepare checks a request, draws the code and composes the message, without side
// effects. It returns a *ParameterError if a parameter breaks its rule.
func (s *Service) Prepare(organizationID, organizationName string, request Request) (*Issue, error) {
	set, err := s.check(organizationName, &request)
	if err != nil {
		return nil, err
	}
	code, err := generate(s.random, set.length, set.alphanumeric)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("otp: random bytes: %w", err)
	}
	i := &Issue{service: s, set: set, limits: s.limits.of(request.Type)}
	i.code = otpledger.Code{ID: id.String(), Type: string(request.Type), Contact: set.contact, State: otpledger.StatePending}
	if err := i.hash(organizationID, &request, code); err != nil {
		return nil, err
	}
	return i, i.compose(organizationID, code)
}

// hash computes the hash of the code and the keys of the meters that count it.
func (i *Issue) hash(organizationID string, request *Request, code string) (err error) {
	secret, kind, user := i.service.secret, i.code.Type, request.UserIdentifier
	if i.code.Hash, err = keyed(secret, labelCode, organizationID, i.code.ID, code); err != nil {
		return err
	}
	if i.code.To, err = keyed(secret, labelContact, organizationID, kind, i.set.contact); err != nil {
		return err
	}
	userParts := []string{labelUser, organizationID, user}
	if user == "" {
		userParts = []string{labelAnonymous, organizationID, kind, i.set.contact}
	}
	if i.code.User, err = keyed(secret, userParts...); err != nil {
		return err
	}
	i.meters = []otpledger.MeterKey{ofUser: i.code.User, ofContact: i.code.To}
	if request.Credential == "" {
		i.limits.Credential = Rate{}
	}
	for _, parts := range [][]string{
		{labelUserSends, kind, string(i.code.User[:])}, {labelOrganization, organizationID, kind},
		{labelCredential, organizationID, kind, request.Credential},
	} {
		key, err := keyed(secret, parts...)
		if err != nil {
			return err
		}
		if i.meters = append(i.meters, key); len(i.meters) == ofCredential && i.limits.Credential.Count == 0 {
			break
		}
	}
	return nil
}

func (i *Issue) compose(organizationID, code string) (err error) {
	set := &i.set
	variables := set.variables
	variables[variableCode] = code
	variables[variableApp] = set.appName
	variables[variableMinutes] = strconv.Itoa(int((set.expiration + time.Minute - 1) / time.Minute))
	variables[variableMagicLink] = strings.Replace(set.link, magicLinkVerb, code, 1)
	i.message = Message{
		OTPID:          i.code.ID,
		OrganizationID: organizationID,
		Type:           Type(i.code.Type),
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
	i.message.Subject = strings.Join(strings.Fields(i.message.Subject), " ") // one line, even if a variable has several
	if hasEncodedWord(i.message.Subject) {
		return badParameter("emailCustomization.templateVariables", "the subject would contain =?, which mail clients decode")
	}
	return err
}

// Contact returns the contact in the form in which the message is sent to it.
func (i *Issue) Contact() string { return i.set.contact }

// ID returns the id of the one-time password, a UUID.
func (i *Issue) ID() string { return i.code.ID }

// Reserve returns the change that counts the message as sent and stores the code,
// pending. The code's lifetime begins at now. The change refuses with a *LimitError.
func (i *Issue) Reserve(now time.Time) store.Change {
	i.code.CreatedAt = now.UTC().Truncate(time.Millisecond)
	i.code.ExpiresAt = i.code.CreatedAt.Add(i.set.expiration)
	return change(i.delivery(i.code.CreatedAt).reserve)
}

// Deliver sends the message. Its error wraps ErrDelivery.
func (i *Issue) Deliver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, i.service.timeout)
	defer cancel()
	if err := i.service.sender(i.message.Type).Send(ctx, i.message); err != nil {
		return fmt.Errorf("%w: %w", ErrDelivery, err)
	}
	return nil
}

// Activate returns the change that makes a delivered code live. If its user or
// contact then has too many live codes, the oldest dies.
func (i *Issue) Activate(now time.Time) store.Change {
	return change(i.delivery(now).activate)
}

// Failed returns the change for a message that could not be delivered: it takes the
// reservation back, counts a failed delivery and kills the code.
func (i *Issue) Failed(now time.Time) store.Change {
	return change(i.delivery(now.UTC().Truncate(time.Millisecond)).failed)
}

func (i *Issue) delivery(at time.Time) *delivery {
	return &delivery{limits: i.service.limits, sends: i.limits, keys: i.meters, code: i.code, now: at}
}

func change(apply func(otpledger.Ledger) (refusal, err error)) store.Change {
	return store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) { return apply(otpledger.Over(ledger)) })
}
