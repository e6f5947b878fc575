package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/stamp"
)

// who is a clause about the submitter. All members that are set must hold.
type who struct {
	users       []string // ids or, with byName, names
	byName      bool     // the users were not known when the file was read
	tag         string
	credentials []string
	any, all    []*who
	not         *who
}

// holds reports whether the clause matches the request. A nil clause matches all.
func (w *who) holds(request *access.Authorization) bool {
	if w == nil {
		return true
	}
	user := &request.User
	holds := func(part *who) bool { return part.holds(request) }
	switch {
	case len(w.users) > 0 && !slices.Contains(w.users, user.ID) && (!w.byName || !slices.Contains(w.users, user.Name)):
		return false
	case w.tag != "" && !slices.Contains(user.Tags, w.tag):
		return false
	case len(w.credentials) > 0 && !isCredential(w.credentials, request.Credential):
		return false
	case len(w.any) > 0 && !slices.ContainsFunc(w.any, holds):
		return false
	case slices.ContainsFunc(w.all, func(part *who) bool { return !holds(part) }):
		return false
	}
	return w.not == nil || !w.not.holds(request)
}

// isCredential reports whether a credential is among those named, by id or public key.
func isCredential(named []string, credential *stamp.Credential) bool {
	return credential != nil && (slices.Contains(named, string(credential.ID())) || slices.Contains(named, credential.PublicKeyText()))
}
