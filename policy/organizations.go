package policy

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/countersign-dev/countersign/access"
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
			file = new(File) // without rules, which denies everything
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

// Authorize implements [access.Policy].
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
