package otp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

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

// Sender delivers messages. Packages otp/smtp, otp/webhook and otp/outbox implement
// it.
type Sender interface {
	// Send returns nil once the message has been handed over for delivery. After
	// an error the message may still arrive, but its code is dead. Send must
	// respect ctx, and its error must not contain any part of the message.
	Send(ctx context.Context, message Message) error
}

// Format writes only the one-time password's id, for every verb, so that printing or
// logging a message does not reveal its code.
func (m Message) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, m.redacted()) }

// LogValue returns what Format writes.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.redacted()) }

func (m Message) redacted() string { return "message of one-time password " + m.OTPID + " [redacted]" }

// Format writes only the one-time password's id, for every verb.
func (i *Issue) Format(state fmt.State, verb rune) { i.message.Format(state, verb) }

// LogValue returns what Format writes.
func (i *Issue) LogValue() slog.Value { return i.message.LogValue() }
