package console

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/secret"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
)

// StandardInput is the file name that stands for standard input or output.
const StandardInput = "-"

// ReadStandardInput reads all of standard input, which must not be empty and not longer
// than limit bytes. Errors call it what, such as "request body".
func ReadStandardInput(cmd *cobra.Command, what string, limit int) ([]byte, error) {
	content, err := ReadAll(cmd.Context(), cmd.InOrStdin(), limit)
	if err != nil {
		return nil, fmt.Errorf("read the %s from standard input: %w", what, err)
	}
	if len(content) == 0 {
		return nil, fmt.Errorf("standard input is empty: expected the %s there", what)
	}
	return content, nil
}

// ReadFile reads a file that is not longer than limit bytes: a regular one, or one that is
// open already, such as /dev/stdin.
func ReadFile(path string, limit int) ([]byte, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return trust.ReadAll(file, path, limit)
}

// ReadText is ReadFile for a text, which must be in UTF-8: a byte-order mark, which no editor
// shows, would be taken for part of its first line.
func ReadText(path string, limit int) ([]byte, error) {
	content, err := ReadFile(path, limit)
	if err == nil {
		err = plaintext.CheckEncoding(path, content)
	}
	return content, err
}

// ReadAll reads the whole input, of at most limit bytes. It returns ErrInterrupted when
// the context ends.
func ReadAll(ctx context.Context, in io.Reader, limit int) ([]byte, error) {
	type content struct {
		text []byte
		err  error
	}
	contents := make(chan content, 1)
	go func() {
		var text bytes.Buffer
		text.Grow(min(limit+1, 64<<10) + bytes.MinRead) // growing would leave a copy of a secret behind
		_, err := text.ReadFrom(io.LimitReader(in, int64(limit)+1))
		contents <- content{text.Bytes(), err}
	}()
	select {
	case got := <-contents:
		if got.err == nil && len(got.text) > limit {
			clear(got.text)
			return nil, fmt.Errorf("longer than %d bytes", limit)
		}
		return got.text, got.err
	case <-ctx.Done():
		return nil, terminal.ErrInterrupted
	}
}

// WriteNew creates a file for its owner alone and syncs it to disk. The file must not
// exist, and does not if it cannot be written whole.
func WriteNew(path string, content []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: name a new file", err)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

// WriteKey writes a private key as PKCS #8 in PEM, into a new file.
func WriteKey(path string, key any) error {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	defer keystore.Wipe(encoded)
	return WriteNew(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// MakeEmptyDirectory creates a directory for its owner alone. One that is empty, but for a
// folder that it may have, may exist already.
func MakeEmptyDirectory(dir string, but ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if !slices.Contains(but, entry.Name()) {
			return fmt.Errorf("%s is not empty (it has %q): name a directory that is empty or does not exist", dir, entry.Name())
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a directory: its owner enters it
}

// WriteOut writes a line to a file, or to standard output if path is "-".
func WriteOut(cmd *cobra.Command, path string, line []byte) error {
	line = append(line, '\n')
	if path == StandardInput {
		_, err := cmd.OutOrStdout().Write(line)
		return err
	}
	return trust.Replace(path, line)
}

// CheckOut refuses a path that cannot be written. It runs before anything is confirmed.
func CheckOut(flag, path string) error {
	if path == "" || path == StandardInput {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return Usagef("--%s %s is a directory: name a file in it", flag, path)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("--%s %s: its directory: %w", flag, path, err)
	}
	return nil
}

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
