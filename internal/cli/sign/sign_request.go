package sign

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/store"
)

type requestFlags struct {
	in      string
	out     string
	signed  string // file of the short answer
	maxAge  time.Duration
	anyTime bool
	votes   []string // files of votes on the request
}

func (f *requestFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.in, "request", "", "carry out the stamped request in `FILE` (- is standard input), with --config")
	flags.StringVar(&f.out, "out", "", "`FILE` to write the activity to (- is standard output), with --request")
	flags.StringVar(&f.signed, "out-signed", "", "`FILE` to write the short answer to: fingerprint, signed transaction, proof")
	flags.DurationVar(&f.maxAge, "max-request-age", countersign.DefaultMaxRequestAge,
		"maximum age of a request, a `TIME` such as 48h, with --request")
	flags.StringArrayVar(&f.votes, "vote", nil,
		"`FILE` with a vote on the request, as 'countersign approve --request' writes it; can be repeated")
	flags.BoolVar(&f.anyTime, "any-request-time", false,
		"accept a request of any age, with --request: for a machine without a reliable clock")
}

// withoutRequest are the flags of sign that do not go with --request, because the
// request and the configuration already say all that.
var withoutRequest = []string{"type", "message", "sign-with", "jsonl", "workers", "finalize", "network", "keystore", "org", "as"}

// checkRequest refuses flags that do not go with a stamped request. It runs before any of
// the request is read.
func (c *signCommand) checkRequest(cmd *cobra.Command) error {
	for _, name := range withoutRequest {
		if cmd.Flags().Changed(name) {
			return console.Usagef("--%s does not go with --request: the request and the configuration say it", name)
		}
	}
	if cmd.Flags().Changed("allow") {
		return console.Usagef("--allow does not go with --request: name the hazard in allowHazards of the configuration")
	}
	if c.at.ConfigFile == "" || c.request.out == "" && c.request.signed == "" && !c.qr.Wanted() {
		return console.Usagef("--request needs --config, which lists the users, and --out, --out-signed or --qr for the answer")
	}
	if c.request.maxAge <= 0 {
		return console.Usagef("--max-request-age %v: expected a duration such as 48h", c.request.maxAge)
	}
	return errors.Join(console.CheckOut("out", c.request.out), console.CheckOut("out-signed", c.request.signed))
}

// signStamped carries out a stamped request with the votes of --vote, with the same checks as
// serve, and writes what serve would have answered. A stamped vote is counted; the last one signs.
func (c *signCommand) signStamped(cmd *cobra.Command, read func() (countersign.SignedBody, error)) error {
	if err := c.checkRequest(cmd); err != nil {
		return err
	}
	sent, err := read()
	if err != nil {
		return err
	}
	votes, err := c.readVotes(cmd, sent)
	if err != nil {
		return err
	}
	if intent, err := voteIn(sent); err == nil {
		return c.byConfiguration(cmd, func(engine *stampedEngine) (*activity.Record, error) {
			if err := c.confirmVote(cmd, engine, sent, intent); err != nil {
				return nil, err
			}
			return engine.Submit(cmd.Context(), sent)
		})
	}
	return c.byConfiguration(cmd, func(engine *stampedEngine) (*activity.Record, error) {
		record, err := c.carryOut(cmd, engine, sent)
		for i := 0; i < len(votes) && err == nil; i++ {
			record, err = engine.Submit(cmd.Context(), votes[i])
			err = c.withCause(err)
		}
		return record, err
	})
}

// stampedEngine is an engine for stamped requests. It is its own observer.
type stampedEngine struct {
	*countersign.Engine
	store    store.Full
	repeated bool // the last request had been carried out before
}

func (e *stampedEngine) Observe(seen countersign.Observation) { e.repeated = seen.Repeated }

// byConfiguration opens the configured engine, calls carryOut, and writes the answer.
// Each transaction of the store is durable, so the same call can be repeated after an
// interruption and continues where it was cut off.
func (c *signCommand) byConfiguration(cmd *cobra.Command, carryOut func(*stampedEngine) (*activity.Record, error)) error {
	configured, err := config.Read(c.at.ConfigFile)
	if err != nil {
		return err
	}
	if configured.Store == config.MemoryStore {
		return errors.New("store: memory keeps no record, so the same request would be signed again: use bolt:PATH")
	}
	c.at.Use(configured)
	if c.known, err = deployment.ReadKnowledge(configured); err != nil {
		return err
	}
	var engine stampedEngine
	engine.Engine, engine.store, err = deployment.OpenEngine(cmd, &c.at, func(settings *countersign.Config) {
		settings.MaxRequestAge, settings.AnyRequestTime = c.request.maxAge, c.request.anyTime
		settings.Observer, settings.Descriptors, settings.Names = &engine, c.known.Reader(), c.known.Names()
	})
	if err != nil {
		return err
	}
	record, err := carryOut(&engine)
	if err == nil {
		err = refuseUnsigned(record)
	}
	if err == nil {
		record, err = engine.whole(cmd.Context(), record)
	}
	if err := errors.Join(err, engine.Close()); err != nil {
		return err
	}
	return c.answer(cmd, record)
}

// whole returns an activity with everything the owner of the store may see: the stamps
// of all votes, which are evidence, and the proof that it is in the log.
func (e *stampedEngine) whole(ctx context.Context, record *activity.Record) (*activity.Record, error) {
	recorded, err := e.store.Get(ctx, record.Request.OrganizationID, record.ID)
	if err != nil {
		return nil, err
	}
	if record, err = activity.DecodeRecord(recorded.Data); err != nil {
		return nil, fmt.Errorf("activity %s: %w", recorded.ID, err)
	}
	return record, e.Log().Prove(ctx, record)
}

// refuseUnsigned returns an error if an activity is not completed.
func refuseUnsigned(record *activity.Record) error {
	switch {
	case record.Status.Waits():
		return fmt.Errorf("the request is recorded and waits for votes %s: repeat this call with --vote FILE for "+
			"each, or pass the votes to --scan", missingIn(record))
	case record.Status == activity.StatusRejected:
		return errors.New("the request was rejected, and is not signed: make a new one if that was a mistake")
	case record.Status != activity.StatusCompleted:
		return fmt.Errorf("the activity is %s", record.Status)
	}
	return nil
}

// missingIn returns the votes an activity waits for, in parentheses.
func missingIn(record *activity.Record) string {
	var missing []string
	if record.Viewer.Review == nil {
		return "(only its submitter and its voters can see which)"
	}
	for _, group := range record.Viewer.Review.Missing {
		if group.Missing > 0 {
			missing = append(missing, show.MissingText(group))
		}
	}
	if reason := record.Viewer.Review.Reason; reason != "" {
		missing = append(missing, reason)
	}
	return "(missing: " + console.CleanText(strings.Join(missing, "; ")) + ")"
}

// answer writes and shows the answer in every way the flags ask for. The store is
// already closed, because showing may take minutes.
func (c *signCommand) answer(cmd *cobra.Command, record *activity.Record) error {
	if c.request.out != "" {
		if err := writeAnswer(cmd, "out", c.request.out, record.AppendAnswer(nil)); err != nil {
			return err
		}
	}
	if c.request.signed == "" && !c.qr.Wanted() {
		return nil
	}
	short, err := show.ShortAnswerOf(record)
	if err != nil {
		return err
	}
	if c.request.signed != "" {
		if err := writeAnswer(cmd, "out-signed", c.request.signed, console.JSONLine(short)); err != nil {
			return err
		}
	}
	message, err := show.ShortMessage(short)
	if err != nil {
		return err
	}
	return c.qr.Show(cmd, message)
}

func writeAnswer(cmd *cobra.Command, flag, path string, answer []byte) error {
	if err := console.WriteOut(cmd, path, answer); err != nil {
		return fmt.Errorf("--%s %s: %w: the activity is recorded: repeat this call once the file can be written", flag, path, err)
	}
	return nil
}

// carryOut checks a request, shows its transaction, asks for confirmation, and submits
// it. It returns the resulting record.
func (c *signCommand) carryOut(cmd *cobra.Command, engine *stampedEngine, sent countersign.SignedBody) (*activity.Record, error) {
	if err := engine.CheckRequest(cmd.Context(), sent); err != nil {
		return nil, c.withCause(err)
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return nil, err
	}
	shown, signs, err := viewOfRequest(cmd.Context(), engine.Engine, request, c.known.Names())
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotAuthorized {
		// A policy judges the user of the stamp, not this process. Show what the bytes
		// say without the keys; Submit asks the policy.
		_, shown, err = show.ViewOfBody(request, all.Limits{}, c.known.Names())
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
	record, err := engine.Submit(cmd.Context(), sent)
	if err == nil && engine.repeated && record.Status == activity.StatusCompleted {
		fmt.Fprintln(cmd.ErrOrStderr(), RecordedBefore)
	}
	return record, err
}

// RecordedBefore is what the command says of a request that was carried out before.
const RecordedBefore = "This request was carried out before: the answer is the recorded one, and nothing was signed."

// withCause adds the reason why a stamp was refused. A server writes it only to its log,
// to hide it from strangers; the caller of this command owns the configuration.
func (c *signCommand) withCause(err error) error {
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok || refused.Reason != activity.ReasonSignatureInvalid {
		return err
	}
	cause := errors.Unwrap(refused)
	switch {
	case errors.Is(cause, access.ErrOrganizationNotFound):
		return fmt.Errorf("%w (its organization is not in %s)", err, c.at.ConfigFile)
	case errors.Is(cause, access.ErrCredentialNotFound):
		return fmt.Errorf("%w (its key is not in %s)", err, c.at.ConfigFile)
	case cause == nil:
		return err
	}
	return fmt.Errorf("%w (%w)", err, cause)
}

func (c *signCommand) readVotes(cmd *cobra.Command, on countersign.SignedBody) ([]countersign.SignedBody, error) {
	votes := make([]countersign.SignedBody, len(c.request.votes))
	for i, path := range c.request.votes {
		vote, err := show.ReadRequestFile(cmd, path)
		if err != nil {
			return nil, err
		}
		intent, err := voteIn(vote)
		if err != nil {
			return nil, fmt.Errorf("--vote %s: %w", path, err)
		}
		if intent.Fingerprint != sha256.Sum256(on.Body) {
			return nil, fmt.Errorf("--vote %s: it is a vote on another request, %s", path, intent.Fingerprint)
		}
		votes[i] = vote
	}
	return votes, nil
}

// voteIn returns the intent of a vote. It fails if sent is not a vote.
func voteIn(sent countersign.SignedBody) (intent activity.VoteIntent, err error) {
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return intent, err
	}
	intent, ok := request.Intent.(activity.VoteIntent)
	if !ok {
		return intent, fmt.Errorf("it is %s, not a vote", request.Type)
	}
	return intent, nil
}

// confirmVote checks a vote, shows its activity and asks whether to count it. It asks
// nothing if the activity no longer waits.
func (c *signCommand) confirmVote(cmd *cobra.Command, engine *stampedEngine, vote countersign.SignedBody,
	intent activity.VoteIntent) error {
	err := engine.CheckRequest(cmd.Context(), vote)
	if refused, ok := errors.AsType[*activity.Error](err); ok && refused.Reason == activity.ReasonNotFound {
		return fmt.Errorf("%w: pass the request to this command before its votes", err)
	}
	if err != nil {
		return c.withCause(err)
	}
	request, err := activity.Decode(vote.Body)
	if err != nil {
		return err
	}
	target, err := (&deployment.StoredActivities{Store: engine.store,
		Organization: request.OrganizationID}).FindWaiting(cmd.Context(), intent.Fingerprint)
	if err != nil {
		return err
	}
	if target.Status == activity.StatusCompleted {
		fmt.Fprintln(cmd.ErrOrStderr(), RecordedBefore)
	}
	if !target.Status.Waits() {
		return nil
	}
	shown, err := show.Reviewed(target, all.Limits{}, c.known.Names())
	if err != nil {
		return err
	}
	question := "Count this rejection?"
	if intent.Selection() == activity.SelectionApproved {
		question = "Count this approval?"
	}
	return show.ConfirmShown(cmd, c.yes, shown, question, "not counted")
}
