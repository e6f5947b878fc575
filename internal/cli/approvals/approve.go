package approvals

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
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/ur"
)

type voteCommand struct {
	selection activity.Selection
	to        deployment.Client
	network   show.NetworkFlag
	yes       bool
	request   string // file with the request to vote on without a server
	scan      bool   // the request comes as QR codes
	out       string // file to write the vote to
	qr        console.QRFlags
}

// NewApproveCommand returns the command approve.
func NewApproveCommand() *cobra.Command {
	return newVoteCommand(activity.SelectionApproved, "approve", "Vote for a request that waits for approvals", `
Show what a waiting request does, ask for confirmation, and vote for it. ACTIVITY is its
id or its fingerprint, sha256:…, as 'countersign activities list' shows them.`)
}

// NewRejectCommand returns the command reject.
func NewRejectCommand() *cobra.Command {
	return newVoteCommand(activity.SelectionRejected, "reject", "Vote against a request that waits for approvals", `
Show what a waiting request does, ask for confirmation, and vote against it. One such
vote rejects the request; the submitter's own withdraws it. ACTIVITY is its id or its
fingerprint, sha256:…, as 'countersign activities list' shows them.`)
}

func newVoteCommand(selection activity.Selection, name, short, long string) *cobra.Command {
	c := voteCommand{selection: selection}
	command := &cobra.Command{
		Use:   name + " [ACTIVITY]",
		Short: short,
		Long: console.Paragraphs(long + `

This command reads the transaction itself, from the submitted body, and compares it
with what the server shows. The vote commits to both: the server refuses it if anything
else would be signed. If you can, compare the vote digest with the other voters.
Standard output receives the activity after the vote.

Without a server, the request comes from a file (--request) or from QR codes (--scan),
one payload per line of standard input. The vote goes to --out, for 'countersign
sign --request FILE --vote FILE', or is drawn for 'countersign sign --scan' (--qr). It
commits to every byte of the request; only the other machine knows which keys sign.`),
		Example: console.Paragraphs(`
  countersign ` + name + ` --url http://127.0.0.1:8080 --api-key ann.json sha256:5d41…
  countersign ` + name + ` --request request.json --api-key ann.json --out ann-vote.json
  zbarcam --raw --nodisplay | countersign ` + name + ` --scan --api-key ann.json --qr`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, strings.Join(args, "")) },
	}
	c.to.Register(command)
	c.network.Register(command)
	command.Flags().BoolVar(&c.yes, "yes", false, "vote without asking for confirmation")
	command.Flags().StringVar(&c.request, "request", "", "vote on the stamped request in `FILE` (- is standard input), without a server")
	command.Flags().BoolVar(&c.scan, "scan", false, "read the request from QR codes, one payload per line of standard input")
	command.Flags().StringVar(&c.out, "out", "", "`FILE` to write the vote to (- is standard output), with --request or --scan")
	c.qr.Register(command)
	console.Exclusive(command, "pass one of them", "request", "scan")
	return command
}

func (c *voteCommand) run(cmd *cobra.Command, which string) error {
	if c.request != "" || c.scan || c.out != "" || c.qr.Wanted() {
		return c.runOffline(cmd, which)
	}
	if which == "" {
		return console.Usagef("name the activity by its id or fingerprint: 'countersign activities list' shows them")
	}
	to, err := c.to.OpenRetrying(cmd.Context())
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
	shown, err := show.Reviewed(waiting, c.network.Limits(), show.Tokens())
	if err != nil {
		return err
	}
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	after, err := to.Vote(cmd.Context(), waiting, c.selection)
	if err = deployment.WithReason(err); errors.As(err, new(*deployment.RefusedError)) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: the vote may have been counted: check with 'countersign activities show %s'", err, waiting.ID)
	}
	if err := console.PrintLine(cmd, after.Answer); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), outcomeText(after))
	return nil
}

func (c *voteCommand) confirm(cmd *cobra.Command, shown show.View) error {
	question := "Reject this " + shown.What() + "?"
	if c.selection == activity.SelectionApproved {
		question = "Approve this " + shown.What() + "?"
	}
	return show.ConfirmShown(cmd, c.yes, shown, question, "not voted")
}

func outcomeText(after *api.Activity) string {
	if !after.Status.Waits() {
		text := "The activity is " + string(after.Status)
		if after.Failure != nil {
			text += ": " + console.CleanText(after.Failure.Message)
		}
		return text + "."
	}
	if after.Review == nil {
		return "Counted; the activity is still waiting."
	}
	var missing []string
	for _, group := range after.Review.Missing {
		if group.Missing > 0 {
			missing = append(missing, console.CleanText(show.MissingText(group)))
		}
	}
	if len(missing) == 0 {
		return "Counted; it has all its votes, but cannot be signed now: " + console.CleanText(cmp.Or(after.Review.Reason, "try again"))
	}
	return "Counted; still missing: " + strings.Join(missing, "; ") + "."
}

// findActivity finds an activity by its id, or a waiting one by its fingerprint.
func findActivity(ctx context.Context, to activitySource, which string) (waiting *api.Activity, err error) {
	if !strings.HasPrefix(which, "sha256:") {
		if waiting, err = to.GetActivity(ctx, which); err == nil && waiting.ID != which {
			return nil, errors.New("the server answered with another activity")
		}
	} else {
		var fingerprint activity.Fingerprint
		if fingerprint, err = activity.ParseFingerprint(which); err != nil {
			return nil, console.Usagef("%v", err)
		}
		waiting, err = to.FindWaiting(ctx, fingerprint)
	}
	return waiting, deployment.WithReason(err)
}

// runOffline votes on a request in a file or in QR codes.
func (c *voteCommand) runOffline(cmd *cobra.Command, which string) error {
	switch {
	case c.request == "" && !c.scan:
		return console.Usagef("--out, --qr and --qr-png are for a vote without a server: pass the request, with --request FILE or --scan")
	case which != "" || c.to.Base != "":
		return console.Usagef("the vote is on the request: name neither an activity nor --url")
	case c.out == "" && !c.qr.Wanted():
		return console.Usagef("no destination for the vote: pass --out FILE, --qr or --qr-png DIR")
	}
	if err := console.CheckOut("out", c.out); err != nil {
		return err
	}
	by, err := c.to.Key.Open(cmd.Context())
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
	if request.OrganizationID != by.OrganizationID {
		return fmt.Errorf("the request is for organization %s, but the API key belongs to %s", request.OrganizationID, by.OrganizationID)
	}
	_, shown, err := show.ViewOfBody(request, c.network.Limits(), show.Tokens())
	if err != nil {
		return err
	}
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	return c.writeVote(cmd, by, request)
}

func (c *voteCommand) readRequest(cmd *cobra.Command) (countersign.SignedBody, error) {
	if !c.scan {
		return show.ReadRequestFile(cmd, c.request)
	}
	message, err := console.ScanMessage(cmd, ur.TypeRequest, ur.TypeJSON)
	if err != nil {
		return countersign.SignedBody{}, err
	}
	return show.RequestIn(message)
}

// writeVote stamps a vote on a request and writes it. The vote commits to the body. The
// engine that has the keys checks what depends on them.
func (c *voteCommand) writeVote(cmd *cobra.Command, by *api.Key, request *activity.Request) error {
	intent := activity.NewRejection(request.Fingerprint, "")
	if c.selection == activity.SelectionApproved {
		intent = activity.NewApproval(request.Fingerprint, "")
	}
	vote, err := activity.NewRequest(activity.Envelope{OrganizationID: by.OrganizationID, Time: time.Now()}, intent)
	if err != nil {
		return err
	}
	stamped, err := show.NewRequestFile(by, vote.Body)
	if err != nil {
		return err
	}
	if c.out != "" {
		if err := console.WriteOut(cmd, c.out, console.JSONLine(stamped)); err != nil {
			return fmt.Errorf("--out %s: %w", c.out, err)
		}
	}
	return c.qr.Show(cmd, stamped.Vote())
}
