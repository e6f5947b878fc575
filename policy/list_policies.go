package policy

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

var _ access.PolicyLister = (*Organizations)(nil)

// PoliciesOf implements [access.PolicyLister].
func (o *Organizations) PoliciesOf(organization *access.Organization) []activity.PolicyRule {
	if file := o.File(organization); file != nil {
		return file.PoliciesOf(organization)
	}
	return nil
}

// PoliciesOf implements [access.PolicyLister]. It returns the rules in file order;
// a rule's id depends only on the organization and the rule's name.
func (f *File) PoliciesOf(organization *access.Organization) []activity.PolicyRule {
	rules := make([]activity.PolicyRule, len(f.rules))
	for i, r := range f.rules {
		rules[i] = activity.PolicyRule{
			ID:    uuid.NewSHA1(uuid.NameSpaceURL, []byte("countersign:policy:"+organization.ID+"\x00"+r.name)).String(),
			Name:  r.name,
			Allow: !r.deny, Consensus: consensusText(r.approvals), Notes: r.notes(),
		}
		if r.when != nil {
			rules[i].Condition = r.when.source
		}
	}
	return rules
}

// consensusText describes the approvals that a rule needs.
func consensusText(groups []access.Group) string {
	texts := make([]string, len(groups))
	for i, group := range groups {
		texts[i] = fmt.Sprintf("%d of ", group.Count)
		switch {
		case group.Tag != "":
			texts[i] += "tag " + group.Tag
		case len(group.Users) > 0:
			texts[i] += "users " + strings.Join(group.Users, ", ")
		default:
			texts[i] += "all users"
		}
		if group.NotSubmitter {
			texts[i] += ", not the submitter"
		}
		if group.Passkey {
			texts[i] += ", with a passkey"
		}
	}
	return strings.Join(texts, " and ")
}

// notes describes what a rule is about besides its condition.
func (r *rule) notes() string {
	limits := make([]string, len(r.limits))
	for i, limit := range r.limits {
		limits[i] = limit.name
	}
	notes := kindsText(r.kinds)
	for _, part := range []struct {
		word string
		list []string
	}{{"on", r.on}, {"limits", limits}, {"hazards", r.hazards}} {
		if len(part.list) > 0 {
			notes += "; " + part.word + " " + strings.Join(part.list, ", ")
		}
	}
	return notes
}
