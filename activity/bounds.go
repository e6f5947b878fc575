package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// maxQuoted is the number of bytes of a request that an error quotes.
const maxQuoted = 100

// Bounds of members that other packages use, in bytes.
const (
	MaxOrganizationID = 128
	MaxSignWith       = 255
	MaxPayload        = 256 << 10 // also for the sum of a request's payloads
	maxScheme         = 300
)

// bounds are the maximum lengths of a request's strings, in bytes of UTF-8. They are
// enforced during decoding, before anything else reads the member, so that no cost grows
// with unauthenticated input. 0 means no bound but that of the body: a transaction is
// parsed in linear time.
var bounds = map[string]int{
	"type":           64,
	"timestampMs":    maxTimestampDigits,
	"organizationId": MaxOrganizationID,
	"activityId":     128,
	"userId":         1024,
	"privateKeyId":   MaxSignWith,
	"walletId":       MaxSignWith,
	"address":        MaxSignWith,
	"path":           MaxSignWith,
	"scheme":         maxScheme,

	"fingerprint":    len("sha256:") + 64,
	"shown":          64,
	"policy":         64,
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
	"encryptedOtpBundle":      4096, // a bundle of the longest code and key has about 2,800
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

// required reads a string that a request must have, within its bound.
func required(name string, into *string) strictjson.Field {
	return strictjson.Required(name, into).AtMost(boundOf(name))
}

// optional reads a string that a request may have, within its bound.
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
