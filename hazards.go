package countersign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// allowance is a set of hazards that may be signed.
type allowance struct {
	all   bool
	names []string
}

func newAllowance(names []string, table chainTable) (allowance, error) {
	allowed := allowance{names: slices.Clone(names)}
	known := table.hazardNames()
	for _, name := range names {
		switch {
		case name == AllHazards:
			allowed.all = true
		case !slices.Contains(known, name):
			return allowance{}, fmt.Errorf("countersign: Config.AllowHazards: unknown hazard %q: use %s, or %s",
				name, strings.Join(known, ", "), AllHazards)
		}
	}
	return allowed, nil
}

// refused returns the hazards that are not allowed.
func (a allowance) refused(hazards []chains.Hazard) []chains.Hazard {
	if a.all {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(hazards), func(hazard chains.Hazard) bool {
		return slices.Contains(a.names, hazard.Name)
	})
}

// refuseHazards refuses hazards that neither the configuration nor the
// organization allows, and that are not among those that rules allow.
func (e *Engine) refuseHazards(intent activity.Intent, organization *Organization, hazards, byRules []chains.Hazard) error {
	refused := slices.DeleteFunc(e.notAllowed(organization, hazards), func(hazard chains.Hazard) bool { return slices.Contains(byRules, hazard) })
	if len(refused) == 0 {
		return nil
	}
	return nameHazards(intent, refused)
}

// notAllowed returns the hazards that neither the configuration nor the
// organization allows.
func (e *Engine) notAllowed(organization *Organization, hazards []chains.Hazard) []chains.Hazard {
	refused := e.allowed.refused(hazards)
	if organization != nil {
		refused = allowance{names: organization.AllowHazards}.refused(refused)
	}
	return refused
}

// nameHazards names hazards that are not allowed, and how to allow them.
func nameHazards(intent activity.Intent, hazards []chains.Hazard) error {
	what, field := "transaction", fieldTransaction
	if isMessage(intent) {
		what, field = "message", fieldPayload
	}
	var details, names []string
	for _, hazard := range hazards {
		details = append(details, fmt.Sprintf("%s (%s)", hazard.Name, hazard.Detail))
		names = append(names, hazard.Name)
	}
	return activity.NewError(activity.ReasonHazardNotAllowed, field, nil,
		"the %s is well-formed but hazardous: %s; to sign it all the same, allow %s by name",
		what, strings.Join(details, "; "), strings.Join(names, ", "))
}
