package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// importDirectory is keys import --dir. The files are decrypted one after the other: each
// may take much memory and time, to make guessing its password expensive.
func (c *importCommand) importDirectory(cmd *cobra.Command) (err error) {
	if c.jsonl || c.curve != "" || c.name != "" || cmd.Flags().Changed("format") && c.format != formatWeb3 {
		return console.Usagef("--dir takes files in the format v3: --jsonl, --curve, --name and other formats do not go with it")
	}
	directory, err := os.OpenRoot(c.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	defer func() { _ = directory.Close() }()
	names, err := keyFiles(directory.FS())
	if err != nil {
		return fmt.Errorf("--dir %s: %w", c.dir, err)
	}
	password, err := c.password(cmd.Context())
	if err != nil {
		return err
	}
	defer keystore.Wipe(password)
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	bar := console.NewFileProgress(cmd)
	failed, err := c.importFiles(cmd, directory, names, password, bar)
	bar.Finish()
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d files failed", failed, len(names))
	}
	return err
}

// keyFiles lists the files of a directory by name. Like geth, it skips directories, hidden
// files and editors' backup copies.
func keyFiles(directory fs.FS) (names []string, err error) {
	entries, err := fs.ReadDir(directory, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if name := entry.Name(); !entry.IsDir() && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("it has no files")
	}
	return names, nil
}

func (c *importCommand) importFiles(cmd *cobra.Command, directory *os.Root, names []string, password []byte,
	bar *console.Progress) (failed int, err error) {
	for i, name := range names {
		if cmd.Context().Err() != nil {
			return failed, terminal.ErrInterrupted
		}
		info, err := c.importFile(cmd.Context(), directory, name, password)
		answer := c.answer(cmd.Context(), keystore.NewKey{}, info, err)
		if answer.Failed {
			failed++
			answer = console.RefusedLine(console.RequestInvalid(fmt.Errorf("%q: %w", name, err)))
		}
		if _, err := cmd.OutOrStdout().Write(append(answer.Text, '\n')); err != nil {
			return failed, err
		}
		bar.Set(i+1, len(names))
	}
	return failed, nil
}

func (c *importCommand) importFile(ctx context.Context, directory *os.Root, name string,
	password []byte) (info keystore.KeyInfo, err error) {
	content, err := readKeyFile(directory, name)
	if err != nil {
		return info, err
	}
	key, err := keyformat.ParseWeb3(content, password)
	if err != nil {
		return info, err
	}
	defer key.Wipe()
	infos, errs := c.addBatch(ctx, []keystore.NewKey{{Curve: key.Curve, Secret: key.Secret}})
	return infos[0], errs[0]
}

// readKeyFile reads a regular file of the directory. Links are not followed: an attacker
// who can create one could have any file of this machine read.
func readKeyFile(directory *os.Root, name string) ([]byte, error) {
	info, err := directory.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file but %s", info.Mode())
	}
	if info.Size() > keyformat.MaxSize {
		return nil, fmt.Errorf("%d bytes, at most %d are read", info.Size(), keyformat.MaxSize)
	}
	opened, err := directory.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	content, err := io.ReadAll(io.LimitReader(opened, keyformat.MaxSize+1))
	if err == nil {
		err = plaintext.CheckEncoding("it", content)
	}
	return content, err
}
