package show

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore/file"
)

// packet returns the PSBT of a BIP-322 message on standard input, in hex.
func (f *MessageFlags) packet(cmd *cobra.Command) (string, error) {
	if _, ok := bitcoin.NetworkOf(f.address); !ok {
		return "", console.Usagef("--message %s needs --address, the Bitcoin address that makes the statement", kindBIP322)
	}
	text, err := readMessage(cmd, true)
	if err != nil {
		return "", err
	}
	message := bitcoin.ToSign{Text: string(text), Address: f.address}
	if f.funds != "" {
		content, err := os.ReadFile(f.funds) //nolint:gosec // the caller's own file
		if err != nil {
			return "", fmt.Errorf("--funds: %w", err)
		}
		if message.Funds, err = bitcoin.Decode(content); err != nil {
			return "", fmt.Errorf("--funds: %s: %w", f.funds, err)
		}
	}
	packet, err := message.PSBT()
	return hex.EncodeToString(packet), err
}

// NamedKeys reads a PSBT in any of its forms, and the keys that it names.
func NamedKeys(text string) (raw []byte, named []file.Named, err error) {
	raw, err = bitcoin.Decode([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	derivations, err := bitcoin.Derivations(raw)
	for _, d := range derivations {
		named = append(named, file.Named{Fingerprint: d.Fingerprint, Path: d.Path, PublicKey: d.PublicKey,
			Input: strings.HasPrefix(d.Of, "input")})
	}
	return raw, named, err
}
