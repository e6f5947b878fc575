package deployment

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/translog"
)

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

// ReadLogKey returns the key of --log-key, which is a key, or the path of a file with the
// key or with what log key prints. Every key has a plus sign; a value with a plus sign is
// taken for a key.
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
