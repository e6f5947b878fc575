package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	flags.DurationVar(&f.maxAge, "max-request-age", countersign.DefaultMaxRequestAge, "`TIME` that a request may be old, such as 48h, with --request")
	flags.BoolVar(&f.anyTime, "any-request-time", false, "take a request of whatever time, with --request: for a machine without a clock to trust")
}

// withoutRequest are the flags of sign that do not go with --request: the request and
// the configuration say all that.
var withoutRequest = []string{"type", "sign-with", "jsonl", "workers", "finalize", "network", "keystore", "org"}

// signRequest carries out a stamped request from a file, through the checks
// that serve has, and writes what serve would have answered.
func (c *signCommand) signRequest(cmd *cobra.Command) error {
	for _, name := range withoutRequest {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with --request: the request and the configuration say that", name)
		}
	}
	if cmd.Flags().Changed("allow") {
		return usagef("--allow does not go with --request: name the hazard in allowHazards of the configuration")
	}
	if c.at.configFile == "" || c.request.out == "" {
		return usagef("--request needs --config, which says who may ask, and --out for the activity")
	}
	if c.request.maxAge <= 0 {
		return usagef("--max-request-age %v: a time such as 48h is expected", c.request.maxAge)
	}
	if err := checkOut(c.request.out); err != nil {
		return err
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
	if c.known, err = readKnowledge(configured); err != nil {
		return err
	}
	var done repeated
	engine, err := openEngine(cmd, &c.at, func(made *countersign.Config) {
		made.MaxRequestAge, made.AnyRequestTime = c.request.maxAge, c.request.anyTime
		made.Observer, made.Descriptors = &done, c.known.reader()
	})
	if err != nil {
		return err
	}
	err = c.carryOut(cmd, engine, sent)
	if err == nil && done.before {
		fmt.Fprintln(cmd.ErrOrStderr(), "This request was carried out before: the answer is the recorded one, and nothing was signed.")
	}
	return errors.Join(err, engine.Close())
}

// repeated is told whether a request had been carried out before.
type repeated struct{ before bool }

// Observe implements countersign.Observer.
func (r *repeated) Observe(seen countersign.Observation) { r.before = seen.Repeated }

// checkOut refuses a place where the activity could not be written, before
// anything is confirmed.
func checkOut(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("--out %s: this is a directory: name a file in it", path)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("--out %s: its directory: %w", path, err)
	}
	return nil
}

// carryOut checks a request, shows its transaction, asks as for any other, and
// submits the request.
func (c *signCommand) carryOut(cmd *cobra.Command, engine *countersign.Engine, sent countersign.SignedBody) error {
	if err := engine.CheckRequest(cmd.Context(), sent); err != nil {
		return c.withCause(err)
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return err
	}
	if intent, ok := request.Intent.(activity.SignTransactionIntent); ok {
		prepared, err := engine.PrepareTransaction(cmd.Context(), request.OrganizationID, intent)
		if err != nil {
			return err
		}
		shown, err := viewOf(cmd.Context(), prepared, c.known.names())
		if err != nil {
			return err
		}
		if err := c.confirm(cmd, shown); err != nil {
			return err
		}
	}
	record, err := engine.Submit(cmd.Context(), sent)
	if err != nil {
		return err
	}
	if err := writeWhole(c.request.out, append(record.AppendAnswer(nil), '\n')); err != nil {
		return fmt.Errorf("--out %s: %w: the activity is on record, so call this again when it can be written", c.request.out, err)
	}
	return nil
}

// withCause adds why a stamp was refused. A server keeps that for its log, so as
// not to tell strangers; here it is the owner of the configuration who asks.
func (c *signCommand) withCause(err error) error {
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok || refused.Reason != activity.ReasonSignatureInvalid {
		return err
	}
	cause := errors.Unwrap(refused)
	switch {
	case errors.Is(cause, countersign.ErrOrganizationNotFound):
		return fmt.Errorf("%w (the organization it names is not in %s)", err, c.at.configFile)
	case errors.Is(cause, countersign.ErrCredentialNotFound):
		return fmt.Errorf("%w (the key that made it is not in %s)", err, c.at.configFile)
	case cause == nil:
		return err
	}
	return fmt.Errorf("%w (%w)", err, cause)
}
