package deployment

import (
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	page "github.com/countersign-dev/countersign/httpapi/console"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// Loaded is a configuration that has been read and checked, with what the files hold that it names.
type Loaded struct {
	Configured  *config.Config
	Directory   access.Directory
	Certificate *tls.Certificate // nil without TLS
	Known       *Knowledge
	Page        http.Handler            // for approvals; nil if none is configured
	Keys        keystore.Keystore       // nil if it was not opened
	Policies    map[string]*policy.File // by organization id
	Wallets     keystore.WalletRegistry // nil if the configuration pins none
	Warnings    []string                // likely mistakes, each at its place in its file
	RPC         *RPCState               // nil without a JSON-RPC signer
	NotAsked    []string                // URIs of keys in key services
	NotDone     []string                // what serve does beyond this: it takes a person, a token or the store

	// Over returns what the engine uses in place of the store that it opens; nil for that store.
	Over func(store.Full) store.Full

	signers signers
}

// signers are what signs and sends for an engine.
type signers struct {
	proof crypto.Signer    // nil without a proof key
	log   *translog.Signer // nil without a key of the log
	codes *otp.Config      // without its store; nil without one-time passwords
}

// Loader reads a configuration. Every command that serves one or checks one reads it with
// a Loader, so that what one of them refuses, all refuse.
type Loader struct {
	Path     string
	NewStore bool // the store need not exist

	// Addresses refuses addresses that cannot be served. Without it, in a command that has
	// not the flags of serve, only their form is checked.
	Addresses func(*config.Config) error

	// Checked is called once everything has been checked that takes no secret.
	Checked func(*Loaded) error

	// Keystore opens the keystore, and asks for its passphrase or PIN if need be. Without
	// it a keystore in a directory is opened if the configuration names a file with its
	// passphrase, and closed again; nothing logs in to a token.
	Keystore func(*cobra.Command, *config.Config) (keystore.Keystore, error)

	// Running is what a running server was loaded from; nil for none. Its keystore is not
	// opened again if the configuration still names it.
	Running *Loaded
}

// Load reads and checks a configuration. The caller closes Keys if Keystore is set.
func (l Loader) Load(cmd *cobra.Command) (*Loaded, error) {
	configured, err := config.Read(l.Path)
	if err != nil {
		return nil, err
	}
	loaded, err := Public(cmd.Context(), configured)
	if err != nil {
		return nil, err
	}
	if err := l.checkPlaces(configured); err != nil {
		return nil, err
	}
	if loaded.NotAsked, err = checkServices(cmd.Context(), configured); err != nil {
		return nil, err
	}
	if l.Checked != nil {
		if err := l.Checked(loaded); err != nil {
			return nil, err
		}
	}
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	if err := loaded.openSigners(cmd.Context(), l.Keystore != nil); err != nil {
		return nil, err
	}
	if err := l.openKeys(cmd, loaded); err != nil {
		loaded.Discard()
		return nil, err
	}
	return loaded, nil
}

// Public reads and checks what a configuration names and is no secret, except policies.
func Public(ctx context.Context, configured *config.Config) (*Loaded, error) {
	loaded := &Loaded{Configured: configured, Warnings: configured.Warnings(time.Now())}
	var err error
	if loaded.Directory, err = access.NewDirectory(configured.Organizations); err != nil {
		return nil, configured.At(access.EntryOf(err), err)
	}
	if loaded.Certificate, err = loadCertificate(configured.TLS); err != nil {
		return nil, configured.At("tls", fmt.Errorf("tls: %w", err))
	}
	if loaded.Known, err = ReadKnowledge(configured); err != nil {
		return nil, err
	}
	if loaded.RPC, err = newRPCState(ctx, configured); err != nil {
		return nil, err
	}
	if options := configured.Console; options != nil {
		if loaded.Page, err = page.New(page.Options{Origin: options.Origin, RPID: options.RPID}); err != nil {
			return nil, configured.At("console", fmt.Errorf("console: %w", err))
		}
	}
	return loaded, nil
}

// checkPlaces refuses addresses, and a store that does not exist or whose file others can write.
func (l Loader) checkPlaces(configured *config.Config) error {
	if l.Addresses != nil {
		if err := l.Addresses(configured); err != nil {
			return err
		}
	} else if err := (Addresses{Plaintext: true}).Check(configured); err != nil {
		return err
	}
	if configured.RPC != nil {
		if err := CheckSocket(configured.RPC.Socket); err != nil {
			return configured.At("rpc.socket", fmt.Errorf("rpc.socket: %w", err))
		}
	}
	if err := missing(configured, l.NewStore); err != nil {
		return configured.At("store", err)
	}
	return nil
}

// openSigners opens the keys that sign proofs and checkpoints, and what sends one-time
// passwords. A key in a token is opened only if login is set.
func (l *Loaded) openSigners(ctx context.Context, login bool) (err error) {
	configured := l.Configured
	if strings.HasPrefix(configured.ProofKey, "pkcs11:") && !login {
		if _, err := pkcs11.Check(configured.ProofKey); err != nil {
			return configured.At("proofKey", fmt.Errorf("proofKey: %w", err))
		}
		l.NotDone = append(l.NotDone, "log in to the token with the proof key")
	} else if l.signers.proof, err = openProofKey(ctx, configured.ProofKey); err != nil {
		return configured.At("proofKey", fmt.Errorf("proofKey: %w", err))
	}
	if l.signers.log, err = OpenLogKey(ctx, configured.Log.KeyFile); err != nil {
		return configured.At("log.keyFile", fmt.Errorf("log: keyFile: %w", err))
	}
	if configured.Events.Delivered() { // read once more when they are sent
		if _, err := eventSecrets(ctx, configured.Events); err != nil {
			return configured.At("events.webhook.secretFile", err)
		}
	}
	if l.signers.codes, err = PrepareOTP(ctx, configured.OTP); err != nil {
		return configured.At("otp", fmt.Errorf("otp: %s", strings.TrimPrefix(err.Error(), "otp: ")))
	}
	return nil
}

// openKeys opens the keystore and reads the policies, which name keys in it.
func (l Loader) openKeys(cmd *cobra.Command, loaded *Loaded) (err error) {
	switch {
	case l.Keystore != nil:
		loaded.Keys, err = l.Keystore(cmd, loaded.Configured)
	case l.Running != nil && l.Running.Keys != nil && loaded.Configured.Keystore == l.Running.Configured.Keystore &&
		loaded.Configured.PassphraseFile == l.Running.Configured.PassphraseFile:
		loaded.Keys = l.Running.Keys
	default:
		loaded.Keys, err = l.unattended(cmd, loaded)
	}
	if err != nil {
		return atKeystore(loaded.Configured, err)
	}
	if loaded.Policies, err = readPolicies(cmd.Context(), loaded.Configured, loaded.Keys, l.Running); err == nil {
		loaded.Wallets, err = Wallets(loaded.Configured, loaded.Keys)
	}
	if err == nil {
		var warnings []string
		warnings, err = doubles(cmd.Context(), loaded.Configured, loaded.Keys)
		loaded.Warnings = append(loaded.Warnings, warnings...)
	}
	opened := loaded.Keys != nil && (l.Running == nil || loaded.Keys != l.Running.Keys)
	if opened && (l.Keystore == nil || err != nil) {
		err = errors.Join(err, loaded.Keys.Close())
		loaded.Keys = nil
	}
	return err
}

// atKeystore names the place of a keystore that cannot be opened, or of its passphrase.
func atKeystore(configured *config.Config, err error) error {
	member := "keystore"
	if strings.HasPrefix(err.Error(), "passphraseFile") {
		member = "passphraseFile"
	}
	if errors.As(err, new(*config.Error)) || errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	return configured.At(member, err)
}

// unattended opens the keystore if that takes no person and no token.
func (l Loader) unattended(cmd *cobra.Command, loaded *Loaded) (keystore.Keystore, error) {
	flags := KeystoreFlags{Organization: DefaultOrganization, command: cmd}
	flags.Use(loaded.Configured)
	if err := flags.Check(); err != nil {
		return nil, err
	}
	if len(loaded.Configured.KMS) > 0 {
		loaded.NotDone = append(loaded.NotDone, "ask the key services, and check the names of keys in policies")
		return nil, nil
	}
	if !strings.HasPrefix(loaded.Configured.Keystore, "file:") {
		if _, err := pkcs11.Check(loaded.Configured.Keystore); err != nil {
			return nil, err
		}
		loaded.NotDone = append(loaded.NotDone, "open the keystore, and check the names of keys in policies")
		return nil, nil
	}
	if loaded.Configured.PassphraseFile != "" {
		return flags.Open(cmd)
	}
	loaded.NotDone = append(loaded.NotDone, "ask for the passphrase of the keystore, and check the names of keys in policies")
	dir, _, err := flags.Directory()
	if err != nil {
		return nil, err
	}
	found, err := isKeystore(dir)
	if err == nil && !found {
		err = noKeystore(dir)
	}
	return nil, err
}

// Discard destroys the secrets that were read.
func (l *Loaded) Discard() {
	if l.signers.codes != nil {
		destroy(l.signers.codes)
	}
	l.signers = signers{}
}

// loadCertificate loads the certificate. It returns nil if none is configured.
func loadCertificate(configured *config.TLS) (*tls.Certificate, error) {
	if configured == nil {
		return nil, nil
	}
	chain, err := console.ReadText(configured.CertFile, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("certFile: %w", err)
	}
	key, err := console.ReadText(configured.KeyFile, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("keyFile: %w", err)
	}
	defer keystore.Wipe(key)
	certificate, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("certFile %s, keyFile %s: %w", configured.CertFile, configured.KeyFile, err)
	}
	return &certificate, nil
}

// maxPEM is the length of the longest file of certificates, in bytes: some hundred authorities.
const maxPEM = 1 << 20
