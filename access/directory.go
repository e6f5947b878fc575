package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/stamp"
)

// Errors of a Directory, for errors.Is.
var (
	ErrOrganizationNotFound = errors.New("countersign: no such organization")
	ErrCredentialNotFound   = errors.New("countersign: no such credential")
	ErrUserNotFound         = errors.New("countersign: no such user")
	ErrCallerNotFound       = errors.New("countersign: no such caller")
)

// Organization owns keys, credentials and activities. Nothing that belongs to one
// organization can be found from another.
type Organization struct {
	ID   string
	Name string

	// AllowHazards names the hazards that may be signed for this organization, in
	// addition to those of Config.AllowHazards.
	AllowHazards []string

	// ResumeApprovals is how many users have to ask for the end of a halt; 0 is 1.
	ResumeApprovals int

	// WideningApprovals is how many users have to ask for a policy that allows more than the one in
	// force, by ACTIVITY_TYPE_RESUME; 0 holds back none.
	WideningApprovals int
}

// User is a person or a program of an organization.
type User struct {
	ID        string
	Name      string
	Tags      []string  // groups that policies name
	CreatedAt time.Time // zero if it is not known
}

// Member is a credential and the user it belongs to, or a user who calls without one.
type Member struct {
	User       User
	Credential *stamp.Credential // nil for a call without a stamp
	Granted    []activity.Type   // of a call without a stamp; nil for all that [CheckGranted] takes
}

// May reports whether the member's credential may submit activities of a type. Some
// types it has to name: see [activity.Type.MustBeNamed]. A user without a credential, who
// calls as by Engine.As, may have transactions and messages signed, as far as that was
// granted: never vote, send or redeem a code, or administer.
func (m *Member) May(kind activity.Type) bool {
	if m.Credential == nil {
		return kind.Signs() && (m.Granted == nil || slices.Contains(m.Granted, kind))
	}
	if kind.MustBeNamed() {
		return slices.Contains(m.Credential.Activities, string(kind))
	}
	return m.Credential.Allows(string(kind))
}

// MayVote reports whether the credential may vote on activities, either way.
func (m *Member) MayVote() bool {
	return m.May(activity.TypeApproveActivity) || m.May(activity.TypeRejectActivity)
}

// Directory knows the organizations, their users and their credentials. NewDirectory returns one
// that is read from a configuration; an embedder can use a database. Implementations must be safe
// for concurrent use, and must not modify what they have returned.
//
// Any error other than those named here is answered as unavailable.
type Directory interface {
	// Organization returns an organization, or ErrOrganizationNotFound.
	Organization(ctx context.Context, organizationID string) (*Organization, error)

	// Member returns the organization's credential with this id, and its user. It returns
	// ErrCredentialNotFound if this organization has none, even if another one does. An expired
	// credential is returned too: verifying the stamp checks the expiry.
	Member(ctx context.Context, organizationID string, id stamp.ID) (*Member, error)
}

// CheckGranted refuses types that no caller without a credential may submit: all but
// transactions and messages.
func CheckGranted(types []activity.Type) error {
	for i, kind := range types {
		if !kind.Signs() {
			return fmt.Errorf("activities[%d]: %q cannot be granted to a caller without a credential: name types "+
				"that sign, such as %s, or leave the list out for all of these",
				i, plaintext.Shorten(string(kind), maxShown), activity.TypeSignTransaction)
		}
	}
	return nil
}

// Callers is implemented by a [Directory] that knows how users without a credential of their
// own are recognized, such as that of rpcapi.Directory. It is asked when such a user calls,
// and again before a call that waited for approvals is carried out. With any other directory,
// a call that was granted when it was made stays so for as long as its user exists.
type Callers interface {
	// Granted returns what the entry grants by which a user is recognized in a way, the
	// authentication of Engine.As; or ErrCallerNotFound. nil stands for all that
	// CheckGranted takes.
	Granted(ctx context.Context, organizationID, userID, authentication string) ([]activity.Type, error)
}

// Users is implemented by a [Directory] that finds users by their ids. Only with one can a call
// without a stamp wait for approvals, because its user is looked up again before it is carried out.
type Users interface {
	// User returns a user of the organization, or ErrUserNotFound.
	User(ctx context.Context, organizationID, userID string) (*User, error)
}

// ParseStamp reads the stamp in the headers of a request. It refuses what no engine accepts,
// whatever the body: no stamp, several, or a malformed one. A server calls it before it
// reads a long body. The error is an *activity.Error.
func ParseStamp(headers []stamp.Header) (*stamp.Stamp, error) {
	if len(headers) != 1 {
		return nil, activity.NewError(activity.ReasonSignatureMissing, "", nil,
			"%d stamps: expected exactly one header, %s or %s", len(headers), stamp.HeaderAPIKey, stamp.HeaderPasskey)
	}
	parsed, err := stamp.Parse(headers[0])
	if err != nil {
		return nil, RefuseStamp(err)
	}
	return parsed, nil
}

// RefuseStamp returns the refusal of a stamp. It is the same whatever is wrong with it: the
// cause is not part of the message.
func RefuseStamp(cause error) error {
	return activity.NewError(activity.ReasonSignatureInvalid, "", cause,
		"the stamp does not verify: it is malformed, or not over this body by a valid key of the organization")
}

// State is what is in force at one time. Each member may be nil: without a Directory there is
// no organization, without Descriptors no call is read, without Names nothing has one.
type State struct {
	Directory   Directory
	Descriptors chains.Reader
	Names       chains.Names
}

// Current is the state in force, which can be replaced while an engine serves. The zero value
// has none. It implements [Directory], [chains.Reader] and [chains.Names], and is safe for
// concurrent use:
//
//	current := access.NewCurrent(access.State{Directory: directory, Descriptors: reader, Names: book})
//	engine, err := countersign.New(countersign.Config{Directory: current, Descriptors: current, Names: current, …})
//	…
//	current.Replace(access.State{Directory: next, Descriptors: reader, Names: book})
//
// The rules of an organization are replaced by Replace of policy.Organizations.
type Current struct {
	state atomic.Pointer[State]
}

var (
	_ Directory     = (*Current)(nil)
	_ Callers       = (*Current)(nil)
	_ chains.Reader = (*Current)(nil)
	_ chains.Names  = (*Current)(nil)
)

// NewCurrent returns the given state as the one in force.
func NewCurrent(state State) *Current {
	c := new(Current)
	c.Replace(state)
	return c
}

// Replace puts another state in force, as a whole. Every look-up that begins afterwards is of
// the new one: a user that it lacks can send nothing more. A request under way may have
// looked up its user in the old one, and its descriptors in the new one.
func (c *Current) Replace(state State) { c.state.Store(&state) }

// State returns the state in force.
func (c *Current) State() State {
	if state := c.state.Load(); state != nil {
		return *state
	}
	return State{}
}

func (c *Current) Organization(ctx context.Context, organizationID string) (*Organization, error) {
	if directory := c.State().Directory; directory != nil {
		return directory.Organization(ctx, organizationID)
	}
	return nil, ErrOrganizationNotFound
}

func (c *Current) Member(ctx context.Context, organizationID string, id stamp.ID) (*Member, error) {
	if directory := c.State().Directory; directory != nil {
		return directory.Member(ctx, organizationID, id)
	}
	return nil, ErrCredentialNotFound
}

// User implements [Users], if the directory in force does.
func (c *Current) User(ctx context.Context, organizationID, userID string) (*User, error) {
	if users, ok := c.State().Directory.(Users); ok {
		return users.User(ctx, organizationID, userID)
	}
	return nil, ErrUserNotFound
}

// Granted implements [Callers]. If the directory in force does not, all is granted that can be.
func (c *Current) Granted(ctx context.Context, organizationID, userID, authentication string) ([]activity.Type, error) {
	if callers, ok := c.State().Directory.(Callers); ok {
		return callers.Granted(ctx, organizationID, userID, authentication)
	}
	return nil, nil
}

func (c *Current) Read(call chains.Call) (chains.Reading, bool) {
	if reader := c.State().Descriptors; reader != nil {
		return reader.Read(call)
	}
	return chains.Reading{}, false
}

func (c *Current) LookupTable(address []byte) (chains.LookupTable, bool) {
	if reader := c.State().Descriptors; reader != nil {
		return reader.LookupTable(address)
	}
	return chains.LookupTable{}, false
}

func (c *Current) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	if names := c.State().Names; names != nil {
		return names.Token(asset)
	}
	return "", 0, false
}

func (c *Current) Label(party chains.Party) string {
	if names := c.State().Names; names != nil {
		return names.Label(party)
	}
	return ""
}

// Labeled implements Labeled of package chains/names, if the names in force do.
func (c *Current) Labeled() [][]byte {
	if names, ok := c.State().Names.(interface{ Labeled() [][]byte }); ok {
		return names.Labeled()
	}
	return nil
}
