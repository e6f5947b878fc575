package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

var _ access.PolicyLister = (*Organizations)(nil)

// PoliciesOf implements [access.PolicyLister].
func (o *Organizations) PoliciesOf(organization *access.Organization, member *access.Member) []activity.PolicyRule {
	if file := o.File(organization); file != nil {
		return file.PoliciesOf(organization, member)
	}
	return nil
}

// PoliciesOf implements [access.PolicyLister]. It returns the rules in file order;
// a rule's id depends only on the organization and the rule's name.
func (f *File) PoliciesOf(organization *access.Organization, member *access.Member) []activity.PolicyRule {
	rules := []activity.PolicyRule{}
	for _, r := range f.rules {
		if member != nil && !r.concerns(member) {
			continue
		}
		listed := activity.PolicyRule{
			ID:    uuid.NewSHA1(uuid.NameSpaceURL, []byte("countersign:policy:"+organization.ID+"\x00"+r.name)).String(),
			Name:  r.name,
			Allow: !r.deny, Consensus: consensusText(r.approvals), Notes: r.notes(),
		}
		if r.when != nil {
			listed.Condition = r.when.source
		}
		rules = append(rules, listed)
	}
	return rules
}

// concerns reports whether the rule may judge what the member submits, or needs approvals that
// the member may give.
func (r *rule) concerns(member *access.Member) bool {
	if r.who.holds(&access.Authorization{User: member.User, Credential: member.Credential}) && slices.ContainsFunc(activity.Types(), func(kind activity.Type) bool {
		return member.May(kind) && r.mayJudge(kind)
	}) {
		return true
	}
	votes := member.May(activity.TypeApproveActivity) || member.May(activity.TypeRejectActivity)
	return votes && slices.ContainsFunc(r.approvals, func(group access.Group) bool { return access.BelongsTo(&group, member.User) })
}

// mayJudge reports whether activities of a type can have effects of the rule's kinds.
func (r *rule) mayJudge(kind activity.Type) bool {
	switch {
	case kind == activity.TypeApproveActivity, kind == activity.TypeRejectActivity:
		return false
	case kind.Signs():
		return r.request || slices.ContainsFunc(r.kinds, func(kind chains.Kind) bool { return kind != chains.KindOTP })
	}
	return r.request || slices.Contains(r.kinds, chains.KindOTP)
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
	var notes strings.Builder
	notes.WriteString(kindsText(r.kinds))
	for _, clause := range []struct {
		word string
		list []string
	}{{"of", strings.Fields(r.of)}, {"on", r.on}, {"chains", r.networks}, {"limits", limits}, {"hazards", r.hazards}} {
		if len(clause.list) > 0 {
			notes.WriteString("; " + clause.word + " " + strings.Join(clause.list, ", "))
		}
	}
	return notes.String()
}
