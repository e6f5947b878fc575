package otp

// Request is the parameters of init_otp_auth: it asks for a one-time password to be
// sent. The comments give the API's names. A zero field is absent.
type Request struct {
	Type    Type   // otpType
	Contact string // contact: an e-mail address, or a phone number in E.164

	// Credential identifies what the request was stamped with, if its sends are limited.
	Credential string

	Length            int    // otpLength: 6 to 9, default 9
	Alphanumeric      *bool  // alphanumeric: Crockford base 32, or digits; default true
	ExpirationSeconds string // expirationSeconds: decimal, default "300"
	AppName           string // appName; default: the organization's name
	UserIdentifier    string // userIdentifier: the user that limits count; default: the contact

	Email *EmailCustomization // emailCustomization
	SMS   *SMSCustomization   // smsCustomization

	SendFromEmailAddress    string // sendFromEmailAddress
	SendFromEmailSenderName string // sendFromEmailSenderName; default "Notifications"
	ReplyToEmailAddress     string // replyToEmailAddress
}

// EmailCustomization changes the look of an e-mail.
type EmailCustomization struct {
	LogoURL           string // logoUrl: https
	MagicLinkTemplate string // magicLinkTemplate: an https URL with one %s, for the code
	TemplateVariables string // templateVariables: a JSON object of strings
	TemplateID        string // templateId: one of Config.Templates
}

// SMSCustomization changes the wording of a text message.
type SMSCustomization struct {
	Template string // template: text that contains {{.OtpCode}}
}

// Message carries a one-time password to its user. The code is nowhere else.
type Message struct {
	OTPID          string
	OrganizationID string
	Type           Type
	To             string // canonical

	Text string // of a text message or an e-mail

	// The rest is for e-mails only.
	Subject     string
	HTML        string // may be empty
	FromName    string
	FromAddress string // if empty, the sender's own
	ReplyTo     string // may be empty
}
