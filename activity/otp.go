package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// InitOTPAuthIntent asks for a one-time password to be sent. It has the parameters of an
// init_otp_auth request (initOtpAuthIntentV3) as submitted; package otp validates them and
// applies defaults.
type InitOTPAuthIntent struct {
	OTPType                 string             `json:"otpType"`             // OTP_TYPE_EMAIL or OTP_TYPE_SMS
	Contact                 string             `json:"contact"`             // e-mail address, or phone number in E.164
	OTPLength               int                `json:"otpLength,omitempty"` // 0: absent
	AppName                 string             `json:"appName,omitempty"`
	EmailCustomization      EmailCustomization `json:"emailCustomization,omitzero"`
	SMSCustomization        SMSCustomization   `json:"smsCustomization,omitzero"`
	UserIdentifier          string             `json:"userIdentifier,omitempty"` // key of the per-user limits
	SendFromEmailAddress    string             `json:"sendFromEmailAddress,omitempty"`
	Alphanumeric            *bool              `json:"alphanumeric,omitempty"` // nil: absent
	SendFromEmailSenderName string             `json:"sendFromEmailSenderName,omitempty"`
	ExpirationSeconds       string             `json:"expirationSeconds,omitempty"` // decimal
	ReplyToEmailAddress     string             `json:"replyToEmailAddress,omitempty"`
}

// EmailCustomization customizes an e-mail.
type EmailCustomization struct {
	LogoURL           string `json:"logoUrl,omitempty"`
	MagicLinkTemplate string `json:"magicLinkTemplate,omitempty"` // a URL with one %s
	TemplateVariables string `json:"templateVariables,omitempty"` // a JSON object of strings, as a string
	TemplateID        string `json:"templateId,omitempty"`
}

// SMSCustomization customizes a text message.
type SMSCustomization struct {
	Template string `json:"template,omitempty"`
}

// InitOTPAuthResult is the result of an InitOTPAuthIntent (initOtpAuthResultV2).
type InitOTPAuthResult struct {
	OTPID string `json:"otpId"`
}

// InitOTPV2Intent asks for a one-time password to be sent, with the parameters of an
// [InitOTPAuthIntent] (initOtpIntentV2).
type InitOTPV2Intent InitOTPAuthIntent

// InitOTPV3Intent is an [InitOTPV2Intent] whose code can be redeemed encrypted (initOtpIntentV3).
type InitOTPV3Intent InitOTPAuthIntent

// InitOTPV2Result is the result of an InitOTPV2Intent (initOtpResult).
type InitOTPV2Result struct {
	OTPID string `json:"otpId"`
}

// InitOTPV3Result is the result of an InitOTPV3Intent (initOtpResultV2).
type InitOTPV3Result struct {
	OTPID        string `json:"otpId"`
	TargetBundle string `json:"otpEncryptionTargetBundle"` // see otp.TargetBundle
}

// VerifyOTPV2Intent redeems a one-time password that the client encrypted (verifyOtpIntentV2).
type VerifyOTPV2Intent struct {
	OTPID             string `json:"otpId"`
	EncryptedBundle   string `json:"encryptedOtpBundle"`          // the code and the token's public key: see otp.Encrypt
	ExpirationSeconds string `json:"expirationSeconds,omitempty"` // of the token, decimal
}

// VerifyOTPV2Result is the result of a VerifyOTPV2Intent (verifyOtpResult).
type VerifyOTPV2Result struct {
	VerificationToken string `json:"verificationToken"`
}

// VerifyOTPIntent redeems a one-time password. It has the parameters of a verify_otp
// request (verifyOtpIntent) as submitted.
type VerifyOTPIntent struct {
	OTPID             string `json:"otpId"`
	OTPCode           string `json:"otpCode"`
	PublicKey         string `json:"publicKey,omitempty"`         // copied into the token
	ExpirationSeconds string `json:"expirationSeconds,omitempty"` // of the token, decimal
}

// VerifyOTPResult is the result of a VerifyOTPIntent (verifyOtpResult).
type VerifyOTPResult struct {
	VerificationToken string `json:"verificationToken"`
}

func (InitOTPAuthIntent) ActivityType() Type { return TypeInitOTPAuth }
func (VerifyOTPIntent) ActivityType() Type   { return TypeVerifyOTP }
func (InitOTPAuthResult) ActivityType() Type { return TypeInitOTPAuth }
func (VerifyOTPResult) ActivityType() Type   { return TypeVerifyOTP }
func (InitOTPV2Intent) ActivityType() Type   { return TypeInitOTPV2 }
func (InitOTPV3Intent) ActivityType() Type   { return TypeInitOTPV3 }
func (VerifyOTPV2Intent) ActivityType() Type { return TypeVerifyOTPV2 }
func (InitOTPV2Result) ActivityType() Type   { return TypeInitOTPV2 }
func (InitOTPV3Result) ActivityType() Type   { return TypeInitOTPV3 }
func (VerifyOTPV2Result) ActivityType() Type { return TypeVerifyOTPV2 }

// decodeInit decodes the parameters that all versions of a request for a code share.
func decodeInit[T interface {
	InitOTPAuthIntent | InitOTPV2Intent | InitOTPV3Intent
	Intent
}](parameters *parameterText) (Intent, bool, error) {
	var intent InitOTPAuthIntent
	proofs, err := parameters.read(
		required("otpType", &intent.OTPType),
		required("contact", &intent.Contact),
		strictjson.Optional("otpLength", &intent.OTPLength),
		optional("appName", &intent.AppName),
		strictjson.Optional("emailCustomization", intent.EmailCustomization.read),
		strictjson.Optional("smsCustomization", intent.SMSCustomization.read),
		optional("userIdentifier", &intent.UserIdentifier),
		optional("sendFromEmailAddress", &intent.SendFromEmailAddress),
		strictjson.Optional("alphanumeric", &intent.Alphanumeric),
		optional("sendFromEmailSenderName", &intent.SendFromEmailSenderName),
		optional("expirationSeconds", &intent.ExpirationSeconds),
		optional("replyToEmailAddress", &intent.ReplyToEmailAddress),
	)
	return T(intent), proofs, err
}

func (c *EmailCustomization) read(reader *strictjson.Reader) error {
	return reader.Object(
		optional("logoUrl", &c.LogoURL),
		optional("magicLinkTemplate", &c.MagicLinkTemplate),
		optional("templateVariables", &c.TemplateVariables),
		optional("templateId", &c.TemplateID),
	)
}

func (c *SMSCustomization) read(reader *strictjson.Reader) error {
	return reader.Object(optional("template", &c.Template))
}

// Redacted implements Redacter. The code may still be valid.
func (i VerifyOTPIntent) Redacted() Intent {
	i.OTPCode = ""
	return i
}

// Redacted implements Redacter. Others could submit the bundle in a request of their own.
func (i VerifyOTPV2Intent) Redacted() Intent {
	i.EncryptedBundle = ""
	return i
}

func (i InitOTPAuthIntent) PersonalTexts() []string { return []string{i.Contact, i.UserIdentifier} }
func (i InitOTPV2Intent) PersonalTexts() []string   { return InitOTPAuthIntent(i).PersonalTexts() }
func (i InitOTPV3Intent) PersonalTexts() []string   { return InitOTPAuthIntent(i).PersonalTexts() }

func decodeVerifyOTP(parameters *parameterText) (Intent, bool, error) {
	var intent VerifyOTPIntent
	proofs, err := parameters.read(
		required("otpId", &intent.OTPID),
		required("otpCode", &intent.OTPCode),
		optional("publicKey", &intent.PublicKey),
		optional("expirationSeconds", &intent.ExpirationSeconds),
	)
	return intent, proofs, err
}

func decodeVerifyOTPV2(parameters *parameterText) (Intent, bool, error) {
	var intent VerifyOTPV2Intent
	proofs, err := parameters.read(
		required("otpId", &intent.OTPID),
		required("encryptedOtpBundle", &intent.EncryptedBundle),
		optional("expirationSeconds", &intent.ExpirationSeconds),
	)
	return intent, proofs, err
}
