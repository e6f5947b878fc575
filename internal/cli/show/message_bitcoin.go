package show

import (
	"encoding/hex"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
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
		if message.Funds, err = readFunds(f.funds); err != nil {
			return "", err
		}
	}
	packet, err := message.PSBT()
	return hex.EncodeToString(packet), err
}

// readFunds reads a PSBT from a file, in any of its encodings.
func readFunds(name string) ([]byte, error) {
	content, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, fmt.Errorf("--funds: %w", err)
	}
	packet, _, err := bitcoin.Decode(content)
	if err != nil {
		return nil, fmt.Errorf("--funds: %s: %w", name, err)
	}
	return packet, nil
}
