package activity

// PolicyRule is a rule of a policy as list_policies returns it.
type PolicyRule struct {
	ID        string // stable as long as the name is
	Name      string
	Allow     bool   // if false, the rule denies
	Condition string // expression; empty: always
	Consensus string // describes the approvals that it needs; empty: none
	Notes     string // describes what it is about
}

// AppendPolicies appends the answer to list_policies, {"policies":[…]}. Rules of a file
// have no times, so createdAt and updatedAt are the epoch.
func AppendPolicies(dst []byte, rules []PolicyRule) []byte {
	return append(appendElements(append(dst, `{"policies":`...), rules, (*PolicyRule).appendJSON), '}')
}

func (r *PolicyRule) appendJSON(dst []byte) []byte {
	effect := "EFFECT_DENY"
	if r.Allow {
		effect = "EFFECT_ALLOW"
	}
	dst = appendTextMembers(append(dst, '{'), "policyId", r.ID, "policyName", r.Name, "effect", effect,
		"condition", r.Condition, "consensus", r.Consensus, "notes", r.Notes)
	const epoch = `{"seconds":"0","nanos":"0"}`
	return append(appendRawMember(appendRawMember(dst, "createdAt", epoch), "updatedAt", epoch), '}')
}
