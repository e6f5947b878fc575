package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// importBatch is how many keys go to the disk together at most.
const importBatch = 512

// importLines is keys import --jsonl.
func (c *importCommand) importLines(cmd *cobra.Command) (err error) {
	if c.curve != "" || c.name != "" {
		return usagef("--curve and --name do not go with --jsonl: each line has its own")
	}
	if c.format != formatHex {
		return usagef("--format %s does not go with --jsonl: its lines have the secret in hex", c.format)
	}
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	ctx := cmd.Context()
	source := lines.Read(ctx, cmd.InOrStdin())
	bar := newProgress(cmd)
	tally, err := source.Batches(ctx, cmd.OutOrStdout(), importBatch, func(ctx context.Context, batch []lines.Line) []lines.Answer {
		return c.importBatch(ctx, keys, batch)
	}, bar.add)
	bar.finish()
	return tallyError(tally, err)
}

// importBatch imports the keys of some lines and answers for each.
func (c *importCommand) importBatch(ctx context.Context, keys importTarget, batch []lines.Line) []lines.Answer {
	answers := make([]lines.Answer, len(batch))
	var fresh []keystore.NewKey
	var of []int // the line of each
	for i, line := range batch {
		key, err := readKey(line)
		keystore.Wipe(line.Text)
		if err != nil {
			answers[i] = refusedLine(requestInvalid(err))
			continue
		}
		fresh, of = append(fresh, key), append(of, i)
	}
	infos, errs := c.addBatch(ctx, keys, fresh)
	for n, i := range of {
		answers[i] = c.answer(fresh[n], infos[n], errs[n])
		keystore.Wipe(fresh[n].Secret)
	}
	return answers
}

// readKey reads the key of a line. The caller wipes its secret.
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

// answer answers for one key that was to be added.
func (c *importCommand) answer(key keystore.NewKey, info keystore.KeyInfo, err error) lines.Answer {
	if errors.Is(err, keystore.ErrKeyExists) {
		info, err = sameKey(info, key, err)
	}
	switch {
	case err == nil:
		return lines.Answer{Text: jsonLine(spendable(c.into, c.network.line(info)))}
	case isStorageError(err):
		return refusedLine(activity.NewError(activity.ReasonUnavailable, "", err, "%v", err))
	}
	return refusedLine(requestInvalid(err))
}

// isStorageError reports whether it is the keystore that failed, not the key
// that was wrong.
func isStorageError(err error) bool {
	_, isPath := errors.AsType[*fs.PathError](err)
	_, isErrno := errors.AsType[syscall.Errno](err)
	_, isFile := errors.AsType[*file.Error](err)
	return isPath || isErrno || isFile || isOneOf(err, file.ErrLocked, keystore.ErrUnavailable, keystore.ErrClosed, context.Canceled)
}

// isOneOf reports whether an error is one of these.
func isOneOf(err error, these ...error) bool {
	return slices.ContainsFunc(these, func(one error) bool { return errors.Is(err, one) })
}

func refusedLine(err error) lines.Answer {
	return lines.Answer{Text: errorLine(err), Failed: true}
}
