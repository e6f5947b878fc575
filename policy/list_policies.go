package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
)

var _ countersign.PolicyLister = (*Organizations)(nil)

// PoliciesOf implements countersign.PolicyLister.
func (o *Organizations) PoliciesOf(organization *countersign.Organization) []activity.PolicyRule {
	if file := o.File(organization); file != nil {
		return file.PoliciesOf(organization)
	}
	return nil
}

// PoliciesOf implements countersign.PolicyLister: the rules in file order. Their
// ids depend on the organization and the rule's name alone.
func (f *File) PoliciesOf(organization *countersign.Organization) []activity.PolicyRule {
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

// consensusText says which approvals a rule needs.
func consensusText(groups []countersign.Approval) string {
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

// notes says what a rule is about beside its condition.
func (r *rule) notes() string {
	about := "request"
	if !r.request {
		kinds := make([]string, len(r.kinds))
		for i, kind := range r.kinds {
			kinds[i] = string(kind)
		}
		about = strings.Join(kinds, ", ")
	}
	for _, more := range []struct {
		word string
		list []string
	}{{"on", r.on}, {"limits", r.limitNames()}, {"hazards", slices.Clone(r.hazards)}} {
		if len(more.list) > 0 {
			about += "; " + more.word + " " + strings.Join(more.list, ", ")
		}
	}
	return about
}

func (r *rule) limitNames() []string {
	names := make([]string, len(r.limits))
	for i, limit := range r.limits {
		names[i] = limit.name
	}
	return names
}
