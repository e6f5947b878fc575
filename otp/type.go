package otp

// Type is how a code gets to the user, as the API names it.
type Type string

// The types of the API.
const (
	TypeEmail Type = "OTP_TYPE_EMAIL"
	TypeSMS   Type = "OTP_TYPE_SMS"
)
