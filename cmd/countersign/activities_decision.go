package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// showDecision writes the digests of what descriptors said of an activity, and what the
// policy decided about it: by which rules, what each limit counted for it, and what is
// left of that limit now.
func (s *storedActivities) showDecision(ctx context.Context, w io.Writer, id string) error {
	found, err := s.store.Get(ctx, s.organization, id)
	if err != nil {
		return err
	}
	record, err := activity.DecodeRecord(found.Data)
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
	if decision.PolicyDigest == "" {
		return nil
	}
	fmt.Fprintf(w, "policy %s\n", decision.PolicyDigest)
	fmt.Fprintf(w, "  rules  %s\n", cleanText(strings.Join(decision.Rules, ", ")))
	for _, charge := range decision.Charges {
		left, err := s.left(ctx, charge)
		if err != nil {
			return fmt.Errorf("limit %s: %w", charge.Limit, err)
		}
		fmt.Fprintf(w, "  limit  %s of %s: this activity %s, of %s in %s; left now %s\n",
			cleanText(charge.Limit), cleanText(charge.Subject), charge.Amount, charge.Max, charge.Window, left)
	}
	for _, group := range decision.Required {
		fmt.Fprintf(w, "  votes  %d, by rule %s\n", group.Count, cleanText(group.Rule))
	}
	return nil
}

// left returns what is left of a limit now, zero if it was lowered since.
func (s *storedActivities) left(ctx context.Context, charged activity.Charge) (left *big.Int, err error) {
	charge := store.Charge{Limit: charged.Limit, Subject: charged.Subject, Window: charged.Window}
	err = s.store.Change(ctx, s.organization, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
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
