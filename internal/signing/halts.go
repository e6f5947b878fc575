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

// A credential halts at most maxHalts times within haltsWindow.
const (
	maxHalts    = 10
	haltsWindow = time.Hour
)

// Halts stops signing in the logs of organizations, and lets it go on.
type Halts struct {
	Log       store.Log
	Keystore  keystore.Keystore
	Directory access.Directory
}

// Operations returns the operations that every engine with a log has.
func (h *Halts) Operations() Operations {
	served := Operations{}
	for _, kind := range []activity.Type{activity.TypeHalt, activity.TypeResume} {
		served[kind] = operation.Operation{Type: kind, Prepare: h.prepare, NeedsStore: true}
	}
	return served
}

// halting is the task of either.
type halting struct {
	operation.Plain
	*Halts

	request operation.Request
	intent  activity.HaltIntent
	subject string // of the stop
	warning string
}

func (h *Halts) prepare(ctx context.Context, asked operation.Request) (operation.Task, error) {
	task := &halting{Halts: h, request: asked, intent: asked.Intent.(activity.HaltIntent)}
	exists, id := true, cmp.Or(task.intent.UserID, task.intent.KeyID)
	var err error
	switch {
	case task.intent.UserID != "":
		task.subject = translog.UserSubject(id)
		var user *access.User
		user, err = request.UserOf(ctx, h.Directory, asked.Organization.ID, id)
		_, finds := h.Directory.(access.Users)
		exists = user != nil || !finds
		if user != nil && (&access.UserConfig{Name: user.Name}).UserID(asked.Organization.ID) == id {
			task.warning = "a rename of the user ends it, unless the configuration has this id: write it there"
		}
	case task.intent.Policy != "":
		task.subject = translog.HeldSubject(task.intent.Policy)
		if asked.Organization.WideningApprovals == 0 {
			return nil, activity.NewError(activity.ReasonNotFound, "policy", nil,
				"policy: the organization holds back none: policies.widening.approvals is not configured")
		}
	case id != "":
		task.subject = translog.KeySubject(id)
		exists, err = h.hasKey(ctx, asked.Organization.ID, id)
	}
	switch {
	case task.resumes() || err == nil && exists:
		return task, nil
	case err == nil:
		err = activity.NewError(activity.ReasonNotFound, "", nil, "the organization has no %s: nothing is halted; "+
			"records show the ids of users, 'countersign keys list' those of keys", refuse.Shorten(task.subject))
	}
	return nil, err
}

func (h *halting) resumes() bool { return h.intent.ActivityType() == activity.TypeResume }

func (h *Halts) hasKey(ctx context.Context, organizationID, id string) (bool, error) {
	found, err := h.Keystore.Find(ctx, organizationID, keystore.ByID(id))
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return false, nil
	case err != nil:
		return false, refuse.Key(err)
	}
	return found.ID() == id, nil
}

// Begin implements operation.Task: halts are counted.
func (h *halting) Begin(now time.Time) store.Change {
	if h.resumes() {
		return nil
	}
	charges := store.Charges{By: h.request.Fingerprint, List: []store.Charge{{
		Limit: string(activity.TypeHalt), Subject: h.request.Credential,
		Amount: big.NewInt(1), Max: big.NewInt(maxHalts), Window: haltsWindow,
	}}}
	return charges.Take(now, nil)
}

func (h *halting) Perform(ctx context.Context) (operation.Outcome, error) {
	result := activity.HaltResult{Of: cmp.Or(h.subject, "the organization"), Halted: true}
	if !h.resumes() {
		result.Warning = h.warning
		return operation.Outcome{Result: result, Stops: h.stop}, nil
	}
	needed := h.request.Organization.ResumeApprovals
	if h.intent.Policy != "" {
		needed, result.Of = h.request.Organization.WideningApprovals, translog.PolicySubject(h.intent.Policy)
	}
	head, err := h.Log.LogHead(ctx, h.request.Organization.ID)
	if err != nil {
		return operation.Outcome{}, refuse.Store(err)
	}
	seen, err := h.toResume(head.Stops)
	if err != nil {
		return operation.Outcome{}, err
	}
	after := seen
	after.By, after.Since = cmp.Or(seen.By, h.request.UserID), cmp.Or(seen.Since, h.now())
	if after.Resume, err = h.asked(ctx, seen.Resume); err != nil {
		return operation.Outcome{}, err
	}
	result.Missing = max(needed-len(after.Resume), 0)
	result.Halted = result.Missing > 0
	return operation.Outcome{Result: result,
		Stops: func(stops []translog.Stop) ([]translog.Stop, error) {
			still, err := h.toResume(stops)
			if err == nil && !reflect.DeepEqual(still, seen) {
				err = activity.NewError(activity.ReasonUnavailable, "", nil,
					"others halt or resume at the same time: send the same body again")
			}
			if err != nil {
				return nil, err
			}
			other := func(stop translog.Stop) bool { return h.intent.Policy != "" && !stop.Halts() && !h.isIt(stop) }
			stops = withdraw(stops, h.request.UserID, other) // one asks for one policy
			i := slices.IndexFunc(stops, h.isIt)
			switch {
			case result.Halted && i >= 0:
				stops[i] = after
			case result.Halted:
				stops, err = h.add(stops, after)
			case h.intent.Policy == "":
				stops = slices.Delete(stops, i, i+1)
			default: // what was asked about others is over, and what was in force may not come back
				stops = append(slices.DeleteFunc(stops, func(stop translog.Stop) bool { return !stop.Halts() }),
					translog.Stop{Subject: result.Of, By: h.request.UserID, Since: h.now()})
			}
			return stops, err
		}}, nil
}

// asked returns who asked, and may still, as votes count, and who asks now.
func (h *halting) asked(ctx context.Context, before []translog.Resumer) (all []translog.Resumer, err error) {
	for _, by := range before {
		m, err := request.MemberBy(ctx, h.Directory, h.request.Now(), h.request.Organization.ID, by.User, by.Credential)
		if err != nil {
			return nil, err
		}
		if m != nil && m.May(activity.TypeResume) && by.User != h.request.UserID {
			all = append(all, by)
		}
	}
	return append(all, translog.Resumer{User: h.request.UserID, Credential: h.request.Credential}), nil
}

// toResume returns the stop that ends. What a policy has is empty before anyone asks for it.
func (h *halting) toResume(stops []translog.Stop) (translog.Stop, error) {
	i := slices.IndexFunc(stops, h.isIt)
	effective := func(stop translog.Stop) bool { return stop.Subject == translog.PolicySubject(h.intent.Policy) }
	switch err := h.refuseHalted(stops); {
	case err != nil:
		return translog.Stop{}, err
	case i >= 0:
		return stops[i], nil
	case h.intent.Policy == "":
		return translog.Stop{}, activity.NewError(activity.ReasonNotFound, "", nil,
			"signing is not halted for %s", cmp.Or(h.subject, "the organization"))
	case slices.ContainsFunc(stops, effective):
		return translog.Stop{}, activity.NewError(activity.ReasonNotFound, "policy", nil,
			"policy: it may take effect already: reload the configuration that names it")
	}
	return translog.Stop{Subject: h.subject}, nil
}

// withdraw takes back what a user asked for, in the stops for which that holds. No policy stays that
// no user asks for.
func withdraw(stops []translog.Stop, userID string, from func(translog.Stop) bool) []translog.Stop {
	for i := range stops {
		if from(stops[i]) {
			stops[i].Resume = slices.DeleteFunc(slices.Clone(stops[i].Resume),
				func(by translog.Resumer) bool { return by.User == userID })
		}
	}
	return slices.DeleteFunc(stops, func(stop translog.Stop) bool { return stop.Held() && len(stop.Resume) == 0 })
}

// refuseHalted refuses a user who is halted.
func (h *halting) refuseHalted(stops []translog.Stop) error {
	own := translog.UserSubject(h.request.UserID)
	if slices.ContainsFunc(stops, func(stop translog.Stop) bool { return stop.Subject == own }) {
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: a user who is halted cannot resume")
	}
	return nil
}

func (h *halting) isIt(stop translog.Stop) bool { return stop.Subject == h.subject }

// stop adds the stop. One that is there stays as long and withholds as much; who asked to end it
// has to ask again. What a user who is halted asked does not count any more: the credential may
// have been stolen before.
func (h *halting) stop(stops []translog.Stop) ([]translog.Stop, error) {
	if h.intent.UserID != "" {
		stops = withdraw(stops, h.intent.UserID, func(translog.Stop) bool { return true })
	}
	if i := slices.IndexFunc(stops, h.isIt); i >= 0 {
		stops[i].Answers, stops[i].Resume = stops[i].Answers || h.intent.Answers, nil
		return stops, nil
	}
	return h.add(stops, translog.Stop{
		Subject: h.subject, By: h.request.UserID, Answers: h.intent.Answers, Since: h.now(),
	})
}

func (h *halting) add(stops []translog.Stop, stop translog.Stop) ([]translog.Stop, error) {
	alike := slices.DeleteFunc(slices.Clone(stops), func(of translog.Stop) bool { return of.Halts() != stop.Halts() })
	if len(alike) >= translog.MaxStops && stop.Subject != "" {
		return nil, activity.NewError(activity.ReasonRateLimitExceeded, "", nil,
			"%d users and keys are halted, or policies asked for, and no more can be: halt the organization",
			len(alike))
	}
	return append(stops, stop), nil
}

func (h *halting) now() time.Time { return h.request.Now().UTC().Truncate(time.Millisecond) }
