package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// MaxQuoted is how many bytes of a request an error repeats.
const MaxQuoted = 100

// Bounds of members that other packages share, in bytes.
const (
	MaxOrganizationID = 128
	MaxSignWith       = 255
	MaxPayload        = 256 << 10 // also of all payloads of a request together
)

// bounds is the length that each string of a request may have, in bytes of
// UTF-8. Decoding enforces it before anything else reads the member, so that no
// cost grows with what a stranger sends. Only a transaction may be as long as
// the body: its chain reads it in linear time.
var bounds = map[string]int{
	"type":           64,
	"timestampMs":    maxTimestampDigits,
	"organizationId": MaxOrganizationID,
	"activityId":     128,

	"fingerprint":    len("sha256:") + 64,
	"shown":          64,
	"filterByStatus": 512,
	"filterByType":   1024,
	"limit":          3,
	"before":         128,
	"after":          128,

	"signWith":            MaxSignWith,
	"unsignedTransaction": 0,

	"payload":      MaxPayload,
	"payloads":     MaxPayload,
	"encoding":     64,
	"hashFunction": 64,

	"otpId":                   128,
	"otpCode":                 64,
	"otpType":                 64,
	"publicKey":               512,
	"expirationSeconds":       16,
	"contact":                 254,
	"sendFromEmailAddress":    254,
	"replyToEmailAddress":     254,
	"appName":                 255,
	"sendFromEmailSenderName": 255,
	"userIdentifier":          255,
	"logoUrl":                 2048,
	"magicLinkTemplate":       2048,
	"templateVariables":       8 << 10,
	"templateId":              128,
	"template":                1024,
}

// required is a string that a request must have, within its bound.
func required(name string, into *string) strictjson.Field {
	return strictjson.Required(name, into).AtMost(boundOf(name))
}

// optional is a string that a request may have, within its bound.
func optional(name string, into *string) strictjson.Field {
	return strictjson.Optional(name, into).AtMost(boundOf(name))
}

func boundOf(name string) int {
	most, known := bounds[name]
	if !known {
		panic("activity: member " + name + " has no bound")
	}
	return most
}
