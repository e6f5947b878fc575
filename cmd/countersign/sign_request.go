package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	signed  string // file of the short answer
	maxAge  time.Duration
	anyTime bool
	votes   []string // files of votes on the request
}

func (f *requestFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.in, "request", "", "carry out the stamped request in `FILE` (- is standard input), by the configuration that --config names")
	flags.StringVar(&f.out, "out", "", "`FILE` that the activity goes to (- is standard output), with --request")
	flags.StringVar(&f.signed, "out-signed", "", "`FILE` that the short answer goes to: fingerprint, signed transaction, proof")
	flags.DurationVar(&f.maxAge, "max-request-age", countersign.DefaultMaxRequestAge, "`TIME` that a request may be old, such as 48h, with --request")
	flags.StringArrayVar(&f.votes, "vote", nil, "`FILE` with a vote on the request, as 'countersign approve --request' writes it; can be repeated")
	flags.BoolVar(&f.anyTime, "any-request-time", false, "take a request of whatever time, with --request: for a machine without a clock to trust")
}

// withoutRequest are the flags of sign that do not go with --request: the request and
// the configuration say all that.
var withoutRequest = []string{"type", "message", "sign-with", "jsonl", "workers", "finalize", "network", "keystore", "org", "as"}

// checkRequest refuses flags that do not go with a stamped request, before any of
// it is read.
func (c *signCommand) checkRequest(cmd *cobra.Command) error {
	for _, name := range withoutRequest {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with --request: the request and the configuration say that", name)
		}
	}
	if cmd.Flags().Changed("allow") {
		return usagef("--allow does not go with --request: name the hazard in allowHazards of the configuration")
	}
	if c.at.configFile == "" || c.request.out == "" && c.request.signed == "" && !c.qr.wanted() {
		return usagef("--request needs --config, which says who may ask, and --out, --out-signed or --qr for the answer")
	}
	if c.request.maxAge <= 0 {
		return usagef("--max-request-age %v: a time such as 48h is expected", c.request.maxAge)
	}
	return errors.Join(checkOut("out", c.request.out), checkOut("out-signed", c.request.signed))
}

// signRequest carries out a stamped request from a file, through the checks
// that serve has, and writes what serve would have answered.
func (c *signCommand) signRequest(cmd *cobra.Command) error {
	if err := c.checkRequest(cmd); err != nil {
		return err
	}
	sent, err := readRequestFile(cmd, c.request.in)
	if err != nil {
		return err
	}
	votes := make([]countersign.SignedBody, len(c.request.votes))
	for i, path := range c.request.votes {
		if votes[i], err = readVote(cmd, path, sent); err != nil {
			return err
		}
	}
	return c.signStamped(cmd, sent, votes...)
}

// readVote reads the file of a vote on a request.
func readVote(cmd *cobra.Command, path string, on countersign.SignedBody) (countersign.SignedBody, error) {
	vote, err := readRequestFile(cmd, path)
	if err != nil {
		return vote, err
	}
	request, err := activity.Decode(vote.Body)
	if err != nil {
		return vote, fmt.Errorf("--vote %s: %w", path, err)
	}
	intent, ok := request.Intent.(activity.VoteIntent)
	switch {
	case !ok:
		return vote, fmt.Errorf("--vote %s: it is %s, and no vote", path, request.Type)
	case intent.Fingerprint != sha256.Sum256(on.Body):
		return vote, fmt.Errorf("--vote %s: it is on another request, %s", path, intent.Fingerprint)
	}
	return vote, nil
}

// signStamped carries out a stamped request by the configuration.
func (c *signCommand) signStamped(cmd *cobra.Command, sent countersign.SignedBody, votes ...countersign.SignedBody) error {
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
		made.Observer, made.Descriptors, made.Names = &done, c.known.reader(), c.known.names()
	})
	if err != nil {
		return err
	}
	record, err := c.carryOut(cmd, engine, sent)
	before := done.before
	for i := 0; i < len(votes) && err == nil; i++ {
		record, err = engine.Submit(cmd.Context(), votes[i])
		err = c.withCause(err)
	}
	if err == nil && record.Status.Waits() {
		err = fmt.Errorf("it waits for votes, and is recorded: call this again with --vote %s", missingIn(record))
	}
	if err == nil && record.Status != activity.StatusCompleted {
		err = fmt.Errorf("the activity is %s", record.Status)
	}
	if err == nil && before && len(votes) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "This request was carried out before: the answer is the recorded one, and nothing was signed.")
	}
	if err == nil {
		err = engine.ProveLogged(cmd.Context(), record)
	}
	if err := errors.Join(err, engine.Close()); err != nil {
		return err
	}
	return c.answer(cmd, record)
}

// missingIn says which votes an activity waits for.
func missingIn(record *activity.Record) string {
	if record.Viewer.Review == nil {
		return "for the rest"
	}
	var missing []string
	for _, group := range record.Viewer.Review.Missing {
		if group.Missing > 0 {
			missing = append(missing, missingText(group))
		}
	}
	return "(missing: " + strings.Join(append(missing, record.Viewer.Review.Reason), "; ") + ")"
}

// answer writes and shows the answer in each way that is wanted. The store is
// closed already, for showing may take minutes.
func (c *signCommand) answer(cmd *cobra.Command, record *activity.Record) error {
	if c.request.out != "" {
		if err := writeAnswer(cmd, "out", c.request.out, record.AppendAnswer(nil)); err != nil {
			return err
		}
	}
	if c.request.signed == "" && !c.qr.wanted() {
		return nil
	}
	short, err := shortAnswerOf(record)
	if err != nil {
		return err
	}
	if c.request.signed != "" {
		if err := writeAnswer(cmd, "out-signed", c.request.signed, jsonLine(short)); err != nil {
			return err
		}
	}
	message, err := short.message()
	if err != nil {
		return err
	}
	return c.qr.show(cmd, message)
}

// writeAnswer writes an answer where a flag says: - is standard output.
func writeAnswer(cmd *cobra.Command, flag, path string, answer []byte) error {
	answer = append(answer, '\n')
	if path == fromStandardInput {
		_, err := cmd.OutOrStdout().Write(answer)
		return err
	}
	if err := writeWhole(path, answer); err != nil {
		return fmt.Errorf("--%s %s: %w: the activity is on record, so call this again when it can be written", flag, path, err)
	}
	return nil
}

// repeated is told whether a request had been carried out before.
type repeated struct{ before bool }

// Observe implements countersign.Observer.
func (r *repeated) Observe(seen countersign.Observation) { r.before = seen.Repeated }

// checkOut refuses a place where the activity could not be written, before
// anything is confirmed.
func checkOut(flag, path string) error {
	if path == "" || path == fromStandardInput {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("--%s %s: this is a directory: name a file in it", flag, path)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("--%s %s: its directory: %w", flag, path, err)
	}
	return nil
}

// carryOut checks a request, shows its transaction, asks as for any other, and
// submits the request. The record is what came of it.
func (c *signCommand) carryOut(cmd *cobra.Command, engine *countersign.Engine, sent countersign.SignedBody) (*activity.Record, error) {
	if err := engine.CheckRequest(cmd.Context(), sent); err != nil {
		return nil, c.withCause(err)
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return nil, err
	}
	shown, signs, err := viewOfRequest(cmd.Context(), engine, request, c.known.names())
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotAuthorized {
		// A policy judges the users of stamps, and not this process: what is shown is
		// then what the bytes say without the keys, and Submit asks the policy.
		_, shown, err = viewOfBody(request, countersign.Limits{}, c.known.names())
		signs = true
	}
	if err != nil {
		return nil, err
	}
	if signs {
		if err := c.confirm(cmd, shown); err != nil {
			return nil, err
		}
	}
	return engine.Submit(cmd.Context(), sent)
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
