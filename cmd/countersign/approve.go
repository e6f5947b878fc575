package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// voteCommand is one call of approve or reject.
type voteCommand struct {
	selection activity.Selection
	to        client
	network   networkFlag
	yes       bool
	request   string // file of the request, without a server
	scan      bool   // the request comes as QR codes
	out       string // file of the vote
	qr        qrFlags
}

func newApproveCommand() *cobra.Command {
	return newVoteCommand(activity.SelectionApproved, "approve", "Vote for a request that waits for approvals", `
Show what a request that waits for approvals does, ask, and vote for it. ACTIVITY is
its id or its fingerprint, sha256:…, as 'countersign activities list' shows them.`)
}

func newRejectCommand() *cobra.Command {
	return newVoteCommand(activity.SelectionRejected, "reject", "Vote against a request that waits for approvals", `
Show what a request that waits for approvals does, ask, and vote against it: that ends
it. The submitter's own rejection withdraws it. ACTIVITY is its id or its fingerprint,
sha256:…, as 'countersign activities list' shows them.`)
}

func newVoteCommand(selection activity.Selection, name, short, long string) *cobra.Command {
	c := voteCommand{selection: selection}
	command := &cobra.Command{
		Use:   name + " [ACTIVITY]",
		Short: short,
		Long: paragraphs(long + `

The transaction is read here, from the body that was submitted, and compared with
what the server shows. The vote commits to both: the server refuses it if something
else would be signed. Compare the digest with other voters, if you speak to them.
Standard output gets the activity as it then stands.

Without a server, the request comes from a file (--request) or from QR codes, each
payload a line on standard input (--scan). The vote goes to --out, for 'countersign
sign --request FILE --vote FILE', or is drawn for 'countersign sign --scan' (--qr).
It commits to every byte of the request; which keys sign, the other machine knows.`),
		Example: paragraphs(`
  countersign ` + name + ` --url http://127.0.0.1:8080 --api-key ann.json sha256:5d41…
  countersign ` + name + ` --request request.json --api-key ann.json --out ann-vote.json
  zbarcam --raw --nodisplay | countersign ` + name + ` --scan --api-key ann.json --qr`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.to.register(command)
	c.network.register(command)
	command.Flags().BoolVar(&c.yes, "yes", false, "vote without asking for confirmation")
	command.Flags().StringVar(&c.request, "request", "", "vote on the stamped request in `FILE` (- is standard input), without a server")
	command.Flags().BoolVar(&c.scan, "scan", false, "read the request from QR codes: one payload a line on standard input")
	command.Flags().StringVar(&c.out, "out", "", "`FILE` that the vote goes to (- is standard output), with --request or --scan")
	c.qr.register(command.Flags())
	return command
}

func (c *voteCommand) run(cmd *cobra.Command, which string) error {
	if err := c.qr.check(); err != nil {
		return err
	}
	if c.request != "" || c.scan || c.out != "" || c.qr.wanted() {
		return c.runOffline(cmd, which)
	}
	if which == "" {
		return usagef("name the activity, by its id or fingerprint: 'countersign activities list' shows them")
	}
	if err := c.network.check(); err != nil {
		return err
	}
	if err := c.to.open(cmd.Context()); err != nil {
		return err
	}
	to, err := c.to.patient()
	if err != nil {
		return err
	}
	waiting, err := findActivity(cmd.Context(), to, which)
	if err != nil {
		return err
	}
	if !waiting.Status.Waits() {
		return fmt.Errorf("activity %s is %s: there is nothing to vote on", waiting.ID, waiting.Status)
	}
	return c.vote(cmd, to, waiting)
}

// vote shows an activity, asks, and votes.
func (c *voteCommand) vote(cmd *cobra.Command, to *api.Client, waiting *api.Activity) error {
	limits, err := c.network.limits()
	if err != nil {
		return err
	}
	shown, err := reviewed(waiting, limits, tokens())
	if err != nil {
		return err
	}
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	after, err := to.Vote(cmd.Context(), waiting, c.selection)
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return &refusedError{refused}
	}
	if err != nil {
		return fmt.Errorf("%w: the vote may have been counted: 'countersign activities show %s' says", err, waiting.ID)
	}
	if err := printLine(cmd, after.Answer); err != nil {
		return err
	}
	printTalk(cmd, outcomeText(after)+"\n")
	return nil
}

// confirm shows a request and asks about it.
func (c *voteCommand) confirm(cmd *cobra.Command, shown view) error {
	if err := shown.render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	err := confirmed(c.yes, func(tty *terminal.Terminal) error {
		return askAbout(cmd.Context(), tty, cmd.ErrOrStderr(), shown, c.question(shown))
	})
	if errors.Is(err, errDeclined) {
		return errors.New("not voted: the answer was not yes")
	}
	return err
}

func (c *voteCommand) question(shown view) string {
	if c.selection == activity.SelectionApproved {
		return "Approve this " + shown.what() + "?"
	}
	return "Reject this " + shown.what() + "?"
}

// outcomeText says what became of an activity.
func outcomeText(after *api.Activity) string {
	if !after.Status.Waits() {
		text := "The activity is " + string(after.Status)
		if after.Failure != nil {
			text += ": " + cleanText(after.Failure.Message)
		}
		return text + "."
	}
	if after.Review == nil {
		return "Counted; the activity still waits."
	}
	var missing []string
	for _, group := range after.Review.Missing {
		if group.Missing > 0 {
			missing = append(missing, cleanText(missingText(group)))
		}
	}
	if len(missing) == 0 {
		return "Counted; it has its votes, and is not signed now: " + cleanText(cmp.Or(after.Review.Reason, "ask again"))
	}
	return "Counted; still missing: " + strings.Join(missing, "; ") + "."
}

// cleanText is a server's text without what moves the cursor.
func cleanText(text string) string { return shown(errors.New(text)) }

// findActivity finds an activity by its id, or one that waits by its fingerprint.
func findActivity(ctx context.Context, to activitySource, which string) (found *api.Activity, err error) {
	if !strings.HasPrefix(which, "sha256:") {
		if found, err = to.GetActivity(ctx, which); err == nil && found.ID != which {
			return nil, errors.New("the server answered with another activity")
		}
	} else {
		var of activity.Fingerprint
		if of, err = activity.ParseFingerprint(which); err != nil {
			return nil, usagef("%v", err)
		}
		found, err = to.FindWaiting(ctx, of)
	}
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return nil, &refusedError{refused}
	}
	return found, err
}

// runOffline votes on a request in a file or in QR codes.
func (c *voteCommand) runOffline(cmd *cobra.Command, which string) error {
	if err := c.checkOffline(which); err != nil {
		return err
	}
	limits, err := c.network.limits()
	if err != nil {
		return err
	}
	by, err := c.to.key.open(cmd.Context())
	if err != nil {
		return err
	}
	sent, err := c.readRequest(cmd)
	if err != nil {
		return err
	}
	request, err := activity.Decode(sent.Body)
	if err != nil {
		return err
	}
	if request.OrganizationID != by.organizationID {
		return fmt.Errorf("the request is for organization %s, and the API key is of %s", request.OrganizationID, by.organizationID)
	}
	_, shown, err := viewOfBody(request, limits, tokens())
	if err != nil {
		return err
	}
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	return c.writeVote(cmd, by, request)
}

// checkOffline refuses flags that do not fit together.
func (c *voteCommand) checkOffline(which string) error {
	switch {
	case c.request == "" && !c.scan:
		return usagef("--out, --qr and --qr-png are for a vote without a server: pass the request, with --request FILE or --scan")
	case c.request != "" && c.scan:
		return usagef("--request does not go with --scan: the request comes from one of them")
	case which != "" || c.to.base != "":
		return usagef("the request is what the vote is on: name no activity and no --url")
	case c.out == "" && !c.qr.wanted():
		return usagef("the vote has no place to go to: pass --out FILE, --qr or --qr-png DIR")
	}
	return checkOut("out", c.out)
}

// readRequest reads the request from where the flags say.
func (c *voteCommand) readRequest(cmd *cobra.Command) (countersign.SignedBody, error) {
	if !c.scan {
		return readRequestFile(cmd, c.request)
	}
	message, err := scanMessage(cmd, ur.TypeRequest, ur.TypeJSON)
	if err != nil {
		return countersign.SignedBody{}, err
	}
	return requestIn(message)
}

// writeVote stamps a vote on a request and writes it. It commits to the body; what
// depends on the keys, the engine that has them checks.
func (c *voteCommand) writeVote(cmd *cobra.Command, by *stamper, on *activity.Request) error {
	intent := activity.NewRejection(on.Fingerprint, "")
	if c.selection == activity.SelectionApproved {
		intent = activity.NewApproval(on.Fingerprint, "")
	}
	vote, err := activity.NewRequest(activity.Envelope{OrganizationID: by.organizationID, Time: time.Now()}, intent)
	if err != nil {
		return err
	}
	stamped, err := newRequestFile(by, vote.Body)
	if err != nil {
		return err
	}
	if c.out != "" {
		if err := writeOut(cmd, c.out, jsonLine(stamped)); err != nil {
			return fmt.Errorf("--out %s: %w", c.out, err)
		}
	}
	return c.qr.show(cmd, stamped.vote())
}
