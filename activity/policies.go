package activity

// PolicyRule is a rule of a policy, in the words of list_policies.
type PolicyRule struct {
	ID        string // of the rule, stable as long as its name is
	Name      string
	Allow     bool   // otherwise it denies
	Condition string // expression; empty: always
	Consensus string // the approvals that it needs, in words; empty: none
	Notes     string // what it is about
}

// AppendPolicies appends the answer to list_policies, {"policies":[…]}. A rule of
// a file has no times of its own: they are those of the epoch.
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
