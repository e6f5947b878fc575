package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
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

	// ImportFormats are those that keys import reads.
	ImportFormats = append(slices.Clip(exportFormats), formatSolanaKeygen)
)

func checkFormat(name string, known []string) error {
	if !slices.Contains(known, name) {
		return console.Usagef("--format %q: use %s", name, strings.Join(known, ", "))
	}
	return nil
}

func registerFormatFlag(cmd *cobra.Command, format *string, defaultFormat string, known []string) {
	cmd.Flags().StringVar(format, "format", defaultFormat, "`FORMAT` of the secret: "+strings.Join(known, ", "))
}

const passwordFlag = "--secret-password-file"

func registerPasswordFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, strings.TrimPrefix(passwordFlag, "--"), "",
		"`FILE` with the password of the secret itself, mode 0600 (default: ask on the terminal)")
}

// readSecret reads the key on standard input. The caller wipes it.
func (c *importCommand) readSecret(cmd *cobra.Command) (key keyformat.Key, err error) {
	if c.passwordFile != "" && !slices.Contains([]string{formatWeb3, formatPKCS8, formatSolanaKeygen}, c.format) {
		return key, console.Usagef("%s: --format %s has no password", passwordFlag, c.format)
	}
	var curve keystore.Curve // 0 if only the format determines it
	if c.curve != "" || c.format == formatHex {
		if curve, err = parseCurve(c.curve); err != nil {
			return key, err
		}
	}
	text, err := c.readText(cmd)
	if err != nil {
		return key, err
	}
	defer keystore.Wipe(text)
	if key, err = c.parse(cmd, curve, bytes.TrimSpace(text)); err != nil {
		return key, err
	}
	if curve != 0 && curve != key.Curve {
		key.Wipe()
		return key, fmt.Errorf("the key is on %v, and --curve asks for %v", key.Curve, curve)
	}
	return key, nil
}

// readText reads the secret from standard input. If that is a terminal, it prompts for the
// secret and hides what is typed. The caller wipes the text.
func (c *importCommand) readText(cmd *cobra.Command) (text []byte, err error) {
	switch {
	case !terminal.Is(cmd.InOrStdin()):
		text, err = console.ReadAll(cmd.Context(), cmd.InOrStdin(), keyformat.MaxSize)
	case c.format == formatPKCS8:
		return nil, console.Usagef("a PEM file has many lines: redirect it to standard input, < FILE")
	default:
		text, err = console.AskSecret(cmd.Context(), "Secret in "+c.format)
	}
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = plaintext.CheckEncoding("it", text)
	}
	if err != nil {
		keystore.Wipe(text)
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	return text, nil
}

// parse parses the secret in its format. The caller wipes the key.
func (c *importCommand) parse(cmd *cobra.Command, curve keystore.Curve, text []byte) (keyformat.Key, error) {
	switch c.format {
	case formatWIF:
		return c.parseWIF(cmd, text)
	case formatSolana:
		return keyformat.ParseSolana(text)
	case formatSolanaBase58:
		return keyformat.ParseSolanaBase58(text)
	case formatSolanaKeygen:
		return c.parseSolanaKeygen(cmd, text)
	case formatWeb3:
		return c.withPassword(cmd, text, keyformat.ParseWeb3)
	case formatPKCS8:
		key, err := keyformat.ParsePKCS8(text, nil)
		if errors.Is(err, keyformat.ErrPasswordMissing) {
			return c.withPassword(cmd, text, keyformat.ParsePKCS8)
		}
		return key, err
	}
	return keyformat.ParseHex(curve, text)
}

func (c *importCommand) parseWIF(cmd *cobra.Command, text []byte) (keyformat.Key, error) {
	wif, err := keyformat.ParseWIF(text)
	if err != nil {
		return wif.Key, err
	}
	if err := c.network.RefuseOther("this WIF", wif.TestNetwork); err != nil {
		wif.Key.Wipe()
		return keyformat.Key{}, err
	}
	if wif.Uncompressed {
		fmt.Fprintln(cmd.ErrOrStderr(),
			"This WIF is for an uncompressed public key: its old P2PKH address is not among the key's addresses, "+
				"and nothing is signed for it.")
	}
	return wif.Key, nil
}

// parseSolanaKeygen parses the words of solana-keygen. Their passphrase, if any, comes
// from the file that --secret-password-file names.
func (c *importCommand) parseSolanaKeygen(cmd *cobra.Command, words []byte) (key keyformat.Key, err error) {
	var passphrase []byte
	if c.passwordFile != "" {
		if passphrase, err = console.ReadPassphraseFile(cmd.Context(), passwordFlag, c.passwordFile); err != nil {
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

func (c *importCommand) withPassword(cmd *cobra.Command, text []byte,
	parse func(file, password []byte) (keyformat.Key, error)) (keyformat.Key, error) {
	password, err := c.password(cmd.Context())
	if err != nil {
		return keyformat.Key{}, err
	}
	defer keystore.Wipe(password)
	return parse(text, password)
}

// password gets the password of the secret. The caller wipes it.
func (c *importCommand) password(ctx context.Context) ([]byte, error) {
	if c.passwordFile != "" {
		return console.ReadPasswordFile(ctx, passwordFlag, c.passwordFile)
	}
	password, err := console.AskSecret(ctx, "Password of the secret")
	if errors.Is(err, terminal.ErrNone) {
		return nil, console.Usagef("the secret is encrypted: name the file with its password with %s (%v)", passwordFlag, err)
	}
	return password, err
}
