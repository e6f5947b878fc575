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

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
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
