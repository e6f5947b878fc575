package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// Organizations is the policy of an engine that serves several organizations, each with a
// file of its own or none. It is safe for concurrent use.
type Organizations struct {
	files atomic.Pointer[map[string]*File]
	put   sync.Mutex // held while files is replaced
}

// NewOrganizations returns a policy with the files of organizations, by organization id. An
// organization that is not listed has no rules: see Decide. One that is listed without a
// file is denied everything.
func NewOrganizations(files map[string]*File) *Organizations {
	o := new(Organizations)
	o.Put(files)
	return o
}

// Put puts the files of organizations in force, all at once. Organizations that it does not
// list keep theirs; requests that are being decided keep the previous ones.
func (o *Organizations) Put(files map[string]*File) {
	o.put.Lock()
	defer o.put.Unlock()
	next := map[string]*File{}
	if current := o.files.Load(); current != nil {
		maps.Copy(next, *current)
	}
	for id, file := range files {
		if file == nil {
			file = &File{judge: newJudge(new(vocabulary), nil)} // without rules, which denies everything
		}
		next[id] = file
	}
	o.files.Store(&next)
}

// Decide implements [access.Decider]. An organization without a file allows whatever
// its credentials may submit, but no hazards.
func (o *Organizations) Decide(ctx context.Context, request access.Authorization) (access.Decision, error) {
	if file := o.File(request.Organization); file != nil {
		return file.Decide(ctx, request)
	}
	return access.Decision{}, nil
}

func (o *Organizations) Authorize(ctx context.Context, request access.Authorization) error {
	if file := o.File(request.Organization); file != nil {
		return file.Authorize(ctx, request)
	}
	return nil
}

// File returns the file of an organization, or nil.
func (o *Organizations) File(organization *access.Organization) *File {
	if organization == nil {
		return nil
	}
	return (*o.files.Load())[organization.ID]
}

// Replace replaces the file of an organization that has one. It returns false, and changes
// nothing, if the organization has none or file is nil. Requests that are being decided
// keep the previous file.
func (o *Organizations) Replace(organizationID string, file *File) bool {
	if file == nil || o.File(&access.Organization{ID: organizationID}) == nil {
		return false
	}
	o.Put(map[string]*File{organizationID: file})
	return true
}

var _ access.PolicyLister = (*Organizations)(nil)

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
			ID:   uuid.NewSHA1(uuid.NameSpaceURL, []byte("countersign:policy:"+organization.ID+"\x00"+r.name)).String(),
			Name: r.name, Allow: !r.deny, Consensus: consensusText(r.approvals), Notes: r.notes(),
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
	judged := func(kind activity.Type) bool { return member.May(kind) && r.mayJudge(kind) }
	asked := &access.Authorization{User: member.User, Credential: member.Credential}
	if r.who.holds(asked) && slices.ContainsFunc(activity.Types(), judged) {
		return true
	}
	return member.MayVote() && access.BelongsTo(member.User, r.approvals...)
}

// mayJudge reports whether activities of a type can have effects of the rule's kinds.
func (r *rule) mayJudge(kind activity.Type) bool {
	switch {
	case kind == activity.TypeApproveActivity, kind == activity.TypeRejectActivity, kind.Halts():
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
