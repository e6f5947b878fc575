package access

import (
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

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
