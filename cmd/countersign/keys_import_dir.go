package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// importDirectory is keys import --dir. The files are read one after the other:
// each takes as much memory and time as its maker thought that guessing its
// password should.
func (c *importCommand) importDirectory(cmd *cobra.Command) (err error) {
	if c.jsonl || c.curve != "" || c.name != "" || cmd.Flags().Changed("format") && c.format != formatWeb3 {
		return usagef("--dir takes files in the format v3: --jsonl, --curve, --name and other formats do not go with it")
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
	password, err := (keySource{passwordFile: c.passwordFile}).password(cmd.Context())
	if err != nil {
		return err
	}
	defer keystore.Wipe(password)
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	bar := newFileProgress(cmd, len(names))
	failed, err := c.importFiles(cmd, keys, directory, names, password, bar)
	_ = bar.Finish()
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d files failed", failed, len(names))
	}
	return err
}

// keyFiles lists a directory in the order of names, without what geth passes
// over: directories, hidden files, and copies that editors leave.
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
		return nil, errors.New("there are no files in it")
	}
	return names, nil
}

func (c *importCommand) importFiles(cmd *cobra.Command, keys importTarget, directory *os.Root, names []string, password []byte, bar *progressbar.ProgressBar) (failed int, err error) {
	for _, name := range names {
		if cmd.Context().Err() != nil {
			return failed, terminal.ErrInterrupted
		}
		info, err := c.importFile(cmd.Context(), keys, directory, name, password)
		answer := c.answer(keystore.NewKey{}, info, err)
		if answer.Failed {
			failed++
			answer = refusedLine(requestInvalid(fmt.Errorf("%q: %w", name, err)))
		}
		if _, err := cmd.OutOrStdout().Write(append(answer.Text, '\n')); err != nil {
			return failed, err
		}
		_ = bar.Add(1) // the keys matter more than their picture
	}
	return failed, nil
}

func (c *importCommand) importFile(ctx context.Context, keys importTarget, directory *os.Root, name string, password []byte) (info keystore.KeyInfo, err error) {
	content, err := readKeyFile(directory, name)
	if err != nil {
		return info, err
	}
	key, err := keyformat.ParseWeb3(content, password)
	if err != nil {
		return info, err
	}
	defer key.Wipe()
	infos, errs := c.addBatch(ctx, keys, []keystore.NewKey{{Curve: key.Curve, Secret: key.Secret}})
	return infos[0], errs[0]
}

// readKeyFile reads a regular file of the directory. Links are not followed: who
// can make one could have any file of this machine read.
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
	return io.ReadAll(io.LimitReader(opened, keyformat.MaxSize+1))
}

// newFileProgress shows on standard error how many files are done, if a person
// can see it and if it is not in the way of the lines.
func newFileProgress(cmd *cobra.Command, total int) *progressbar.ProgressBar {
	to := cmd.ErrOrStderr()
	if !terminal.Is(to) || terminal.Is(cmd.OutOrStdout()) {
		to = io.Discard
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetDescription("Importing"),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
	)
}
