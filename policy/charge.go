package policy

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

// counter identifies the counter of a limit.
type counter struct{ limit, subject string }

// charge adds a charge to the decision. Charges of one counter are summed.
func (c *cover) charge(charge store.Charge) {
	key := counter{charge.Limit, charge.Subject}
	if i, ok := c.counters[key]; ok {
		pending := &c.decision.Charges[i]
		pending.Amount = new(big.Int).Add(pending.Amount, charge.Amount)
		return
	}
	c.counters[key] = len(c.decision.Charges)
	c.decision.Charges = append(c.decision.Charges, charge)
}

// charges returns what the limits of a rule count for an effect, or the refusal of a limit
// that the effect would exceed.
func (c *cover) charges(r *rule, effect *effectView) ([]store.Charge, *Denial, error) {
	if effect.Change && !effect.paid {
		return nil, nil, nil // nothing is spent
	}
	var charges []store.Charge
	for _, limit := range r.limits {
		subject, over, why := c.countable(limit, effect)
		switch text := fmt.Sprintf("limit %s of rule %s cannot count %s: %s", limit.name, r.name, describe(effect), why); {
		case over:
			return nil, exceeds(r, effect, text, &store.LimitError{Charge: store.Charge{Limit: limit.name}}), nil
		case why != "":
			return nil, nil, &uncountableError{text}
		}
		charge := store.Charge{Limit: limit.name, Subject: subject, Amount: effect.Counted().Value, Max: limit.max, Window: limit.window, Slot: c.slot(limit)}
		exceeded, err := c.limited(r, limit, effect, charge)
		if exceeded != nil || err != nil {
			return nil, exceeded, err
		}
		charges = append(charges, charge)
	}
	return charges, nil, nil
}

// uncountableError is returned if a limit cannot count an effect. The limit's rule then
// does not cover the effect.
type uncountableError struct{ text string }

// Error implements error.
func (e *uncountableError) Error() string { return e.text }

// countable returns the subject that a limit counts an effect for, or why it cannot. over
// is true if the effect is of the limit's asset and its amount has no bound.
func (c *cover) countable(limit *limit, effect *effectView) (subject string, over bool, why string) {
	switch {
	case !effect.counted():
		return "", false, "it has no amount that is spent"
	case effect.Asset.IsUnknown():
		return "", false, "its asset is unknown"
	case !effect.Asset.Equal(limit.asset.Asset):
		return "", false, "it is of " + assetText(effect.Asset)
	case effect.Amount.IsUnknown():
		return "", true, "its amount is not bounded"
	}
	if subject = c.subject(limit.per, effect); subject != "" {
		return subject, false, ""
	}
	if len(c.evaluation.request.Keys) == 0 && (limit.per == "key" || limit.per == "wallet") {
		return "", false, "the request names no key"
	}
	return "", false, "it has no single " + limit.per
}

// subject returns the value that a limit is counted per; empty if there is no single one.
func (c *cover) subject(per string, effect *effectView) string {
	request := c.evaluation.request
	switch per {
	case "user":
		return request.User.ID
	case "credential":
		if request.Credential != nil {
			return string(request.Credential.ID())
		}
	case "to":
		if to := effect.To.Address(); to != nil {
			return hexText(to)
		}
	case "organization":
		return "organization"
	case "account":
		if from := effect.From.Address(); from != nil && effect.By == chains.BySigner {
			return hexText(from)
		}
	case "key":
		return single(request.Keys, func(key *access.SigningKey) string { return key.ID })
	case "wallet":
		switch {
		case request.Wallet != nil:
			return "registered " + request.Wallet.ID // whichever of its keys signs
		case request.MixedWallets:
			return "" // what a registered wallet pays is not its key's
		}
		return single(request.Keys, func(key *access.SigningKey) string {
			if key.WalletID == "" {
				return key.ID // a key without a wallet counts as its own
			}
			return key.WalletID
		})
	}
	return ""
}

// single returns the value that all keys share; empty if they differ.
func single(keys []access.SigningKey, of func(*access.SigningKey) string) string {
	value := ""
	for i := range keys {
		if value != "" && of(&keys[i]) != value {
			return ""
		}
		value = of(&keys[i])
	}
	return value
}

// exceeds returns the refusal of a rule's limit.
func exceeds(r *rule, effect *effectView, text string, limit *store.LimitError) *Denial {
	return &Denial{Rule: r.name, Effect: effect.index, Text: text, Cause: limit}
}

// limited returns a refusal if the charge exceeds the limit, given what was spent and what
// the request already charges.
func (c *cover) limited(r *rule, limit *limit, effect *effectView, charge store.Charge) (*Denial, error) {
	pending := new(big.Int)
	if i, ok := c.counters[counter{charge.Limit, charge.Subject}]; ok {
		pending = c.decision.Charges[i].Amount
	}
	whole := charge // of the request so far
	whole.Amount = new(big.Int).Add(pending, charge.Amount)
	spent, frees, err := c.spent(whole)
	if err != nil {
		return nil, err
	}
	before := new(big.Int).Add(spent, pending)
	if new(big.Int).Add(before, charge.Amount).Cmp(limit.max) <= 0 {
		return nil, nil
	}
	left := new(big.Int).Sub(limit.max, before)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	text := fmt.Sprintf("limit %s of rule %s: %s is requested, %s of %s is left within %s", limit.name, r.name,
		limit.asset.amount(charge.Amount), limit.asset.decimal(left), limit.asset.amount(limit.max), shortDuration(limit.window))
	refusal := &store.LimitError{Charge: charge, Left: left}
	if !frees.IsZero() {
		refusal.RetryAfter = max(0, frees.Sub(c.evaluation.request.Now))
	}
	return exceeds(r, effect, text, refusal), nil
}

// shortDuration formats a duration as a file has it, such as 24h or 90m.
func shortDuration(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (c *cover) spent(charge store.Charge) (*big.Int, time.Time, error) {
	if c.evaluation.request.Spent == nil {
		return new(big.Int), time.Time{}, nil
	}
	sum, frees, err := c.evaluation.request.Spent.Spent(c.ctx, organizationID(c.evaluation.request), charge)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("policy: limit %s cannot be read: %w", charge.Limit, err)
	}
	return sum, frees, nil
}

// organizationID returns the organization of a request; empty in a file's test.
func organizationID(request *access.Authorization) string {
	if request.Organization == nil {
		return ""
	}
	return request.Organization.ID
}
