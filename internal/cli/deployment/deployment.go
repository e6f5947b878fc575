package deployment

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// ReadConfig reads a configuration and finds one of its organizations, which may be unnamed
// if there is no other.
func ReadConfig(path, organization string) (*config.Config, *access.OrganizationConfig, error) {
	configured, err := config.Read(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := configured.Organization(organization)
	if err != nil {
		return nil, nil, console.Usagef("%v", err)
	}
	return configured, found, nil
}

// OpenEngine opens the engine that the configuration describes, and its store. change sets what the
// configuration does not say. The caller closes the engine, which closes the store.
//
// The configuration is checked before any secret is read, and the passphrase, which an
// operator may have to type, is read before the store is locked.
func OpenEngine(cmd *cobra.Command, flags *KeystoreFlags, change func(*countersign.Config)) (*countersign.Engine, store.Full, error) {
	loaded := &Loaded{Configured: flags.Configured}
	var err error
	if loaded.Directory, err = access.NewDirectory(flags.Configured.Organizations); err != nil {
		return nil, nil, flags.Configured.At(access.EntryOf(err), err)
	}
	if err := missing(flags.Configured, false); err != nil {
		return nil, nil, flags.Configured.At("store", err)
	}
	if loaded.Keys, err = flags.Open(cmd); err != nil { // from here on the process leaves no core dump
		return nil, nil, err
	}
	if loaded.Policies, err = readPolicies(cmd.Context(), flags.Configured, loaded.Keys, nil); err == nil {
		err = loaded.openSigners(cmd.Context(), true)
	}
	if err == nil {
		loaded.Wallets, err = Wallets(flags.Configured, loaded.Keys)
	}
	if err != nil {
		return nil, nil, errors.Join(err, loaded.Keys.Close())
	}
	return loaded.Engine(cmd.Context(), false, change)
}

// Engine opens the store, and the engine over everything that was loaded. change sets what
// the configuration does not say. The caller closes the engine, which closes the store and
// the keystore; after an error the keystore is closed.
func (l *Loaded) Engine(ctx context.Context, newStore bool,
	change func(*countersign.Config)) (_ *countersign.Engine, _ store.Full, err error) {
	policies := &LoadedPolicies{policy.NewOrganizations(l.Policies), l.Configured}
	settings := countersign.Config{
		Chains: all.Chains(all.Limits{}), Directory: l.Directory, Keystore: l.Keys, Wallets: l.Wallets, ProofSigner: l.signers.proof,
		Policy: policies,
	}
	change(&settings) // which may set limits
	opened, err := OpenRemembered(ctx, l.Configured, newStore, settings.MaxRequestSkew, settings.Logger)
	if err != nil {
		return nil, nil, errors.Join(err, l.Keys.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close(), l.Keys.Close())
		}
	}()
	if err := policies.HoldBack(ctx, opened, nil, l, settings.Logger); err != nil {
		return nil, nil, err
	}
	settings.Store, settings.Log = opened, !l.Configured.Log.Off && !opened.Forgets()
	if settings.Log {
		settings.LogSigner = l.signers.log
	}
	if l.Over != nil {
		settings.Store = l.Over(opened)
	}
	if events := l.Configured.Events; l.Over != nil || events.Delivered() {
		settings.Events = events.Wanted()
	}
	settings.Operations = messages.Operations(settings.Chains...)
	if l.signers.codes != nil {
		l.signers.codes.Store = opened
		codes, err := otp.New(*l.signers.codes)
		if err != nil {
			return nil, nil, fmt.Errorf("otp: %w", err)
		}
		settings.Operations = append(settings.Operations, operations.New(codes, settings.ProofSigner).Operations()...)
	}
	engine, err := countersign.New(settings)
	if err != nil {
		return nil, nil, err
	}
	for i := range l.Configured.Organizations {
		id := l.Configured.Organizations[i].ID
		if _, err := engine.Operator().AdoptRecords(ctx, id); err != nil && !closed(err) {
			return nil, nil, fmt.Errorf("log: records of organization %s from before the log: %w", id, err)
		}
	}
	return engine, opened, nil
}

// openProofKey opens the key that signs app proofs and verification tokens: an ECDSA key
// on P-256, as PKCS #8 in PEM or in an HSM. It returns nil without a URI.
func openProofKey(ctx context.Context, uri string) (crypto.Signer, error) {
	if uri == "" {
		return nil, nil
	}
	if strings.HasPrefix(uri, "pkcs11:") {
		signer, err := pkcs11.OpenProofSigner(ctx, uri, pkcs11.Options{}) // stays open until the process ends
		if err != nil {
			return nil, err
		}
		return signer, nil
	}
	services := Services(ctx)
	if _, _, err := services.Of(uri); err == nil {
		signer, err := remote.OpenProofSigner(ctx, services, uri) // stays open until the process ends
		if err != nil {
			return nil, err
		}
		return signer, nil
	}
	path, ok := strings.CutPrefix(uri, "file:")
	if !ok || path == "" {
		return nil, fmt.Errorf("%q: expected file:PATH, pkcs11:…;object=LABEL, or a key in a key service that this program has", uri)
	}
	parsed, err := readPrivateKey(ctx, path, "EC -pkeyopt ec_paramgen_curve:P-256")
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: expected an ECDSA key on P-256", path)
	}
	return key, nil
}

// readPrivateKey reads a private key, PKCS #8 in PEM, as 'openssl genpkey -algorithm' makes one.
func readPrivateKey(ctx context.Context, path, algorithm string) (any, error) {
	content, err := console.ReadSecretFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%s: expected one PEM block PRIVATE KEY, such as the output of "+
			"'openssl genpkey -algorithm %s'", path, algorithm)
	}
	defer keystore.Wipe(block.Bytes)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return parsed, nil
}

// Signed signs a transaction or a message, and returns the signed transaction, or r ‖ s ‖ v, in hex.
func Signed(ctx context.Context, prepared *countersign.Prepared) (string, error) {
	result, err := prepared.Sign(ctx)
	switch result := result.(type) {
	case activity.SignTransactionResult:
		return result.SignedTransaction, err
	case activity.SignRawPayloadResult:
		return result.R + result.S + result.V, err
	}
	return "", err
}

// OpenLogKey opens the Ed25519 key that signs checkpoints. Without a path it returns nil.
func OpenLogKey(ctx context.Context, path string) (*translog.Signer, error) {
	if path == "" {
		return nil, nil
	}
	key, err := ReadEd25519(ctx, path)
	if err != nil {
		return nil, err
	}
	return translog.NewSigner(key), nil
}

// ReadEd25519 reads a private key, PKCS #8 in PEM.
func ReadEd25519(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	parsed, err := readPrivateKey(ctx, path, "ED25519")
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: expected an Ed25519 key", path)
	}
	return key, nil
}

// LogKeyLine is what log key prints.
type LogKeyLine struct {
	Organization string `json:"organizationId"`
	Key          string `json:"logKey"`
}

// RegisterLogKey adds the flag --log-key.
func RegisterLogKey(cmd *cobra.Command, key *string) {
	cmd.Flags().StringVar(key, "log-key", "", "`KEY` of the log, as log key prints it, or a file that holds it")
}

// ReadLogKey returns the key of --log-key, which is a key, or the path of a file with the key or
// with what log key prints. Every key has a plus sign; a value with a plus sign is taken for a key.
func ReadLogKey(key string) (string, error) {
	if key == "" {
		return "", console.Usagef("--log-key is missing: what log key prints, or a file that holds it")
	}
	if !strings.Contains(key, "+") {
		content, err := console.ReadText(key, MaxNote)
		if err != nil {
			return "", fmt.Errorf("--log-key: %w", err)
		}
		var line LogKeyLine
		if json.Unmarshal(content, &line) == nil {
			content = []byte(line.Key)
		}
		key = strings.TrimSpace(string(content))
	}
	if _, err := note.NewVerifier(key); err != nil {
		return "", fmt.Errorf("--log-key: %w: expected the key that 'countersign log key' prints", err)
	}
	return key, nil
}
