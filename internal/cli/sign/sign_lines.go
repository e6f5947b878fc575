package sign

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// maxWorkers bounds --workers: each worker can hold a line of 8 MiB, and more workers
// only wait for each other.
const maxWorkers = 1024

// signLines runs sign --jsonl.
func (c *signCommand) signLines(cmd *cobra.Command) (err error) {
	if c.workers < 1 || c.workers > maxWorkers {
		return console.Usagef("--workers %d: use 1 to %d", c.workers, maxWorkers)
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	ctx := cmd.Context()
	bar := console.NewProgress(cmd)
	tally, err := lines.Read(ctx, cmd.InOrStdin()).Parallel(ctx, cmd.OutOrStdout(), c.workers,
		func(ctx context.Context, line lines.Line) lines.Answer {
			return signLine(ctx, engine, c.at.Organization, line)
		}, bar.Add)
	bar.Finish()
	return console.TallyError(tally, err)
}

// signLine answers one line: a transaction, or else a message.
func signLine(ctx context.Context, engine calls, organization string, line lines.Line) lines.Answer {
	intent, form, err := readIntent(line)
	if err != nil && line.Err == nil {
		if message, wrong := activity.DecodeSignMessageIntent(line.Text); wrong == nil {
			result, err := engine.SignMessage(ctx, organization, message)
			if err != nil {
				return console.RefusedLine(err)
			}
			return lines.Answer{Text: console.JSONLine(result)}
		}
	}
	if err != nil {
		return console.RefusedLine(console.RequestInvalid(err))
	}
	result, err := engine.SignTransaction(ctx, organization, intent)
	if err != nil {
		return console.RefusedLine(err)
	}
	if form != wiretext.Hex {
		raw, err := hex.DecodeString(result.SignedTransaction)
		if err != nil {
			return console.RefusedLine(err)
		}
		result.SignedTransaction = string(form.Encode(raw))
	}
	return lines.Answer{Text: console.JSONLine(result)}
}

// readIntent reads a signTransactionIntentV2, whose transaction may be in any form that the chain's
// tools exchange, and returns that form.
func readIntent(line lines.Line) (intent activity.SignTransactionIntent, form wiretext.Form, err error) {
	if line.Err != nil {
		return intent, wiretext.Hex, line.Err
	}
	err = strictjson.Read(line.Text, "intent",
		strictjson.Required("signWith", &intent.SignWith),
		strictjson.Required("unsignedTransaction", &intent.UnsignedTransaction),
		strictjson.Required("type", (*string)(&intent.Type)),
	)
	text := intent.UnsignedTransaction
	if err != nil || strings.Trim(text[:min(len(text), 16)], "0123456789abcdefABCDEFxX") == "" {
		return intent, wiretext.Hex, err // as nearly always
	}
	if read, wrong := show.DecodeAs(intent.Type, text); wrong == nil && read.Message == nil {
		intent.UnsignedTransaction, form = read.Text, read.Form
	}
	return intent, form, nil
}
