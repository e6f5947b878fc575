package deployment

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

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
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/store"
)

// OpenEngine opens the engine that the configuration describes, and its store. change
// sets what the configuration does not say. The caller closes the engine, which closes
// the store.
//
// The configuration is checked before any secret is read, and the passphrase, which an
// operator may have to type, is read before the store is locked.
func OpenEngine(cmd *cobra.Command, at *KeystoreFlags, change func(*countersign.Config)) (*countersign.Engine, store.Full, error) {
	configured := at.Configured
	engineConfig := countersign.Config{Chains: all.Chains(all.Limits{})} // change may set limits
	var err error
	if engineConfig.Directory, err = access.NewDirectory(configured.Organizations); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", configured.Path, err)
	}
	if err := missing(configured, at.NewStore); err != nil {
		return nil, nil, err
	}
	keys, err := at.Open(cmd) // from here on the process leaves no core dump
	if err != nil {
		return nil, nil, err
	}
	engineConfig.Keystore = keys
	if engineConfig.Wallets, err = Wallets(configured, keys); err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	policies, err := openPolicies(cmd.Context(), configured, keys)
	if err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	if policies != nil {
		engineConfig.Policy = policies
	}
	change(&engineConfig)
	engine, opened, err := engineOverStore(cmd.Context(), configured, at.NewStore, &engineConfig)
	if err != nil {
		return nil, nil, errors.Join(err, keys.Close())
	}
	return engine, opened, nil
}

// engineOverStore opens the store, the proof key, the log and the one-time passwords, and
// the engine over them.
func engineOverStore(ctx context.Context, configured *config.Config, newStore bool, engineConfig *countersign.Config) (engine *countersign.Engine, opened store.Full, err error) {
	if engineConfig.ProofSigner, err = openProofKey(ctx, configured.ProofKey); err != nil {
		return nil, nil, fmt.Errorf("proofKey: %w", err)
	}
	checkpoints, err := OpenLogKey(ctx, configured.Log.KeyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("log: keyFile: %w", err)
	}
	logger := cmp.Or(engineConfig.Logger, slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if opened, err = OpenRemembered(ctx, configured, newStore, engineConfig.MaxRequestSkew, logger); err != nil {
		return nil, nil, err
	}
	engineConfig.Store, engineConfig.Log = opened, !configured.Log.Off && !opened.Forgets()
	if engineConfig.Log {
		engineConfig.LogSigner = checkpoints
	}
	codes, err := OpenOTP(ctx, configured.OTP, opened)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("otp: %w", err), opened.Close())
	}
	engineConfig.Operations = messages.Operations()
	if codes != nil {
		engineConfig.Operations = append(engineConfig.Operations, operations.New(codes, engineConfig.ProofSigner).Operations()...)
	}
	engine, err = countersign.New(*engineConfig)
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	for i := range configured.Organizations {
		id := configured.Organizations[i].ID
		if _, err := engine.Operator().AdoptRecords(ctx, id); err != nil && !errors.Is(err, store.ErrConflict) {
			return nil, nil, errors.Join(fmt.Errorf("log: records of organization %s from before the log: %w", id, err), opened.Close())
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
		return remote.OpenProofSigner(ctx, services, uri)
	}
	path, ok := strings.CutPrefix(uri, "file:")
	if !ok || path == "" {
		return nil, fmt.Errorf("%q: expected file:PATH, pkcs11:…;object=LABEL, or a key in a key service that this program has", uri)
	}
	content, err := console.ReadSecretFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, fmt.Errorf("%s: expected one PEM block PRIVATE KEY, such as the output of 'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256'", path)
	}
	defer keystore.Wipe(block.Bytes)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: expected an ECDSA key on P-256", path)
	}
	return key, nil
}

// SignedTransaction signs a transaction and returns it in hex.
func SignedTransaction(ctx context.Context, prepared *countersign.Prepared) (string, error) {
	result, err := prepared.Sign(ctx)
	if err != nil {
		return "", err
	}
	return result.(activity.SignTransactionResult).SignedTransaction, nil
}
