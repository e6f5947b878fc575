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
	dst = append(dst, `{"policies":[`...)
	for i := range rules {
		rule := &rules[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendTextMember(dst, "policyId", rule.ID)
		dst = appendTextMember(dst, "policyName", rule.Name)
		effect := "EFFECT_DENY"
		if rule.Allow {
			effect = "EFFECT_ALLOW"
		}
		dst = appendTextMember(dst, "effect", effect)
		dst = appendTextMember(dst, "condition", rule.Condition)
		dst = appendTextMember(dst, "consensus", rule.Consensus)
		dst = appendTextMember(dst, "notes", rule.Notes)
		const epoch = `{"seconds":"0","nanos":"0"}`
		dst = appendRawMember(dst, "createdAt", epoch)
		dst = appendRawMember(dst, "updatedAt", epoch)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}
