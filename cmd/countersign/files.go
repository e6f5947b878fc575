package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// fromStandardInput is the file name that stands for standard input or output.
const fromStandardInput = "-"

// readStandardInput reads all of standard input, which must not be empty and not longer
// than limit bytes. Errors call it what, such as "request body".
func readStandardInput(cmd *cobra.Command, what string, limit int) ([]byte, error) {
	content, err := readAll(cmd.Context(), cmd.InOrStdin(), limit)
	if err != nil {
		return nil, fmt.Errorf("read the %s from standard input: %w", what, err)
	}
	if len(content) == 0 {
		return nil, fmt.Errorf("standard input is empty: expected the %s there", what)
	}
	return content, nil
}

// readFile reads a file that is not longer than limit bytes.
func readFile(path string, limit int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = fmt.Errorf("%s: longer than %d bytes", path, limit)
	}
	return content, err
}

// writeWhole writes a file that only its owner can read. It replaces an existing file,
// and appears whole or not at all.
func writeWhole(path string, content []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".countersign-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
