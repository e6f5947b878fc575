package verify

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Submitter is what an engine says about the caller of a request that has no stamp: the
// user of [countersign.Engine.As], of a JSON-RPC call, or of sign on the command line.
type Submitter struct {
	UserID         string `json:"userId"`
	Authentication string `json:"authentication"` // LOCAL, or CERTIFICATE and the name in it
	Proven         string `json:"proven"`         // what the answer proves about the caller
	NotProven      string `json:"notProven"`      // and what it does not
}

// SubmitterOf returns what the engine says about the caller of the request in trust.Body. It
// is nil for a request with a stamp, which proves who made it (see [Votes]).
func SubmitterOf(trust Trust) (*Submitter, error) {
	request, err := activity.Decode(trust.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: the body of the request: %w", ErrAnswer, err)
	}
	if request.Submitter == (activity.Submitter{}) {
		return nil, nil
	}
	return submitterOf(request, trust.ProofKey != nil || trust.LogKey != ""), nil
}

func submitterOf(request *activity.Request, proven bool) *Submitter {
	by := request.Submitter
	said := &Submitter{
		UserID: by.UserID, Authentication: by.Scheme,
		Proven: fmt.Sprintf("the engine judged, charged and recorded the request as one of user %s, whom it "+
			"recognized by %s", by.UserID, by.Scheme),
	}
	if !proven {
		said.Proven = "nothing about the caller: neither a proof key nor a log key was given"
	}
	kind, name, _ := strings.Cut(by.Scheme, " ")
	switch kind {
	case activity.SchemeLocal:
		said.NotProven = "that the user asked for it: there is no stamp, and the program that runs the engine, or " +
			"the person at its terminal, named the user"
	case "CERTIFICATE":
		said.NotProven = fmt.Sprintf("that the holder of the certificate of %s asked for these bytes: there is no "+
			"stamp over them. "+
			"The engine saw the certificate on a connection, and its operator could make such a "+
			"record without one", name)
	default:
		said.NotProven = "that the user asked for it: there is no stamp, and the operator of the engine could make " +
			"such a record without the user"
	}
	return said
}

// unstamped is why the submitter's vote cannot be verified if the body has no stamp.
func unstamped(request *activity.Request) error {
	if request.Submitter == (activity.Submitter{}) {
		return nil
	}
	said := submitterOf(request, true)
	return fmt.Errorf("the call was made without a stamp, and only the engine vouches for its submitter, recorded as "+
		"%s: it does not prove %s",
		plaintext.Shorten(said.Authentication, maxQuoted), said.NotProven)
}
