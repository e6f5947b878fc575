package access

import (
	"context"
	"sync/atomic"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/stamp"
)

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

// Organization implements [Directory].
func (c *Current) Organization(ctx context.Context, organizationID string) (*Organization, error) {
	if directory := c.State().Directory; directory != nil {
		return directory.Organization(ctx, organizationID)
	}
	return nil, ErrOrganizationNotFound
}

// Member implements [Directory].
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

// Granted implements [Callers]. If the directory in force does not, all is granted that
// can be.
func (c *Current) Granted(ctx context.Context, organizationID, userID, authentication string) ([]activity.Type, error) {
	if callers, ok := c.State().Directory.(Callers); ok {
		return callers.Granted(ctx, organizationID, userID, authentication)
	}
	return nil, nil
}

// Read implements [chains.Reader].
func (c *Current) Read(call chains.Call) (chains.Reading, bool) {
	if reader := c.State().Descriptors; reader != nil {
		return reader.Read(call)
	}
	return chains.Reading{}, false
}

// LookupTable implements [chains.Reader].
func (c *Current) LookupTable(address []byte) (chains.LookupTable, bool) {
	if reader := c.State().Descriptors; reader != nil {
		return reader.LookupTable(address)
	}
	return chains.LookupTable{}, false
}

// Token implements [chains.Names].
func (c *Current) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	if names := c.State().Names; names != nil {
		return names.Token(asset)
	}
	return "", 0, false
}

// Label implements [chains.Names].
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
