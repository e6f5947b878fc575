package access

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
)

// Policy decides who may do what. The engine asks it after it has verified the stamp and
// read the transaction, and before it does anything or repeats a recorded answer. A Policy
// must be safe for concurrent use. If it is also a [Decider], the engine calls Decide.
type Policy interface {
	// Authorize returns nil to allow a request, and an error that wraps ErrDenied to
	// refuse it; the caller gets the text of that error. Any other error means that it
	// could not decide: nothing is done, and the caller may try again.
	Authorize(ctx context.Context, authorization Authorization) error
}

// Decider is a Policy whose permission has conditions: limits to charge, approvals to
// wait for, and hazards that it allows. Package policy has one that is read from a file.
type Decider interface {
	Policy

	// Decide returns what a request that is allowed needs. Its errors are those of Authorize; that
	// of a limit that would be exceeded also wraps a *store.LimitError.
	Decide(ctx context.Context, authorization Authorization) (Decision, error)
}

// PolicyLister is a Policy that can list the rules of an organization.
type PolicyLister interface {
	// PoliciesOf returns the rules that concern a member, in the order in which they are
	// asked: those that may judge what its credential submits, and those whose approvals it
	// may give. If the member is nil, it returns all.
	PoliciesOf(organization *Organization, member *Member) []activity.PolicyRule
}

// ErrDenied is wrapped by the errors with which a Policy refuses.
var ErrDenied = errors.New("denied by policy")

// Ruled is implemented by refusals of a Policy that know which rule refused.
type Ruled interface {
	error

	// RefusedBy returns the name of the rule, empty if the reason is that there is none.
	RefusedBy() string
}

// Authorization describes a request to a Policy.
type Authorization struct {
	Organization *Organization
	User         User
	Credential   *stamp.Credential
	Intent       activity.Intent

	// Chain is the chain whose transaction or message is signed; empty if nothing is.
	Chain string

	// Summary describes what is signed, from its bytes alone; nil if nothing is. It is written
	// when it is first asked for, and must not be changed.
	Summary func() *chains.Summary

	// Hazards are those of the transaction. For a plain Policy, all of them are allowed. For a
	// Decider, they are those that neither the configuration nor the organization allows; it
	// returns in Decision.Hazards which of them its rules allow.
	Hazards []chains.Hazard

	// Effects are what the activity does, with the signer resolved.
	Effects []chains.Effect

	// Readings are what Config.Descriptors says of the lookup tables and of the calls.
	// Those of calls have the paths of their effects.
	Readings chains.Readings

	// Keys are the keys that would sign.
	Keys []SigningKey

	// Wallet is the registered wallet that every input to be signed is of, nil if there is
	// none, or if several wallets sign.
	Wallet *SigningWallet

	// MixedWallets is set if inputs to be signed are of a registered wallet, or may be, and not
	// all are of one: what is spent is no single wallet's then, whichever key signs.
	MixedWallets bool

	// Votes are the approvals that count, the submitter's own first.
	Votes []Vote

	// Now is the time at which rules are evaluated.
	Now time.Time

	// Spent reads the ledger of limits. If it is nil, nothing has been spent.
	Spent SpentReader
}

// SigningKey is a key as a policy sees it.
type SigningKey struct {
	ID         string
	Name       string
	WalletID   string // empty if the key belongs to no wallet
	WalletName string
	Path       string   // derivation path, such as m/84'/0'/0'/1/0
	Addresses  []string // on the chain of the transaction
}

// SigningWallet is a registered wallet as a policy sees it.
type SigningWallet struct {
	ID   string // in hex; it identifies the wallet's scripts, whatever its name is
	Name string

	// ChargeID identifies what the transaction takes from the wallet. Limits count that once,
	// whichever keys of the wallet sign it in whichever requests.
	ChargeID store.Fingerprint
}

// Vote is an approval by a user.
type Vote struct {
	User       User
	Credential *stamp.Credential
	At         time.Time
}

// Decision is the permission of a Decider with its conditions. The zero value has none.
type Decision struct {
	// Digest identifies the policy: the SHA-256 of its file, or zero if it has none.
	Digest [32]byte

	// Prices is the SHA-256 of the price file that the policy has, or zero.
	Prices [32]byte

	// Readings is the digest of what descriptors say of the transaction (see
	// chains.Readings), or zero if they say nothing. The engine sets it.
	Readings [32]byte

	// ReadWith has the digests of those descriptors in lower-case hex, each once. The
	// engine sets it.
	ReadWith []string

	// Wallets are the registered wallets that the transaction spends from or pays to. The
	// engine sets it.
	Wallets []activity.RegisteredWallet

	// Rules names the rules that decided, each once, in the order of the effects.
	Rules []string

	// Charges are made in the store transaction that takes the lease, all or none. If
	// one exceeds its limit there, Decide is called again.
	Charges []store.Charge

	// Approvals must all have their votes before anything is signed.
	Approvals []Group

	// Hazards are those of Authorization.Hazards that the deciding rules allow.
	Hazards []chains.Hazard
}

// Merge adds to the decision about a list of transactions that about another one of them. The
// list makes the charges of both, and needs every approval that either needs.
func (d *Decision) Merge(next *Decision) {
	d.Digest, d.Prices, d.Charges = next.Digest, next.Prices, append(d.Charges, next.Charges...)
	for _, rule := range next.Rules {
		if !slices.Contains(d.Rules, rule) {
			d.Rules = append(d.Rules, rule)
		}
	}
	for i, group := range next.Approvals {
		like := func(other Group) bool { return reflect.DeepEqual(other, group) }
		if countOf(d.Approvals, like) < countOf(next.Approvals[:i+1], like) {
			d.Approvals = append(d.Approvals, group)
		}
	}
}

func countOf(groups []Group, like func(Group) bool) (count int) {
	for _, group := range groups {
		if like(group) {
			count++
		}
	}
	return count
}

// SpentReader reads how much has been charged to limits.
type SpentReader interface {
	// Spent returns what was charged to the charge's limit for its subject within the
	// window that ends now, and when the next charge leaves the window (zero if nothing
	// was charged). What the charge would replace is left out: see [store.Charge.Slot].
	Spent(ctx context.Context, organizationID string, charge store.Charge) (sum *big.Int, frees time.Time, err error)
}

// Group is a group of votes that a rule demands. If Within is 0, a vote counts for DefaultVoteAge.
type Group = activity.Group

// DefaultVoteAge is how long a vote counts if its rule does not say.
const DefaultVoteAge = 24 * time.Hour

// Bounds of how many activities wait for votes. They keep a store and an approver's list
// from being flooded, and one user from taking the place of all. No request exceeds them, on
// however many nodes.
const (
	MaxWaitingOfUser         = 100
	MaxWaitingOfOrganization = store.MaxList
)

// Admits reports whether a vote counts in a group. submitter is a user id.
func Admits(group *Group, vote Vote, submitter string, now time.Time) bool {
	switch {
	case group.NotSubmitter && vote.User.ID == submitter:
		return false
	case group.Passkey && (vote.Credential == nil || !vote.Credential.IsPasskey()):
		return false
	case group.Within > 0 && !vote.At.IsZero() && now.Sub(vote.At) > group.Within:
		return false
	}
	return BelongsTo(vote.User, *group)
}

// BelongsTo reports whether a user belongs to one of the groups.
func BelongsTo(user User, groups ...Group) bool {
	return slices.ContainsFunc(groups, func(group Group) bool {
		if group.Tag == "" && len(group.Users) == 0 {
			return true
		}
		return slices.Contains(group.Users, user.ID) || group.Tag != "" && slices.Contains(user.Tags, group.Tag)
	})
}

// Missing returns how many votes each of the groups of a decision still needs, as few as possible in
// all. Groups of one rule are filled by different people; those of two rules can be filled by the same.
func Missing(groups []Group, votes []Vote, submitter string, now time.Time) []int {
	f := &filling{groups: groups, seated: make([][]string, len(groups)), admits: func(group *Group, user string) bool {
		return slices.ContainsFunc(votes, func(vote Vote) bool {
			return vote.User.ID == user && Admits(group, vote, submitter, now)
		})
	}}
	for i := range groups {
		if slices.ContainsFunc(groups[:i], func(group Group) bool { return group.Rule == groups[i].Rule }) {
			continue
		}
		for j := range votes {
			user := votes[j].User.ID
			if !slices.ContainsFunc(votes[:j], func(vote Vote) bool { return vote.User.ID == user }) {
				f.seat(user, groups[i].Rule, make([]bool, len(groups)))
			}
		}
	}
	missing := make([]int, len(groups))
	for i := range groups {
		missing[i] = groups[i].Count - len(f.seated[i])
	}
	return missing
}

// filling is who fills the places of groups: a matching of users and places that grows along
// augmenting paths, so that no one who fills a place keeps another from it.
type filling struct {
	groups []Group
	seated [][]string // users, by group
	admits func(group *Group, user string) bool
}

// seat gives a user a place of a rule, if need be by moving others. tried are the groups that
// have been considered.
func (f *filling) seat(user, rule string, tried []bool) bool {
	for i := range f.groups {
		if tried[i] || f.groups[i].Rule != rule || !f.admits(&f.groups[i], user) {
			continue
		}
		tried[i] = true
		if len(f.seated[i]) < f.groups[i].Count {
			f.seated[i] = append(f.seated[i], user)
			return true
		}
		for place, other := range f.seated[i] {
			if f.seat(other, rule, tried) {
				f.seated[i][place] = user
				return true
			}
		}
	}
	return false
}

// PolicyFunc is an adapter to use a function as a Policy.
type PolicyFunc func(ctx context.Context, authorization Authorization) error

func (f PolicyFunc) Authorize(ctx context.Context, authorization Authorization) error {
	return f(ctx, authorization)
}
