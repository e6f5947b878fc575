package otp

// Type is how a code reaches the user, by the API's name.
type Type string

// The types that the API has.
const (
	TypeEmail Type = "OTP_TYPE_EMAIL"
	TypeSMS   Type = "OTP_TYPE_SMS"
)

// Channel returns "email" or "sms".
func (t Type) Channel() string {
	if t == TypeSMS {
		return "sms"
	}
	return "email"
}
