package countersign

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
)

// operations are what the engine can do besides signing transactions, by type.
type operations map[activity.Type]operation.Operation

// newOperations returns Config.Operations by their types, or an error that names the one
// that cannot be served.
func newOperations(configured []operation.Operation, hasStore bool) (operations, error) {
	served := operations{}
	for i, one := range configured {
		_, twice := served[one.Type]
		switch {
		case one.Type == activity.TypeSignTransaction || twice:
			return nil, fmt.Errorf("countersign: Config.Operations[%d]: another operation carries out %s", i, one.Type)
		case (one.Prepare == nil) == (one.Sign == nil):
			return nil, fmt.Errorf("countersign: Config.Operations[%d] (%s) must have either Prepare or Sign", i, one.Type)
		case one.NeedsStore && !hasStore:
			return nil, fmt.Errorf("countersign: Config.Operations[%d] (%s) needs Config.Store: the store that it uses", i, one.Type)
		}
		served[one.Type] = one
	}
	return served, nil
}

// of returns the operation of a type, or the refusal of a type that is not served.
func (o operations) of(kind activity.Type) (operation.Operation, error) {
	if found, ok := o[kind]; ok {
		return found, nil
	}
	return operation.Operation{}, activity.NewError(activity.ReasonRequestInvalid, "type", nil,
		"%s is not available: this engine has no operation for it (Config.Operations)", kind)
}

// hazardNames returns the names of the hazards that only operations have.
func (o operations) hazardNames() []string {
	var names []string
	for _, kind := range slices.Sorted(maps.Keys(o)) {
		for _, name := range o[kind].Hazards {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// prepareWork is step 4: it sets the task of a submission.
func (e *Engine) prepareWork(ctx context.Context, s *submission) error {
	if s.request.GenerateAppProofs && e.config.ProofSigner == nil {
		return activity.NewError(activity.ReasonRequestInvalid, "generateAppProofs", nil,
			"app proofs are not available: this engine has no proof key")
	}
	served, err := e.operations.of(s.request.Type)
	if s.request.Type == activity.TypeSignTransaction || err == nil && served.Sign != nil {
		prepared, err := e.prepare(ctx, s.caller.organization.ID, s.intent)
		if err == nil {
			s.task = prepared
		}
		return err
	}
	if err == nil {
		s.task, err = served.Prepare(ctx, operation.Request{
			Organization: s.caller.organization, Intent: s.intent, Fingerprint: s.request.Fingerprint, Now: e.config.Now,
		})
	}
	return err
}
