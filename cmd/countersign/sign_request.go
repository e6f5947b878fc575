package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

// requestFlags are the flags of sign --request.
type requestFlags struct {
	in      string
	out     string
	maxAge  time.Duration
	anyTime bool
}

func (f *requestFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.in, "request", "", "carry out the stamped request in `FILE`, by the configuration that --config names")
	flags.StringVar(&f.out, "out", "", "`FILE` that the activity goes to, with --request")
	flags.DurationVar(&f.maxAge, "max-request-age", countersign.DefaultMaxRequestAge, "`TIME` that a request may be old, with --request")
	flags.BoolVar(&f.anyTime, "any-request-time", false, "take a request of whatever time, with --request: for a machine without a clock to trust")
}

// withoutRequest are the flags of sign that do not go with --request: the request and
// the configuration say all that.
var withoutRequest = []string{"type", "sign-with", "allow", "jsonl", "workers", "finalize", "network", "keystore", "org"}

// signRequest carries out a stamped request from a file, through the checks
// that serve has, and writes what serve would have answered.
func (c *signCommand) signRequest(cmd *cobra.Command) error {
	for _, name := range withoutRequest {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with --request: the request and the configuration say that", name)
		}
	}
	if c.at.configFile == "" || c.request.out == "" {
		return usagef("--request needs --config, which says who may ask, and --out for the activity")
	}
	if c.request.maxAge <= 0 {
		return usagef("--max-request-age %v: a time such as 48h is expected", c.request.maxAge)
	}
	sent, err := readRequestFile(c.request.in)
	if err != nil {
		return err
	}
	configured, err := config.Read(c.at.configFile)
	if err != nil {
		return err
	}
	if configured.Store == config.MemoryStore {
		return errors.New("store: memory forgets, and the same request would be signed again: use bolt:PATH")
	}
	c.at.use(configured)
	engine, err := openEngine(cmd, &c.at, func(made *countersign.Config) {
		made.MaxRequestAge, made.AnyRequestTime = c.request.maxAge, c.request.anyTime
	})
	if err != nil {
		return err
	}
	return errors.Join(c.carryOut(cmd, engine, sent), engine.Close())
}

// carryOut shows a transaction, asks as for any other, and submits the request.
func (c *signCommand) carryOut(cmd *cobra.Command, engine *countersign.Engine, sent countersign.SignedBody) error {
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return err
	}
	if intent, ok := request.Intent.(activity.SignTransactionIntent); ok {
		prepared, err := engine.PrepareTransaction(cmd.Context(), request.OrganizationID, intent)
		if err != nil {
			return err
		}
		if err := c.confirm(cmd, view{summary: prepared.Summary(), signer: prepared.SignerView(), hazards: prepared.Hazards()}); err != nil {
			return err
		}
	}
	record, err := engine.Submit(cmd.Context(), sent)
	if err != nil {
		return err
	}
	return writeWhole(c.request.out, append(record.AppendAnswer(nil), '\n'))
}
