package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/store/postgres"
)

// openEngine makes the engine that the configuration describes; change sets what
// is not in it; opened is called with the store. The caller closes the engine.
//
// What can be wrong without a secret being read comes first, and the
// passphrase, which a person may have to type, before the store is held.
func openEngine(cmd *cobra.Command, at *keystoreFlags, change func(*countersign.Config), opened ...func(store.Store)) (*countersign.Engine, error) {
	configured := at.configured
	var made countersign.Config
	var err error
	if made.Directory, err = countersign.NewDirectory(configured.Organizations); err != nil {
		return nil, fmt.Errorf("%s: %w", configured.Path, err)
	}
	keys, err := at.open(cmd) // from here on the process leaves no core dump
	if err != nil {
		return nil, err
	}
	made.Keystore = keys
	policies, err := openPolicies(cmd.Context(), configured, keys)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	if policies != nil {
		made.Policy = policies
	}
	change(&made)
	engine, err := engineOverStore(cmd.Context(), configured, made, opened)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return engine, nil
}

// engineOverStore adds the store and what lives in it.
func engineOverStore(ctx context.Context, configured *config.Config, made countersign.Config, opened []func(store.Store)) (*countersign.Engine, error) {
	var err error
	if made.ProofSigner, err = openProofKey(ctx, configured.ProofKey); err != nil {
		return nil, fmt.Errorf("proofKey: %w", err)
	}
	checkpoints, err := openLogKey(ctx, configured.Log.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("log: keyFile: %w", err)
	}
	if made.Store, err = openStore(ctx, configured.Store); err != nil {
		return nil, err
	}
	made.Log = !configured.Log.Off && !made.Store.Forgets()
	if made.Log {
		made.LogSigner = checkpoints
	}
	if made.OTP, err = openOTP(ctx, configured.OTP, made.Store); err != nil {
		return nil, errors.Join(fmt.Errorf("otp: %w", err), made.Store.Close())
	}
	engine, err := countersign.New(made)
	if err != nil {
		return nil, errors.Join(err, made.Store.Close())
	}
	for i := range configured.Organizations {
		id := configured.Organizations[i].ID
		if _, err := engine.AdoptRecords(ctx, id); err != nil {
			return nil, errors.Join(fmt.Errorf("log: records of organization %s from before it: %w", id, err), made.Store.Close())
		}
	}
	for _, see := range opened {
		see(made.Store)
	}
	return engine, nil
}

// connectTimeout bounds how long a database may take to answer at first.
const connectTimeout = 15 * time.Second

// openBolt opens the store in a file. Tests have it die at a step of its work.
var openBolt = func(path string) (store.Store, error) {
	opened, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// openStore opens the store of a URI. Its errors say that they are the store's.
func openStore(ctx context.Context, uri string) (store.Store, error) {
	scheme, rest, _ := strings.Cut(uri, ":")
	switch {
	case uri == config.MemoryStore:
		return memory.New(countersign.DefaultStoreBytes), nil
	case scheme == "bolt" && rest != "":
		return openBolt(rest)
	case scheme == "postgres" || scheme == "postgresql":
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		opened, err := postgres.Open(ctx, uri)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("store: PostgreSQL did not answer within %v", connectTimeout)
		}
		if err != nil {
			return nil, err
		}
		return opened, nil
	}
	return nil, fmt.Errorf("store: %q is none: use memory, bolt:PATH or postgres://…", scheme)
}

// openProofKey opens the key that makes app proofs and verification tokens: an
// ECDSA key on P-256, as PKCS #8 in PEM or in an HSM. Without a URI there is none.
func openProofKey(ctx context.Context, uri string) (crypto.Signer, error) {
	if uri == "" {
		return nil, nil
	}
	if strings.HasPrefix(uri, "pkcs11:") {
		return openHSMProofKey(ctx, uri)
	}
	path, ok := strings.CutPrefix(uri, "file:")
	if !ok || path == "" {
		return nil, fmt.Errorf("%q: file:PATH or pkcs11:…;object=LABEL is expected", uri)
	}
	content, err := readSecretFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, fmt.Errorf("%s: one PEM block PRIVATE KEY is expected: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", path)
	}
	defer keystore.Wipe(block.Bytes)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: an ECDSA key on P-256 is expected", path)
	}
	return key, nil
}
