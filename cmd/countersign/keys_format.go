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

// The formats of one key.
const (
	formatHex    = "hex"
	formatWIF    = "wif"
	formatSolana = "solana"
	formatWeb3   = "v3"
	formatPKCS8  = "pkcs8"

	formatSolanaBase58 = "solana-base58"
)

// The formats of a wallet.
const (
	formatMnemonic = "mnemonic"
	formatXPrv     = "xprv"
)

// formatSolanaKeygen is of one key that words are made into: it is not written.
const formatSolanaKeygen = "solana-keygen"

var (
	exportFormats = []string{formatHex, formatWIF, formatSolana, formatSolanaBase58, formatWeb3, formatPKCS8, formatMnemonic, formatXPrv}
	importFormats = append(slices.Clip(exportFormats), formatSolanaKeygen)
)

func checkFormat(name string, of []string) error {
	if !slices.Contains(of, name) {
		return usagef("--format %q: use %s", name, strings.Join(of, ", "))
	}
	return nil
}

func registerFormatFlag(cmd *cobra.Command, format *string, usual string, of []string) {
	cmd.Flags().StringVar(format, "format", usual, "`FORMAT` of the secret: "+strings.Join(of, ", "))
}

const passwordFlag = "--secret-password-file"

func registerPasswordFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, strings.TrimPrefix(passwordFlag, "--"), "", "`FILE` with the password of the secret itself, mode 0600 (default: asked for on the terminal)")
}

// keySource is one key on standard input.
type keySource struct {
	format       string
	curve        keystore.Curve // what is asked for; 0 if the format says it
	passwordFile string
}

// source checks the flags that say what comes on standard input.
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

// text reads what is on standard input. Of a terminal it asks for it, and does
// not show it.
func (s keySource) text(cmd *cobra.Command) ([]byte, error) {
	if !terminal.Is(cmd.InOrStdin()) {
		return readAll(cmd.Context(), cmd.InOrStdin(), keyformat.MaxSize)
	}
	if s.format == formatPKCS8 {
		return nil, usagef("a PEM file has many lines: let it come from standard input, < FILE")
	}
	return askSecret(cmd.Context(), "Secret in "+s.format)
}

func askSecret(ctx context.Context, prompt string) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, prompt)
}

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
		fmt.Fprintln(cmd.ErrOrStderr(), "This is the WIF of an uncompressed public key: its P2PKH address of that time is not among the key's addresses, and nothing is signed for it.")
	}
	return wif.Key, err
}

// parseSolanaKeygen reads words of solana-keygen; their passphrase, if any, comes from a
// file, as with a wallet.
func (s keySource) parseSolanaKeygen(cmd *cobra.Command, words []byte) (key keyformat.Key, err error) {
	var passphrase []byte
	if s.passwordFile != "" {
		if passphrase, err = readPasswordFile(cmd.Context(), s.passwordFile); err != nil {
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
		return readPasswordFile(ctx, s.passwordFile)
	}
	password, err := askSecret(ctx, "Password of the secret")
	if errors.Is(err, terminal.ErrNone) {
		return nil, usagef("the secret is encrypted: name the file with its password with %s (%v)", passwordFlag, err)
	}
	return password, err
}

// readPasswordFile reads the file that --secret-password-file names.
func readPasswordFile(ctx context.Context, path string) ([]byte, error) {
	file, err := openSecret(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", passwordFlag, err)
	}
	defer func() { _ = file.Close() }()
	password, err := readPassphrase(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", passwordFlag, path, err)
	}
	return password, nil
}
