package signing

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/operation"
)

// Operations are the operations of an engine by type. Signing transactions is not one of
// them: every engine does that.
type Operations map[activity.Type]operation.Operation

// NewOperations returns Config.Operations by their types, or an error that names the one
// that cannot be served.
func NewOperations(configured []operation.Operation, hasStore bool) (Operations, error) {
	served := Operations{}
	for i, op := range configured {
		_, twice := served[op.Type]
		switch {
		case op.Type.SignsTransactions() || op.Type.Halts() || twice:
			return nil, fmt.Errorf("countersign: Config.Operations[%d]: another operation carries out %s", i, op.Type)
		case (op.Prepare == nil) == (op.Sign == nil):
			return nil, fmt.Errorf("countersign: Config.Operations[%d] (%s) must have either Prepare or Sign", i,
				op.Type)
		case op.NeedsStore && !hasStore:
			return nil, fmt.Errorf("countersign: Config.Operations[%d] (%s) needs Config.Store: the store that it uses", i, op.Type)
		}
		served[op.Type] = op
	}
	return served, nil
}

// Of returns the operation of a type, or the refusal of a type that is not served. That of
// transactions, which every engine signs, has no functions.
func (o Operations) Of(kind activity.Type) (operation.Operation, error) {
	if op, ok := o[kind]; ok || kind.SignsTransactions() {
		return op, nil
	}
	return operation.Operation{}, activity.NewError(activity.ReasonRequestInvalid, "type", nil,
		"%s is not available: this engine has no operation for it (Config.Operations), or no log for halts", kind)
}

// HazardNames returns the names of the hazards that only operations have.
func (o Operations) HazardNames() []string {
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
