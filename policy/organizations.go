package policy

import (
	"context"
	"sync/atomic"

	"github.com/countersign-dev/countersign"
)

// Organizations is the policy of an engine that serves several organizations:
// each has a file of its own, or none. It is safe for concurrent use.
type Organizations struct {
	files map[string]*atomic.Pointer[File]
}

var _ countersign.Decider = (*Organizations)(nil)

// NewOrganizations makes a policy of the files by the id of their organization.
func NewOrganizations(files map[string]*File) *Organizations {
	made := &Organizations{files: map[string]*atomic.Pointer[File]{}}
	for id, file := range files {
		made.files[id] = new(atomic.Pointer[File])
		made.files[id].Store(file)
	}
	return made
}

// Decide implements countersign.Decider. An organization without a file allows
// whatever its credentials may submit; hazards are not allowed by that.
func (o *Organizations) Decide(ctx context.Context, asked countersign.Authorization) (countersign.Decision, error) {
	if file := o.File(asked.Organization); file != nil {
		return file.Decide(ctx, asked)
	}
	return countersign.Decision{}, nil
}

// Authorize implements countersign.Policy.
func (o *Organizations) Authorize(ctx context.Context, asked countersign.Authorization) error {
	if file := o.File(asked.Organization); file != nil {
		return file.Authorize(ctx, asked)
	}
	return nil
}

// File returns the file of an organization, nil if it has none.
func (o *Organizations) File(organization *countersign.Organization) *File {
	if organization == nil {
		return nil
	}
	if at, ok := o.files[organization.ID]; ok {
		return at.Load()
	}
	return nil
}

// Replace puts another file in the place of the one that an organization has. It
// reports whether the organization has one. Requests that are being decided keep
// the file that they began with.
func (o *Organizations) Replace(organizationID string, file *File) bool {
	at, ok := o.files[organizationID]
	if ok && file != nil {
		at.Store(file)
	}
	return ok && file != nil
}
