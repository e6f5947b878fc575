package signing

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// A credential halts at most MaxHalts times within HaltsWindow.
const (
	MaxHalts    = 10
	HaltsWindow = time.Hour
)

// Halts stops signing in the logs of organizations, and lets it go on.
type Halts struct {
	Log       store.Log
	Keystore  keystore.Keystore
	Directory access.Directory
}

// Operations returns the operations.
func (h *Halts) Operations() []operation.Operation {
	return []operation.Operation{
		{Type: activity.TypeHalt, Prepare: h.prepare, NeedsStore: true},
		{Type: activity.TypeResume, Prepare: h.prepare, NeedsStore: true},
	}
}

// halting is the task of either.
type halting struct {
	operation.Plain

	log     store.Log
	request operation.Request
	intent  activity.HaltIntent
	subject string // of the stop
}

// prepare refuses to halt a user or a key that there is not: nothing would stop.
func (h *Halts) prepare(ctx context.Context, asked operation.Request) (operation.Task, error) {
	task := &halting{log: h.Log, request: asked, intent: asked.Intent.(activity.HaltIntent)}
	var err error
	switch id := cmp.Or(task.intent.UserID, task.intent.KeyID); {
	case task.intent.UserID != "":
		task.subject = translog.UserSubject(id)
		err = h.checkUser(ctx, asked.Organization.ID, id)
	case id != "":
		task.subject = translog.KeySubject(id)
		err = h.checkKey(ctx, asked.Organization.ID, id)
	}
	if task.resumes() {
		err = nil
	}
	return task, err
}

func (h *halting) resumes() bool { return h.intent.ActivityType() == activity.TypeResume }

func (h *Halts) checkUser(ctx context.Context, organizationID, id string) error {
	user, err := request.UserOf(ctx, h.Directory, organizationID, id)
	if _, finds := h.Directory.(access.Users); err == nil && user == nil && finds {
		err = activity.NewError(activity.ReasonNotFound, "userId", access.ErrUserNotFound,
			"the organization has no user with the id %q: nothing is halted", refuse.Shorten(id))
	}
	return err
}

func (h *Halts) checkKey(ctx context.Context, organizationID, id string) error {
	found, err := h.Keystore.Find(ctx, organizationID, keystore.ByID(id))
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound) || err == nil && found.ID() != id:
		return activity.NewError(activity.ReasonNotFound, "privateKeyId", err,
			"the organization has no key with the id %q: nothing is halted", refuse.Shorten(id))
	case err != nil:
		return refuse.Key(err)
	}
	return nil
}

// Begin implements operation.Task: halts are counted.
func (h *halting) Begin(now time.Time) store.Change {
	if h.resumes() {
		return nil
	}
	charges := store.Charges{By: h.request.Fingerprint, List: []store.Charge{{
		Limit: string(activity.TypeHalt), Subject: h.request.Credential,
		Amount: big.NewInt(1), Max: big.NewInt(MaxHalts), Window: HaltsWindow,
	}}}
	return charges.Take(now, nil)
}

// Perform implements operation.Task.
func (h *halting) Perform(ctx context.Context) (operation.Outcome, error) {
	result := activity.HaltResult{Of: cmp.Or(h.subject, "the organization"), Halted: true}
	if !h.resumes() {
		return operation.Outcome{Result: result, Stops: h.stop}, nil
	}
	head, err := h.log.LogHead(ctx, h.request.Organization.ID)
	if err != nil {
		return operation.Outcome{}, refuse.Store(err)
	}
	i := slices.IndexFunc(head.Stops, h.isIt)
	if i < 0 {
		return operation.Outcome{}, activity.NewError(activity.ReasonNotFound, "", nil, "signing is not halted for %s", result.Of)
	}
	seen := head.Stops[i]
	after := seen
	if !slices.Contains(seen.Resume, h.request.UserID) {
		after.Resume = append(slices.Clone(seen.Resume), h.request.UserID)
	}
	result.Missing = max(h.request.Organization.ResumeApprovals-len(after.Resume), 0)
	result.Halted = result.Missing > 0
	return operation.Outcome{Result: result,
		Stops: func(stops []translog.Stop) ([]translog.Stop, error) {
			i := slices.IndexFunc(stops, h.isIt)
			if i < 0 || !reflect.DeepEqual(stops[i], seen) {
				return nil, activity.NewError(activity.ReasonUnavailable, "", nil,
					"others halt or resume at the same time: send the same body again")
			}
			if !result.Halted {
				return slices.Delete(stops, i, i+1), nil
			}
			stops[i] = after
			return stops, nil
		}}, nil
}

func (h *halting) isIt(stop translog.Stop) bool { return stop.Subject == h.subject }

// stop adds the stop. One that is there stays as long and withholds as much; who asked to end it
// has to ask again.
func (h *halting) stop(stops []translog.Stop) ([]translog.Stop, error) {
	if i := slices.IndexFunc(stops, h.isIt); i >= 0 {
		stops[i].Answers, stops[i].Resume = stops[i].Answers || h.intent.Answers, nil
		return stops, nil
	}
	if len(stops) >= translog.MaxStops {
		return nil, activity.NewError(activity.ReasonRateLimitExceeded, "", nil,
			"%d users and keys are halted, and no more can be: halt the organization", len(stops))
	}
	return append(stops, translog.Stop{Subject: h.subject, By: h.request.UserID, Answers: h.intent.Answers,
		Since: h.request.Now().UTC().Truncate(time.Millisecond)}), nil
}
