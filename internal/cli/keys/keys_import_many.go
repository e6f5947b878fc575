package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
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
	var bar *console.Progress
	if !terminal.Is(cmd.OutOrStdout()) {
		bar = console.NewProgressOf(cmd.ErrOrStderr(), "Importing", time.Time{})
	}
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

// importBatch is the largest number of keys that are written to disk together.
const importBatch = 512

// importLines is keys import --jsonl.
func (c *importCommand) importLines(cmd *cobra.Command) (err error) {
	if c.format != formatHex {
		return console.Usagef("--format %s does not go with --jsonl, whose lines have the secret in hex", c.format)
	}
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	ctx := cmd.Context()
	source := lines.Read(ctx, cmd.InOrStdin())
	bar := console.NewProgress(cmd)
	tally, err := source.Batches(ctx, cmd.OutOrStdout(), importBatch, func(ctx context.Context, batch []lines.Line) []lines.Answer {
		answers := make([]lines.Answer, len(batch))
		var fresh []keystore.NewKey
		var lineOf []int // the index in batch of each fresh key

		for i, line := range batch {
			key, err := readKey(line)
			keystore.Wipe(line.Text)
			if err != nil {
				answers[i] = console.RefusedLine(console.RequestInvalid(err))
				continue
			}
			fresh, lineOf = append(fresh, key), append(lineOf, i)
		}
		infos, errs := c.addBatch(ctx, fresh)
		for n, i := range lineOf {
			answers[i] = c.answer(ctx, fresh[n], infos[n], errs[n])
			keystore.Wipe(fresh[n].Secret)
		}
		return answers
	}, bar.Add)
	bar.Finish()
	return console.TallyError(tally, err)
}

// readKey parses a line into a key. The caller wipes its secret.
func readKey(line lines.Line) (key keystore.NewKey, err error) {
	if line.Err != nil {
		return key, line.Err
	}
	var curve, secret, name, id, actsFor []byte
	if err := strictjson.Read(line.Text, "key",
		strictjson.Required("curve", &curve),
		strictjson.Required("privateKey", &secret),
		strictjson.Optional("name", &name),
		strictjson.Optional("privateKeyId", &id),
		strictjson.Optional("actsFor", &actsFor),
	); err != nil {
		return key, err
	}
	defer keystore.Wipe(secret)
	key.Name, key.ID = string(name), string(id)
	key.ActsFor = strings.ToLower(strings.TrimPrefix(string(actsFor), "0x"))
	if key.Curve, err = keystore.ParseCurve(string(curve)); err != nil {
		return key, errors.New("curve: use CURVE_SECP256K1 or CURVE_ED25519")
	}
	key.Secret, err = keyformat.DecodeHex(secret)
	return key, err
}

func (c *importCommand) answer(ctx context.Context, key keystore.NewKey, info keystore.KeyInfo, err error) lines.Answer {
	line := deployment.Spendable(c.into, c.network.Line(info))
	if errors.Is(err, keystore.ErrKeyExists) {
		if _, err = sameKey(info, key, err); err == nil {
			line, err = c.markExisting(ctx, line)
		}
	}
	switch {
	case err == nil:
		return lines.Answer{Text: console.JSONLine(line)}
	case isStorageError(err):
		return console.RefusedLine(activity.NewError(activity.ReasonUnavailable, "", err, "%v", err))
	}
	return console.RefusedLine(console.RequestInvalid(err))
}

// markExisting adds its place and its state to a key that the keystore has already.
func (c *importCommand) markExisting(ctx context.Context, line show.KeyLine) (show.KeyLine, error) {
	if c.disabled == nil {
		paths, err := pathsOf(ctx, c.into, c.at.Organization)
		if err != nil {
			return line, err
		}
		infos, err := disabledKeys(ctx, c.into, c.at.Organization)
		if err != nil {
			return line, err
		}
		c.paths, c.disabled = paths, map[string]bool{}
		for _, info := range infos {
			c.disabled[info.ID] = true
		}
	}
	line = c.paths.mark(line)
	line.Disabled = c.disabled[line.PrivateKeyID]
	return line, nil
}

// isStorageError reports whether the keystore failed, rather than the key being invalid.
func isStorageError(err error) bool {
	_, isPath := errors.AsType[*fs.PathError](err)
	_, isErrno := errors.AsType[syscall.Errno](err)
	_, isFile := errors.AsType[*file.Error](err)
	if isPath || isErrno || isFile {
		return true
	}
	storage := []error{file.ErrLocked, keystore.ErrUnavailable, keystore.ErrClosed, context.Canceled}
	return slices.ContainsFunc(storage, func(target error) bool { return errors.Is(err, target) })
}
