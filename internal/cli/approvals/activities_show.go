package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/store"
)

type activitiesShow struct {
	from    activitiesFlags
	network show.NetworkFlag
	field   show.ActivityFieldFlag
	output  console.OutputFlag
}

func newActivitiesShowCommand() *cobra.Command {
	var c activitiesShow
	command := &cobra.Command{
		Use:   "show ACTIVITY",
		Short: "Show an activity, and what it does if it is waiting",
		Long: console.Paragraphs(`
Show an activity by its id, or a waiting one by its fingerprint, sha256:…

Standard output receives the answer, {"activity":…}, or a short form on a terminal. For
a waiting activity, standard error shows what it does and which votes are missing, like
'countersign approve'. With --config, standard error also shows the registered wallets
that the transaction used, and what the policy decided: the rules, what each limit counted
for the activity, and what is left of that limit now, in the smallest unit.`),
		Example: "  countersign activities show --url http://127.0.0.1:8080 --api-key ann.json 0199…",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.from.register(command)
	c.network.Register(command)
	c.field.Register(command)
	c.output.RegisterListing(command)
	return command
}

func (c *activitiesShow) run(cmd *cobra.Command, which string) (err error) {
	source, closing, err := c.from.open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	recorded, err := findActivity(cmd.Context(), source, which)
	if err != nil {
		return err
	}
	if recorded.Status.Waits() && recorded.Review != nil {
		shown, err := show.Reviewed(recorded, c.network.Limits(), nil)
		if err != nil {
			return err
		}
		if err := shown.Render(cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	if local, ok := source.(*deployment.StoredActivities); ok {
		if err := showDecision(cmd.Context(), local, cmd.ErrOrStderr(), recorded.ID); err != nil {
			return err
		}
	}
	if c.field.Name != "" {
		return c.field.Print(cmd, recorded.Answer)
	}
	if c.output.IsText() {
		return console.PrintDetails(cmd.OutOrStdout(), lineOf(recorded).details())
	}
	return console.PrintLine(cmd, recorded.Answer)
}

// showDecision writes the digests of an activity's descriptor readings, the registered wallets
// that it used, and what the policy decided: the rules, what each limit counted for the activity, and what is left
// of that limit now.
func showDecision(ctx context.Context, s *deployment.StoredActivities, w io.Writer, id string) error {
	recorded, err := s.Store.Get(ctx, s.Organization, id)
	if err != nil {
		return err
	}
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		return err
	}
	decision := &record.Decision
	if decision.Readings != "" {
		fmt.Fprintf(w, "readings %s\n", decision.Readings)
		for _, digest := range decision.ReadWith {
			fmt.Fprintf(w, "  read with %s\n", digest)
		}
	}
	for _, wallet := range decision.Wallets {
		fmt.Fprintf(w, "wallet %s\n  digest %s\n", console.CleanText(wallet.Name), wallet.Digest)
		if wallet.Leaf != "" {
			fmt.Fprintf(w, "  leaf   %s\n", console.CleanText(wallet.Leaf))
		}
	}
	if decision.PolicyDigest == "" {
		return nil
	}
	fmt.Fprintf(w, "policy %s\n", decision.PolicyDigest)
	fmt.Fprintf(w, "  rules  %s\n", console.CleanText(strings.Join(decision.Rules, ", ")))
	for _, charge := range decision.Charges {
		left, err := leftOf(ctx, s, charge)
		if err != nil {
			return fmt.Errorf("limit %s: %w", charge.Limit, err)
		}
		fmt.Fprintf(w, "  limit  %s of %s: this activity %s, of %s in %s; left now %s\n",
			console.CleanText(charge.Limit), console.CleanText(charge.Subject), charge.Amount, charge.Max, charge.Window, left)
	}
	for _, group := range decision.Required {
		fmt.Fprintf(w, "  votes  %d, by rule %s\n", group.Count, console.CleanText(group.Rule))
	}
	return nil
}

// leftOf returns what is left of a limit now. It is zero if the limit was lowered since.
func leftOf(ctx context.Context, s *deployment.StoredActivities, charged activity.Charge) (left *big.Int, err error) {
	charge := store.Charge{Limit: charged.Limit, Subject: charged.Subject, Window: charged.Window}
	err = s.Store.Change(ctx, s.Organization, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		spent, _, err := store.Spent(ledger, charge, time.Now())
		if err == nil {
			left = new(big.Int).Sub(charged.Max, spent)
		}
		return nil, err
	}))
	if err == nil && left.Sign() < 0 {
		left.SetInt64(0)
	}
	return left, err
}
