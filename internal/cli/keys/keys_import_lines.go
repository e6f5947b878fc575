package keys

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

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
