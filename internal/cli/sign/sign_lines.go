package sign

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// maxWorkers bounds --workers: each worker can hold a line of 8 MiB, and more workers
// only wait for each other.
const maxWorkers = 1024

// signLines runs sign --jsonl.
func (c *signCommand) signLines(cmd *cobra.Command) (err error) {
	if c.kind != "" || c.signWith != "" {
		return console.Usagef("--type and --sign-with do not go with --jsonl: each line has its own")
	}
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
	intent, err := readIntent(line)
	if err != nil && line.Err == nil {
		if message, wrong := activity.DecodeSignMessageIntent(line.Text); wrong == nil {
			return signMessageLine(ctx, engine, organization, message)
		}
	}
	if err != nil {
		return console.RefusedLine(console.RequestInvalid(err))
	}
	result, err := engine.SignTransaction(ctx, organization, intent)
	if err != nil {
		return console.RefusedLine(err)
	}
	const before, after = `{"signedTransaction":"`, `"}`
	text := make([]byte, 0, len(before)+len(result.SignedTransaction)+len(after))
	text = append(text, before...)
	text = append(text, result.SignedTransaction...) // hex needs no escapes
	return lines.Answer{Text: append(text, after...)}
}

// readIntent reads a signTransactionIntentV2.
func readIntent(line lines.Line) (intent activity.SignTransactionIntent, err error) {
	if line.Err != nil {
		return intent, line.Err
	}
	err = strictjson.Read(line.Text, "intent",
		strictjson.Required("signWith", &intent.SignWith),
		strictjson.Required("unsignedTransaction", &intent.UnsignedTransaction),
		strictjson.Required("type", (*string)(&intent.Type)),
	)
	return intent, err
}
