package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// The formats of secrets.
const (
	formatHex          = "hex"
	formatWIF          = "wif"
	formatSolana       = "solana"
	formatSolanaBase58 = "solana-base58"
	formatSolanaKeygen = "solana-keygen" // words for one key; import only
	formatWeb3         = "v3"
	formatPKCS8        = "pkcs8"
	formatMnemonic     = "mnemonic" // of a wallet
	formatXPrv         = "xprv"     // of a wallet
)

var (
	exportFormats = []string{formatHex, formatWIF, formatSolana, formatSolanaBase58, formatWeb3, formatPKCS8, formatMnemonic, formatXPrv}
	importFormats = append(slices.Clip(exportFormats), formatSolanaKeygen)
)

func checkFormat(name string, known []string) error {
	if !slices.Contains(known, name) {
		return usagef("--format %q: use %s", name, strings.Join(known, ", "))
	}
	return nil
}

func registerFormatFlag(cmd *cobra.Command, format *string, defaultFormat string, known []string) {
	cmd.Flags().StringVar(format, "format", defaultFormat, "`FORMAT` of the secret: "+strings.Join(known, ", "))
}

const passwordFlag = "--secret-password-file"

func registerPasswordFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, strings.TrimPrefix(passwordFlag, "--"), "", "`FILE` with the password of the secret itself, mode 0600 (default: ask on the terminal)")
}

// keySource is one key on standard input.
type keySource struct {
	format       string
	curve        keystore.Curve // that --curve names; 0 if the format says it
	passwordFile string
}

// source checks the flags that describe the key on standard input.
func (c *importCommand) source() (source keySource, err error) {
	source = keySource{format: c.format, passwordFile: c.passwordFile}
	if c.passwordFile != "" && !slices.Contains([]string{formatWeb3, formatPKCS8, formatSolanaKeygen}, c.format) {
		return source, usagef("%s: --format %s has no password", passwordFlag, c.format)
	}
	if c.curve != "" || c.format == formatHex {
		source.curve, err = parseCurve(c.curve)
	}
	return source, err
}

// read reads the key. The caller wipes it.
func (s keySource) read(cmd *cobra.Command) (keyformat.Key, error) {
	text, err := s.text(cmd)
	if err != nil {
		return keyformat.Key{}, fmt.Errorf("read the secret: %w", err)
	}
	defer keystore.Wipe(text)
	key, err := s.parse(cmd, bytes.TrimSpace(text))
	if err != nil {
		return key, err
	}
	if s.curve != 0 && s.curve != key.Curve {
		key.Wipe()
		return key, fmt.Errorf("the key is on %v, and --curve asks for %v", key.Curve, s.curve)
	}
	return key, nil
}

// text reads the secret from standard input. If that is a terminal, it prompts for the
// secret and hides what is typed.
func (s keySource) text(cmd *cobra.Command) ([]byte, error) {
	if !terminal.Is(cmd.InOrStdin()) {
		return readAll(cmd.Context(), cmd.InOrStdin(), keyformat.MaxSize)
	}
	if s.format == formatPKCS8 {
		return nil, usagef("a PEM file has many lines: redirect it to standard input, < FILE")
	}
	return askSecret(cmd.Context(), "Secret in "+s.format)
}

// parse parses the secret in its format. The caller wipes the key.
func (s keySource) parse(cmd *cobra.Command, text []byte) (keyformat.Key, error) {
	switch s.format {
	case formatWIF:
		return parseWIF(cmd, text)
	case formatSolana:
		return keyformat.ParseSolana(text)
	case formatSolanaBase58:
		return keyformat.ParseSolanaBase58(text)
	case formatSolanaKeygen:
		return s.parseSolanaKeygen(cmd, text)
	case formatWeb3:
		return s.withPassword(cmd, text, keyformat.ParseWeb3)
	case formatPKCS8:
		key, err := keyformat.ParsePKCS8(text, nil)
		if errors.Is(err, keyformat.ErrPasswordMissing) {
			return s.withPassword(cmd, text, keyformat.ParsePKCS8)
		}
		return key, err
	}
	return keyformat.ParseHex(s.curve, text)
}

func parseWIF(cmd *cobra.Command, text []byte) (keyformat.Key, error) {
	wif, err := keyformat.ParseWIF(text)
	if err == nil && wif.Uncompressed {
		fmt.Fprintln(cmd.ErrOrStderr(), "This WIF is for an uncompressed public key: its old P2PKH address is not among the key's addresses, and nothing is signed for it.")
	}
	return wif.Key, err
}

// parseSolanaKeygen parses the words of solana-keygen. Their passphrase, if any, comes
// from the file that --secret-password-file names.
func (s keySource) parseSolanaKeygen(cmd *cobra.Command, words []byte) (key keyformat.Key, err error) {
	var passphrase []byte
	if s.passwordFile != "" {
		if passphrase, err = readPassphraseFile(cmd.Context(), passwordFlag, s.passwordFile); err != nil {
			return key, err
		}
		defer keystore.Wipe(passphrase)
	}
	secret, err := wallet.SolanaKeygen(words, passphrase)
	if err != nil {
		return key, err
	}
	defer keystore.Wipe(secret)
	return keyformat.NewKey(keystore.CurveEd25519, secret)
}

func (s keySource) withPassword(cmd *cobra.Command, text []byte, parse func(file, password []byte) (keyformat.Key, error)) (keyformat.Key, error) {
	password, err := s.password(cmd.Context())
	if err != nil {
		return keyformat.Key{}, err
	}
	defer keystore.Wipe(password)
	return parse(text, password)
}

// password gets the password of the secret. The caller wipes it.
func (s keySource) password(ctx context.Context) ([]byte, error) {
	if s.passwordFile != "" {
		return readPassphraseFile(ctx, passwordFlag, s.passwordFile)
	}
	password, err := askSecret(ctx, "Password of the secret")
	if errors.Is(err, terminal.ErrNone) {
		return nil, usagef("the secret is encrypted: name the file with its password with %s (%v)", passwordFlag, err)
	}
	return password, err
}
