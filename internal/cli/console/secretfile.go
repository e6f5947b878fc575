package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/secret"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

// maxSecretFile is the length of the longest secret file, in bytes.
const maxSecretFile = 64 << 10

// ReadSecretFile reads the secret in a file that only its owner can read, without a line
// ending at its end. The caller wipes it.
func ReadSecretFile(ctx context.Context, path string) ([]byte, error) {
	file, err := open(path)
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

// ReadFlagSecret reads the secret in the file that a flag or a member of the
// configuration names, of at most limit bytes, and checks it. From here on the process
// leaves no core dump. The caller wipes the secret.
func ReadFlagSecret(ctx context.Context, flag, path string, limit int, check func([]byte) error) ([]byte, error) {
	file, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer func() { _ = file.Close() }()
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	secret, err := readSecretFrom(ctx, file, limit)
	if err == nil {
		err = check(secret)
	}
	if err != nil {
		keystore.Wipe(secret)
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return secret, nil
}

// open opens a file as trust.Open does. A path such as /dev/fd/3 names a file that is
// open already, and is duplicated: the system refuses to open it again for a process that
// has been hardened, which happens before any secret is read.
func open(path string) (*os.File, error) {
	if digits, ok := strings.CutPrefix(path, "/dev/fd/"); ok {
		if number, err := strconv.Atoi(digits); err == nil && strconv.Itoa(number) == digits {
			return duplicate(number, path)
		}
	}
	if path == "/dev/stdin" {
		return duplicate(0, path)
	}
	return trust.Open(path)
}

// readSecretFrom reads a file of at most limit bytes, without a line ending at its end.
func readSecretFrom(ctx context.Context, file *os.File, limit int) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !isCredential(file.Name()) {
		if err := trust.Secret(info, file.Name()); err != nil {
			return nil, err
		}
	}
	content, err := ReadAll(ctx, file, limit+len("\r\n"))
	if err != nil {
		keystore.Wipe(content)
		return nil, err
	}
	return secret.Text(content)
}

// isCredential reports whether systemd put the file there for this service alone
// (LoadCredential=). It may do so with an access control list, whose mask the mode then
// shows as if the group could read the file.
func isCredential(path string) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return filepath.IsAbs(dir) && filepath.Dir(path) == filepath.Clean(dir)
}
