// Package config reads countersign.yaml, the configuration of the command:
//
//	listen: 127.0.0.1:8080          # the API
//	admin: 127.0.0.1:8081           # health and metrics; default: none
//	tls: {certFile: …, keyFile: …}  # optional
//	origins: [https://app.example.com]  # pages that may use the API from a browser; default: none
//	forwardedFrom: [10.0.0.5]       # proxies that name the client in forwardedHeader; default: none
//	console: {origin: …, rpId: …}   # the approvals page, at /console/; default: none
//	store: bolt:state.db            # memory | bolt:PATH | postgres://…
//	keystore: file:keys             # or pkcs11:…; may be left out if there is kms
//	kms: [{uri: …, publicKey: …}]   # keys in key services, pinned by their public keys
//	passphraseFile: passphrase      # mode 0600; default: asked for on the terminal
//	proofKey: file:proof.pem        # ECDSA key on P-256; default: no app proofs and no verify_otp
//	log: {keyFile: log.pem}         # Ed25519 key that signs checkpoints of the log; off: true for no log
//	                                # memory: where a node keeps how far its logs had come
//	organizations: […]              # access.OrganizationConfig
//	descriptors: {folder: …, pins: …}  # what calls mean; default: only built-in knowledge
//	tokens: [tokens.json]           # token lists, for display
//	labels: [{chain: …, address: …, label: …}]  # an address book, for display
//	limits: {connections: 1024, …}  # bounds on what clients use together
//	otp: {…}                        # OTP; default: no one-time passwords
//	events: {webhook: {url: …, secretFile: …}, types: […]}  # what happened, for a receiver; default: nothing is told
//	wallets: [{organization: …, file: …, digest: …}]  # registered wallets, if the keystore keeps none
//	rpc: {listen: …, users: […]}    # an Ethereum JSON-RPC signer; default: none
//
// Reading is strict: a member that is unknown, duplicated or of the wrong type is an error
// that names it and its line, because a silently ignored member may be the one that forbids
// something. Relative paths are relative to the file. Secrets are in files of their own,
// which the configuration names.
package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/otp"
)

// Config is the configuration. Its relative paths have been resolved.
type Config struct {
	Path            string                      `yaml:"-"` // of the file
	Listen          string                      `yaml:"listen"`
	Admin           string                      `yaml:"admin"`
	TLS             *TLS                        `yaml:"tls"`
	Origins         []string                    `yaml:"origins"`
	ForwardedFrom   []string                    `yaml:"forwardedFrom"`   // proxies
	ForwardedHeader string                      `yaml:"forwardedHeader"` // of the proxies
	Console         *Console                    `yaml:"console"`
	Store           string                      `yaml:"store"`
	Stores          map[string]string           `yaml:"stores"` // more databases, by their names: organizations[].store
	Keystore        string                      `yaml:"keystore"`
	KMS             []KMSKey                    `yaml:"kms"`
	PassphraseFile  string                      `yaml:"passphraseFile" path:"apart"`
	ProofKey        string                      `yaml:"proofKey"`
	Organizations   []access.OrganizationConfig `yaml:"organizations"`
	Descriptors     *Descriptors                `yaml:"descriptors"`
	Tokens          []string                    `yaml:"tokens" path:"file"` // files
	Labels          []Label                     `yaml:"labels"`
	OTP             *OTP                        `yaml:"otp"`
	Log             Log                         `yaml:"log"`
	Events          *Events                     `yaml:"events"`
	Limits          Limits                      `yaml:"limits"`
	Wallets         []Wallet                    `yaml:"wallets"`
	RPC             *RPC                        `yaml:"rpc"`

	source   written
	modified time.Time // of the file when it was read
}

// NewerFile returns when the file was modified, if that was after it was read; otherwise, and if
// there is none, nil.
func (c *Config) NewerFile() *time.Time {
	info, err := os.Stat(c.Path)
	if err != nil || info.ModTime().Equal(c.modified) {
		return nil
	}
	at := info.ModTime()
	return &at
}

// Limits bound what clients may use together. Zero selects the defaults of package httpapi.
type Limits struct {
	Connections  int `yaml:"connections"`  // open connections
	RequestBytes int `yaml:"requestBytes"` // memory of all request bodies
	AnswerBytes  int `yaml:"answerBytes"`  // memory of all answers
}

// minBudget is the minimum of requestBytes and answerBytes: one address gets a quarter of
// them, and the longest body has 2 MiB.
const minBudget = 8 << 20

func (l Limits) check(c *checker) {
	if l.Connections < 0 {
		c.fail("limits.connections", "limits.connections: it must be at least 1, or left out")
	}
	if l.RequestBytes != 0 && l.RequestBytes < minBudget {
		c.fail("limits.requestBytes",
			"limits.requestBytes: it must be at least %d, because one address gets a quarter and the longest request has 2 MiB", minBudget)
	}
	if l.AnswerBytes != 0 && l.AnswerBytes < minBudget {
		c.fail("limits.answerBytes", "limits.answerBytes: it must be at least %d", minBudget)
	}
}

// Log configures the log of completed activities.
type Log struct {
	KeyFile string `yaml:"keyFile" path:"file"` // key that signs checkpoints; without it none can be signed
	Off     bool   `yaml:"off"`                 // keep no log

	// Memory names the file in which a node keeps how far its logs had come. Default:
	// MemoryName beside KeyFile, or beside the configuration without one.
	Memory string `yaml:"memory" path:"apart"`
}

// MemoryName is the name of the default log.memory.
const MemoryName = "log.memory"

// LogMemory returns the path of the memory of the logs, or "" if nothing is remembered:
// without a log, and for a store in memory, which is new at each start.
func (c *Config) LogMemory() string {
	switch {
	case c.Log.Off || c.Store == MemoryStore:
		return ""
	case c.Log.Memory != "":
		return c.Log.Memory
	}
	return filepath.Join(filepath.Dir(cmp.Or(c.Log.KeyFile, c.Path)), MemoryName)
}

// Descriptors names a folder of files that explain calls, and whom to trust about them.
type Descriptors struct {
	Folder string `yaml:"folder" path:"file"`
	Pins   string `yaml:"pins" path:"file"` // manifest, as written by 'countersign descriptors pin'
}

// Label is the name of an address.
type Label struct {
	Chain   string `yaml:"chain"` // such as eip155:1, solana, tron
	Address string `yaml:"address"`
	Label   string `yaml:"label"`
}

// Console configures the approvals page, see console.Options.
type Console struct {
	Origin string `yaml:"origin"`
	RPID   string `yaml:"rpId"`
}

// MemoryStore is the URI of the store in memory, which is lost when the process ends.
const MemoryStore = "memory:"

// TLS names the files with the certificate chain and the private key, in PEM.
type TLS struct {
	CertFile string `yaml:"certFile" path:"file"`
	KeyFile  string `yaml:"keyFile" path:"file"`
}

// OTP configures how one-time passwords are stored and sent.
type OTP struct {
	SecretFile string                  `yaml:"secretFile" path:"file"`
	Email      *Email                  `yaml:"email"`
	SMS        *SMS                    `yaml:"sms"`
	Outbox     string                  `yaml:"outbox" path:"apart"` // a folder for messages, instead of Email and SMS
	Templates  map[string]otp.Template `yaml:"templates"`
	Limits     *OTPLimits              `yaml:"limits"`
}

// Email configures how e-mail is sent: exactly one member is set.
type Email struct {
	SMTP    *SMTP    `yaml:"smtp"`
	Webhook *Webhook `yaml:"webhook"`
}

// SMS configures how text messages are sent.
type SMS struct {
	Webhook   *Webhook `yaml:"webhook"`
	Countries []string `yaml:"countries"` // beginnings of numbers, see otp.Config.Countries
}

// SMTP is a mail server, see smtp.Config.
type SMTP struct {
	Host           string   `yaml:"host"`
	Port           int      `yaml:"port"`
	Username       string   `yaml:"username"`
	PasswordFile   string   `yaml:"passwordFile" path:"file"`
	Auth           string   `yaml:"auth"` // mechanism, see smtp.Config; default: the best that the server offers
	TLS            string   `yaml:"tls"`  // starttls (default), implicit, insecure-plaintext
	From           string   `yaml:"from"`
	AllowedDomains []string `yaml:"allowedDomains"` // domains of sender addresses that requests may choose
}

// Webhook is an endpoint, see webhook.Config.
type Webhook struct {
	URL string `yaml:"url"`

	// HeadersFile names a file with additional headers, one "Name: value" per line, such
	// as the endpoint's authorization.
	HeadersFile string `yaml:"headersFile" path:"file"`

	// SecretFile names a file with the secret that signs requests: whsec_…, on two lines while
	// it is being replaced. Without it, the key is derived from the secret of the one-time
	// passwords: this suits endpoints that check only the headers.
	SecretFile string `yaml:"secretFile" path:"file"`
}

// Files returns the configuration file itself, and the files and directories that it names
// by path, except the store, the keystore, the passphrase, the outbox and the memory of the
// logs, which is of the node and not of the deployment.
func (c *Config) Files() []string {
	files := []string{c.Path}
	c.eachPath(func(path *string, tag string) {
		if *path != "" && tag == "file" {
			files = append(files, *path)
		}
	})
	if path, ok := strings.CutPrefix(c.ProofKey, "file:"); ok {
		files = append(files, path)
	}
	return files
}

// eachPath calls use with each member that is a path, and with its tag path: "file" if it is a file or a
// folder of the deployment, "apart" if it is none of what Files returns.
func (c *Config) eachPath(use func(path *string, tag string)) {
	eachPathIn(reflect.ValueOf(c), use)
	for i := range c.Organizations {
		use(&c.Organizations[i].Policy, "file")
	}
}

func eachPathIn(section reflect.Value, use func(path *string, tag string)) {
	switch section.Kind() {
	case reflect.Pointer: // Elem of nil is of no kind
		eachPathIn(section.Elem(), use)
	case reflect.Slice:
		for i := range section.Len() {
			eachPathIn(section.Index(i), use)
		}
	case reflect.Struct:
		for field, value := range section.Fields() {
			switch tag := field.Tag.Get("path"); {
			case !field.IsExported():
			case tag == "":
				eachPathIn(value, use)
			case value.Kind() == reflect.Slice:
				for i := range value.Len() {
					use(value.Index(i).Addr().Interface().(*string), tag)
				}
			default:
				use(value.Addr().Interface().(*string), tag)
			}
		}
	}
}

func within(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func withinURI(dir, scheme, uri string) string {
	path, ok := strings.CutPrefix(uri, scheme+":")
	if !ok || path == "" || strings.HasPrefix(path, "//") {
		return uri
	}
	return scheme + ":" + within(dir, path)
}

// SkipBadFiles at the end of the URI of a keystore in a directory, file:DIR?bad-files=skip, leaves
// out the key files that cannot be trusted. Without it the keystore is refused.
const SkipBadFiles = "?bad-files=skip"

// KeystoreDirectory splits the URI of a keystore in a directory. ok is false for another URI.
func KeystoreDirectory(uri string) (dir string, skipBad, ok bool) {
	dir, ok = strings.CutPrefix(uri, "file:")
	dir, skipBad = strings.CutSuffix(dir, SkipBadFiles)
	return dir, skipBad && ok, ok
}

// Organization returns the organization with an id, or the only one if id is empty.
func (c *Config) Organization(id string) (*access.OrganizationConfig, error) {
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

// Wallet is a registered wallet of an organization whose keystore cannot keep one. The digest
// pins the file: a changed one is refused.
type Wallet struct {
	Organization string `yaml:"organization"`
	File         string `yaml:"file" path:"file"` // the wallet policy, in JSON
	Digest       string `yaml:"digest"`           // as 'countersign wallets register' prints it
}

func (c *Config) checkWallets() error {
	for i, w := range c.Wallets {
		digest, err := hex.DecodeString(w.Digest)
		if w.Organization == "" || w.File == "" || err != nil || len(digest) != sha256.Size {
			return fmt.Errorf("wallets[%d]: it needs organization, file, and digest, 64 hex digits", i)
		}
	}
	return nil
}
