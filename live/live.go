// Package live holds what can be replaced while an engine serves: users, descriptors and
// names. The command serve replaces them on SIGHUP through this package.
//
//	current := live.New(live.State{Directory: directory, Descriptors: reader, Names: book})
//	engine, err := countersign.New(countersign.Config{Directory: current, Descriptors: current, Names: current, …})
//	…
//	current.Replace(live.State{Directory: next, Descriptors: reader, Names: book})
//
// The rules of an organization are replaced by Replace of policy.Organizations.
package live

import (
	"context"
	"sync/atomic"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/stamp"
)

// State is what is in force at one time. Each member may be nil: without a Directory there is
// no organization, without Descriptors no call is read, without Names nothing has one.
type State struct {
	Directory   access.Directory
	Descriptors chains.Reader
	Names       chains.Names
}

// Current is the state in force. The zero value has none. It implements [access.Directory],
// [chains.Reader], [chains.Names] and [names.Labeled], and is safe for
// concurrent use.
type Current struct {
	state atomic.Pointer[State]
}

var (
	_ access.Directory = (*Current)(nil)
	_ access.Callers   = (*Current)(nil)
	_ chains.Reader    = (*Current)(nil)
	_ chains.Names     = (*Current)(nil)
	_ names.Labeled    = (*Current)(nil)
)

// New returns the given state as the one in force.
func New(state State) *Current {
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

// Organization implements [access.Directory].
func (c *Current) Organization(ctx context.Context, organizationID string) (*access.Organization, error) {
	if directory := c.State().Directory; directory != nil {
		return directory.Organization(ctx, organizationID)
	}
	return nil, access.ErrOrganizationNotFound
}

// Member implements [access.Directory].
func (c *Current) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	if directory := c.State().Directory; directory != nil {
		return directory.Member(ctx, organizationID, id)
	}
	return nil, access.ErrCredentialNotFound
}

// User implements [access.Users], if the directory in force does.
func (c *Current) User(ctx context.Context, organizationID, userID string) (*access.User, error) {
	if users, ok := c.State().Directory.(access.Users); ok {
		return users.User(ctx, organizationID, userID)
	}
	return nil, access.ErrUserNotFound
}

// Granted implements [access.Callers]. If the directory in force does not, all is granted that
// can be.
func (c *Current) Granted(ctx context.Context, organizationID, userID, authentication string) ([]activity.Type, error) {
	if callers, ok := c.State().Directory.(access.Callers); ok {
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

// Labeled implements [names.Labeled].
func (c *Current) Labeled() [][]byte {
	if labeled, ok := c.State().Names.(names.Labeled); ok {
		return labeled.Labeled()
	}
	return nil
}
