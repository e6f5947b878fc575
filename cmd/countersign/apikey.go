package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp"
)

// apiKey is a file that says who sends a request:
//
//	{"organizationId":"…","publicKey":"<hex>","privateKey":"<hex>","curve":"API_KEY_CURVE_…"}
type apiKey struct {
	organizationID string
	signer         *stamp.Signer
}

// maxAPIKeyFile is how long such a file may be, in bytes.
const maxAPIKeyFile = 4 << 10

func registerAPIKey(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "api-key", "", "`FILE` with the API key that stamps, mode 0600")
}

// readAPIKey reads the file that --api-key names.
func readAPIKey(ctx context.Context, path string) (*apiKey, error) {
	if path == "" {
		return nil, usagef("--api-key is missing: the file of an API key")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("--api-key %s: others can read it (mode %04o): run 'chmod 600 %s'", path, mode.Perm(), path)
	}
	content, err := readAll(ctx, file, maxAPIKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w", path, err)
	}
	defer clear(content)
	key, err := parseAPIKey(content)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w", path, err)
	}
	return key, nil
}

func parseAPIKey(content []byte) (*apiKey, error) {
	var key apiKey
	var publicKey, privateKey, curve string
	err := strictjson.Read(content, "API key",
		strictjson.Required("organizationId", &key.organizationID),
		strictjson.Required("publicKey", &publicKey),
		strictjson.Required("privateKey", &privateKey),
		strictjson.Required("curve", &curve),
	)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(privateKey)
	if err != nil {
		return nil, errors.New("privateKey: hex is expected") // and no part of it repeated
	}
	defer clear(secret)
	if key.signer, err = stamp.NewSigner(stamp.Curve(curve), secret); err != nil {
		return nil, err
	}
	if hex.EncodeToString(key.signer.PublicKey()) != strings.ToLower(publicKey) {
		return nil, errors.New("publicKey is not that of privateKey")
	}
	return &key, nil
}

// readBody reads a request's body from standard input, exactly as it is.
func readBody(cmd *cobra.Command) ([]byte, error) {
	body, err := readAll(cmd.Context(), cmd.InOrStdin(), lines.MaxLength)
	if err != nil {
		return nil, fmt.Errorf("read the body from standard input: %w", err)
	}
	return body, nil
}

// Bounds on what a server answers.
const (
	postTimeout = 2 * time.Minute
	maxAnswer   = 64 << 20
)

// post stamps a body, sends it, and returns the answer.
func (k *apiKey) post(ctx context.Context, base, path string, body []byte) ([]byte, error) {
	header, err := k.signer.Stamp(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, usagef("--url: %v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(header.Name, header.Value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("the server refused it: %s", response.Status)
	}
	return answer, nil
}
