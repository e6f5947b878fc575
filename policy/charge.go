package policy

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/store"
)

// charge adds a charge to those of the request; one counter is charged once.
func (c *cover) charge(charge store.Charge) {
	key := charged{charge.Limit, charge.Subject}
	if c.pending[key] == nil {
		c.pending[key] = new(big.Int)
		c.decision.Charges = append(c.decision.Charges, charge)
	}
	c.pending[key].Add(c.pending[key], charge.Amount)
	for i := range c.decision.Charges {
		if one := &c.decision.Charges[i]; one.Limit == charge.Limit && one.Subject == charge.Subject {
			one.Amount = new(big.Int).Set(c.pending[key])
		}
	}
}

// charges are what a rule's limits count for an effect, or the limit that it
// would exceed.
func (c *cover) charges(r *rule, effect *effectView) ([]store.Charge, *countersign.LimitExceeded, error) {
	var charges []store.Charge
	for _, limit := range r.limits {
		subject, over, why := c.countable(limit, effect)
		switch text := fmt.Sprintf("limit %s of rule %s cannot count %s: %s", limit.name, r.name, describe(effect), why); {
		case over:
			return nil, &countersign.LimitExceeded{Limit: limit.name, Rule: r.name, Text: text}, nil
		case why != "":
			return nil, nil, &uncountableError{text}
		}
		charge := store.Charge{Limit: limit.name, Subject: subject, Amount: effect.Amount.Value, Max: limit.max, Window: limit.window}
		exceeded, err := c.exceeds(r, limit, charge)
		if exceeded != nil || err != nil {
			return nil, exceeded, err
		}
		charges = append(charges, charge)
	}
	return charges, nil, nil
}

// uncountableError says that a limit does not count an effect, so that its rule
// does not cover it.
type uncountableError struct{ text string }

// Error implements error.
func (e *uncountableError) Error() string { return e.text }

// countable returns what a limit is counted for, or why it cannot count an
// effect; over, if the effect is of its asset, without a bound.
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
	if subject = c.subject(limit.per, effect); subject == "" {
		return "", false, "it has no single " + limit.per
	}
	return subject, false, ""
}

// subject is the value that a limit is counted for; empty if there is no single one.
func (c *cover) subject(per string, effect *effectView) string {
	asked := c.evaluation.asked
	switch per {
	case "user":
		return asked.User.ID
	case "credential":
		if asked.Credential != nil {
			return string(asked.Credential.ID())
		}
	case "to":
		if to := effect.To.Address(); to != nil {
			return hexText(to)
		}
	case "organization":
		return "organization"
	case "key":
		return single(asked.Keys, func(key *countersign.SigningKey) string { return key.ID })
	case "wallet":
		return single(asked.Keys, func(key *countersign.SigningKey) string {
			if key.WalletID == "" {
				return key.ID // a key of no wallet is one of its own
			}
			return key.WalletID
		})
	}
	return ""
}

func single(keys []countersign.SigningKey, of func(*countersign.SigningKey) string) string {
	found := ""
	for i := range keys {
		if found != "" && of(&keys[i]) != found {
			return ""
		}
		found = of(&keys[i])
	}
	return found
}

// exceeds compares a charge with what has been spent and what this request
// charges besides.
func (c *cover) exceeds(r *rule, limit *limit, charge store.Charge) (*countersign.LimitExceeded, error) {
	spent, frees, err := c.spent(charge)
	if err != nil {
		return nil, err
	}
	before := new(big.Int).Set(spent)
	if pending := c.pending[charged{charge.Limit, charge.Subject}]; pending != nil {
		before.Add(before, pending)
	}
	if new(big.Int).Add(before, charge.Amount).Cmp(limit.max) <= 0 {
		return nil, nil
	}
	left := new(big.Int).Sub(limit.max, before)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	exceeded := &countersign.LimitExceeded{Limit: limit.name, Rule: r.name, Left: left, Frees: frees}
	exceeded.Text = fmt.Sprintf("limit %s of rule %s: %s is asked for, %s of %s is left within %v",
		limit.name, r.name, unitsText(charge.Amount, limit.asset.decimals), unitsText(left, limit.asset.decimals), unitsText(limit.max, limit.asset.decimals), limit.window)
	return exceeded, nil
}

func (c *cover) spent(charge store.Charge) (*big.Int, time.Time, error) {
	if c.evaluation.asked.Spent == nil {
		return new(big.Int), time.Time{}, nil
	}
	sum, frees, err := c.evaluation.asked.Spent.Spent(c.ctx, organizationID(c.evaluation.asked), charge.Limit, charge.Subject, charge.Window)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("policy: limit %s cannot be read: %w", charge.Limit, err)
	}
	return sum, frees, nil
}

// organizationID is that of a request, empty in a test of a file.
func organizationID(asked *countersign.Authorization) string {
	if asked.Organization == nil {
		return ""
	}
	return asked.Organization.ID
}

// unitsText writes smallest units as a decimal number.
func unitsText(value *big.Int, decimals int) string {
	text := value.String()
	if decimals <= 0 {
		return text
	}
	text = strings.Repeat("0", max(0, decimals+1-len(text))) + text
	whole, fraction := text[:len(text)-decimals], strings.TrimRight(text[len(text)-decimals:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
