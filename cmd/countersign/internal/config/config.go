// Package config reads countersign.yaml, the configuration of the command:
//
//	listen: 127.0.0.1:8080          # the API
//	admin: 127.0.0.1:8081           # health and metrics; left out: none
//	tls: {certFile: …, keyFile: …}  # optional
//	origins: [https://app.example.com]  # pages that may use the API from a browser; left out: none
//	console: {origin: …, rpId: …}   # the page of approvals, at /console/; left out: none
//	store: bolt:state.db            # memory | bolt:PATH | postgres://…
//	keystore: file:keys             # or pkcs11:…
//	passphraseFile: passphrase      # mode 0600; left out: asked for on the terminal
//	proofKey: file:proof.pem        # an ECDSA key on P-256; left out: no app proofs and no one-time passwords redeemed
//	log: {keyFile: log.pem}         # Ed25519, signs checkpoints of the log; off: true for no log
//	organizations: […]              # countersign.OrganizationConfig
//	descriptors: {folder: …, pins: …, auditors: […]}  # what calls mean; left out: only what is built in
//	tokens: [tokens.json]           # token lists, for display
//	labels: [{chain: …, address: …, label: …}]  # an address book, for display
//	limits: {connections: 1024, …}  // what clients may take up; left out: defaults
//	otp: {…}                        # OTP; left out: no one-time passwords
//
// It is strict. A member that is unknown, twice there or of the wrong kind is
// an error that names it and its line, for a member that is silently ignored
// may be the one that forbids something. Relative paths are relative to the
// file. Secrets are not in it but in files of their own, which it names.
package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/otp"
)

// Config is the configuration. Paths in it are as they can be opened.
type Config struct {
	Path           string                           `yaml:"-"` // of the file
	Listen         string                           `yaml:"listen"`
	Admin          string                           `yaml:"admin"`
	TLS            *TLS                             `yaml:"tls"`
	Origins        []string                         `yaml:"origins"`
	Console        *Console                         `yaml:"console"`
	Store          string                           `yaml:"store"`
	Keystore       string                           `yaml:"keystore"`
	PassphraseFile string                           `yaml:"passphraseFile"`
	ProofKey       string                           `yaml:"proofKey"`
	Organizations  []countersign.OrganizationConfig `yaml:"organizations"`
	Descriptors    *Descriptors                     `yaml:"descriptors"`
	Tokens         []string                         `yaml:"tokens"` // files
	Labels         []Label                          `yaml:"labels"`
	OTP            *OTP                             `yaml:"otp"`
	Log            Log                              `yaml:"log"`
	Limits         Limits                           `yaml:"limits"`
}

// Limits bound what clients together may take up of the server; zero: the defaults of
// package httpapi.
type Limits struct {
	Connections  int `yaml:"connections"`  // open at once
	RequestBytes int `yaml:"requestBytes"` // memory of all bodies that arrive
	AnswerBytes  int `yaml:"answerBytes"`  // memory of all answers that leave
}

// LeastBudget is the least that requestBytes and answerBytes may be: one address has a
// quarter of them, and the longest body has 2 MiB.
const LeastBudget = 8 << 20

func (l Limits) check() error {
	switch {
	case l.Connections < 0:
		return errors.New("limits.connections: 1 or more, or left out")
	case l.RequestBytes != 0 && l.RequestBytes < LeastBudget:
		return fmt.Errorf("limits.requestBytes: %d bytes or more, as one address has a quarter, and the longest request 2 MiB", LeastBudget)
	case l.AnswerBytes != 0 && l.AnswerBytes < LeastBudget:
		return fmt.Errorf("limits.answerBytes: %d bytes or more", LeastBudget)
	}
	return nil
}

// Log is how the log of completed activities is kept.
type Log struct {
	KeyFile string `yaml:"keyFile"` // signs checkpoints; left out: none can be signed
	Off     bool   `yaml:"off"`     // keep none
}

// Descriptors is a folder of files that say what calls mean, and on whose word
// they are used.
type Descriptors struct {
	Folder   string   `yaml:"folder"`
	Pins     string   `yaml:"pins"`     // manifest, as 'countersign descriptors pin' makes it
	Auditors []string `yaml:"auditors"` // addresses whose attestations count (ERC-8176)
}

// Label is what to call an address.
type Label struct {
	Chain   string `yaml:"chain"` // such as eip155:1, solana, tron
	Address string `yaml:"address"`
	Label   string `yaml:"label"`
}

// Console is where the page of approvals is opened; console.Options says more.
type Console struct {
	Origin string `yaml:"origin"`
	RPID   string `yaml:"rpId"`
}

// MemoryStore is the store that forgets, and loses all at the end.
const MemoryStore = "memory:"

// TLS names the certificate chain and the private key, in PEM.
type TLS struct {
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"`
}

// OTP is how one-time passwords are kept and sent.
type OTP struct {
	SecretFile string              `yaml:"secretFile"`
	Email      *Email              `yaml:"email"`
	SMS        *SMS                `yaml:"sms"`
	Outbox     string              `yaml:"outbox"` // a folder, instead of Email and SMS
	Templates  map[string]Template `yaml:"templates"`
}

// Email is how e-mail is sent: one of the two.
type Email struct {
	SMTP    *SMTP    `yaml:"smtp"`
	Webhook *Webhook `yaml:"webhook"`
}

// SMS is how text messages are sent.
type SMS struct {
	Webhook *Webhook `yaml:"webhook"`
}

// SMTP is a mail server, see smtp.Config.
type SMTP struct {
	Host           string   `yaml:"host"`
	Port           int      `yaml:"port"`
	Username       string   `yaml:"username"`
	PasswordFile   string   `yaml:"passwordFile"`
	TLS            string   `yaml:"tls"` // starttls (default), implicit, insecure-plaintext
	From           string   `yaml:"from"`
	AllowedDomains []string `yaml:"allowedDomains"` // that a request may choose its sender's address from
}

// Webhook is an endpoint, see webhook.Config.
type Webhook struct {
	URL string `yaml:"url"`

	// HeadersFile has lines "Name: value" that are sent along, such as the
	// endpoint's own authorization.
	HeadersFile string `yaml:"headersFile"`

	// SecretFile has what the body is signed with. Left out: a key derived from
	// the secret of the one-time passwords, for endpoints that only look at the
	// headers.
	SecretFile string `yaml:"secretFile"`
}

// Template is an e-mail template that a request asks for by its name.
type Template struct {
	Subject string `yaml:"subject"`
	Text    string `yaml:"text"`
	HTML    string `yaml:"html"`
}

// check refuses what cannot be right whatever the files hold.
func (c *Config) check() error {
	if err := errors.Join(c.Descriptors.Check(), c.Limits.check()); err != nil {
		return err
	}
	switch {
	case c.Keystore == "":
		return errors.New("keystore is missing: file:DIR")
	case len(c.Organizations) == 0:
		return errors.New("organizations is missing: name at least one")
	case c.TLS != nil && (c.TLS.CertFile == "" || c.TLS.KeyFile == ""):
		return errors.New("tls needs both certFile and keyFile")
	case c.OTP == nil:
		return nil
	}
	return c.OTP.check()
}

// Check refuses a folder that is missing, and pins that the folder itself has: it
// may come from elsewhere, and would say of itself that it is trusted.
func (d *Descriptors) Check() error {
	switch {
	case d == nil:
		return nil
	case d.Folder == "":
		return errors.New("descriptors.folder is missing")
	case d.Pins == "":
		return nil
	}
	within, err := filepath.Rel(d.Folder, d.Pins)
	if err == nil && filepath.IsLocal(within) {
		return errors.New("descriptors.pins is in the folder, which may come from elsewhere: keep it outside")
	}
	return nil
}

func (o *OTP) check() error {
	switch {
	case o.SecretFile == "":
		return errors.New("otp.secretFile is missing")
	case o.Outbox != "" && (o.Email != nil || o.SMS != nil):
		return errors.New("otp.outbox stands for all messages: leave out either it, or email and sms")
	case o.Outbox == "" && o.Email == nil && o.SMS == nil:
		return errors.New("otp names no sender: email, sms or outbox")
	case o.Email != nil && (o.Email.SMTP == nil) == (o.Email.Webhook == nil):
		return errors.New("otp.email needs one of smtp and webhook")
	case o.Email != nil && o.Email.SMTP != nil && (o.Email.SMTP.Host == "" || o.Email.SMTP.From == ""):
		return errors.New("otp.email.smtp needs both host and from")
	case o.SMS != nil && o.SMS.Webhook == nil:
		return errors.New("otp.sms needs a webhook")
	}
	return nil
}

// Files returns the files and directories that the configuration consists of: itself, and those
// it names by path. Not among them are the store, the keystore, the passphrase
// and the outbox.
func (c *Config) Files() []string {
	files := []string{c.Path}
	for _, path := range c.paths() {
		if *path != "" && path != &c.PassphraseFile && (c.OTP == nil || path != &c.OTP.Outbox) {
			files = append(files, *path)
		}
	}
	if path, ok := strings.CutPrefix(c.ProofKey, "file:"); ok {
		files = append(files, path)
	}
	return files
}

// resolve makes relative paths relative to the file.
func (c *Config) resolve() {
	dir := filepath.Dir(c.Path)
	for _, path := range c.paths() {
		*path = within(dir, *path)
	}
	if c.Store == "memory" { // as a URI it has a colon, which YAML takes without quotes for a mapping
		c.Store = MemoryStore
	}
	c.Store = withinURI(dir, "bolt", c.Store)
	c.Keystore = withinURI(dir, "file", c.Keystore)
	c.ProofKey = withinURI(dir, "file", c.ProofKey)
}

// paths are the members that are paths.
func (c *Config) paths() []*string {
	paths := []*string{&c.PassphraseFile, &c.Log.KeyFile}
	if c.TLS != nil {
		paths = append(paths, &c.TLS.CertFile, &c.TLS.KeyFile)
	}
	if o := c.OTP; o != nil {
		paths = append(paths, &o.SecretFile, &o.Outbox)
		if o.Email != nil {
			paths = append(paths, o.Email.SMTP.paths()...)
			paths = append(paths, o.Email.Webhook.paths()...)
		}
		if o.SMS != nil {
			paths = append(paths, o.SMS.Webhook.paths()...)
		}
	}
	if d := c.Descriptors; d != nil {
		paths = append(paths, &d.Folder, &d.Pins)
	}
	for i := range c.Tokens {
		paths = append(paths, &c.Tokens[i])
	}
	for i := range c.Organizations {
		paths = append(paths, &c.Organizations[i].Policy)
	}
	return paths
}

func (s *SMTP) paths() []*string {
	if s == nil {
		return nil
	}
	return []*string{&s.PasswordFile}
}

func (w *Webhook) paths() []*string {
	if w == nil {
		return nil
	}
	return []*string{&w.HeadersFile, &w.SecretFile}
}

func within(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// withinURI resolves the path of a URI of the scheme.
func withinURI(dir, scheme, uri string) string {
	path, ok := strings.CutPrefix(uri, scheme+":")
	if !ok || path == "" || strings.HasPrefix(path, "//") {
		return uri
	}
	return scheme + ":" + within(dir, path)
}

// Organization returns the organization with an id, or the only one if id is empty.
func (c *Config) Organization(id string) (*countersign.OrganizationConfig, error) {
	var ids []string
	for i := range c.Organizations {
		if c.Organizations[i].ID == id && id != "" {
			return &c.Organizations[i], nil
		}
		ids = append(ids, c.Organizations[i].ID)
	}
	if id == "" && len(ids) == 1 {
		return &c.Organizations[0], nil
	}
	return nil, fmt.Errorf("name one of the organizations of %s with --org: %s", c.Path, strings.Join(ids, ", "))
}

// OTPTemplates returns the templates as the service takes them.
func (o *OTP) OTPTemplates() map[string]otp.Template {
	templates := map[string]otp.Template{}
	for id, template := range o.Templates {
		templates[id] = otp.Template(template)
	}
	return templates
}
