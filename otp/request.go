package otp

// Request asks for a one-time password to be sent: the parameters of
// init_otp_auth under the names of the API. A zero field is one that the
// request does not have.
type Request struct {
	Type    Type   // otpType
	Contact string // contact: an e-mail address, or a phone number in E.164

	Length            int    // otpLength: 6 to 9, default 9
	Alphanumeric      *bool  // alphanumeric: Crockford base 32, or digits; default true
	ExpirationSeconds string // expirationSeconds: decimal, default "300"
	AppName           string // appName; default: the organization's name
	UserIdentifier    string // userIdentifier: who is counted; default: the contact

	Email *EmailCustomization // emailCustomization
	SMS   *SMSCustomization   // smsCustomization

	SendFromEmailAddress    string // sendFromEmailAddress
	SendFromEmailSenderName string // sendFromEmailSenderName; default "Notifications"
	ReplyToEmailAddress     string // replyToEmailAddress
}

// EmailCustomization changes how an e-mail looks.
type EmailCustomization struct {
	LogoURL           string // logoUrl: https
	MagicLinkTemplate string // magicLinkTemplate: an https URL with one %s, for the code
	TemplateVariables string // templateVariables: a JSON object of strings
	TemplateID        string // templateId: a template of the configuration
}

// SMSCustomization changes how a text message looks.
type SMSCustomization struct {
	Template string // template: text with {{.OtpCode}} in it
}

// Message is one one-time password on its way to its user. It is the only
// place that has the code.
type Message struct {
	OTPID          string
	OrganizationID string
	Type           Type
	To             string // canonical

	Subject     string // of an e-mail, as are the following
	Text        string // of a text message too
	HTML        string // may be empty
	FromName    string
	FromAddress string // may be empty: the sender's own
	ReplyTo     string // may be empty
}
