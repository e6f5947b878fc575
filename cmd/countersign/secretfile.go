package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/trust"
)

// maxSecretFile is how long a file with a secret may be, in bytes.
const maxSecretFile = 64 << 10

// readSecretFile reads a file that only its owner can read: all of it, but for
// one line's end at its end. The caller wipes it.
func readSecretFile(ctx context.Context, path string) ([]byte, error) {
	file, err := openSecret(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	secret, err := readSecretFrom(ctx, file, maxSecretFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}

// openSecret opens a file with a secret. Paths such as /dev/fd/3 name what is open
// already; the system does not open them again for a process that was hardened, which
// comes before any secret is read.
func openSecret(path string) (*os.File, error) {
	if digits, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		if number, err := strconv.Atoi(digits); err == nil && strconv.Itoa(number) == digits {
			return duplicate(number, path)
		}
	}
	if path == "/dev/stdin" {
		return duplicate(0, path)
	}
	return os.Open(path)
}

func readSecretFrom(ctx context.Context, file *os.File, most int) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a directory")
	}
	if !isCredential(file.Name()) {
		if err := trust.Secret(info, file.Name()); err != nil {
			return nil, err
		}
	}
	content, err := readAll(ctx, file, most+len("\r\n"))
	if err != nil {
		return nil, err
	}
	if trimmed, found := bytes.CutSuffix(content, []byte("\n")); found {
		content = bytes.TrimSuffix(trimmed, []byte("\r"))
	}
	return content, nil
}

// isCredential reports whether systemd has put the file there for this service
// alone (LoadCredential=). It may do so by an access control list, whose mask
// the mode then shows as if the group could read.
func isCredential(path string) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return filepath.IsAbs(dir) && filepath.Dir(path) == filepath.Clean(dir)
}
