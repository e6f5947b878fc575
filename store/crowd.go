package store

import (
	"errors"
	"fmt"
)

// Crowd counts waiting activities: those of one user, and those of the whole organization.
// In a bound, 0 means that there is none.
type Crowd struct {
	OfUser         int
	OfOrganization int
}

// ErrCrowded says that no further activity may wait and that nothing was written. The error
// is a *CrowdedError.
var ErrCrowded = errors.New("store: too many activities wait")

// CrowdedError is the refusal of an activity because too many are waiting already.
type CrowdedError struct {
	Waiting int  // how many do
	OfUser  bool // they are of the same user, and those of others are not too many
}

// Error says how many activities wait.
func (e *CrowdedError) Error() string { return fmt.Sprintf("%v: %d", ErrCrowded, e.Waiting) }
func (*CrowdedError) Unwrap() error   { return ErrCrowded }

// Bounds reports whether the activity is one of which the store has to look how many others wait.
func (a *Activity) Bounds() bool { return a.Waiting && a.Most != (Crowd{}) }

// Admit returns a *CrowdedError if so many others wait that the activity may not.
func (a *Activity) Admit(others Crowd) error {
	switch most := a.Most; {
	case !a.Waiting:
	case most.OfUser > 0 && others.OfUser >= most.OfUser:
		return &CrowdedError{Waiting: others.OfUser, OfUser: true}
	case most.OfOrganization > 0 && others.OfOrganization >= most.OfOrganization:
		return &CrowdedError{Waiting: others.OfOrganization}
	}
	return nil
}

// Count counts another activity if it is in the same organization, waits, and is not the same.
func (c *Crowd) Count(activity, other *Activity) {
	if !other.Waiting || other.OrganizationID != activity.OrganizationID || other.Fingerprint == activity.Fingerprint {
		return
	}
	c.OfOrganization++
	if other.User == activity.User {
		c.OfUser++
	}
}
