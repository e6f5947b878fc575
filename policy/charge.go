package policy

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/store"
)

type counter struct{ limit, subject string }

// ledger is what a request charges, and what was spent before.
type ledger struct {
	*evaluation
	ctx      context.Context
	pending  []store.Charge
	counters map[counter]int // the index of a counter's charge in pending
}

// add adds a charge. Charges of one counter are summed.
func (l *ledger) add(charge store.Charge) {
	key := counter{charge.Limit, charge.Subject}
	if i, ok := l.counters[key]; ok {
		pending := &l.pending[i]
		pending.Amount = new(big.Int).Add(pending.Amount, charge.Amount)
		return
	}
	if l.counters == nil {
		l.counters = map[counter]int{}
	}
	l.counters[key] = len(l.pending)
	l.pending = append(l.pending, charge)
}

// charges returns what the limits of a rule count for an effect, or the refusal of a limit
// that the effect would exceed.
func (l *ledger) charges(r *rule, effect *effectView) ([]store.Charge, *Denial, error) {
	if effect.Change && !effect.paid {
		return nil, nil, nil // nothing is spent
	}
	var charges []store.Charge
	for _, limit := range r.limits {
		amount, subject, over, why := l.countable(limit, effect)
		text := fmt.Sprintf("limit %s of rule %s cannot count %s: %s", limit.name, r.name, describe(effect), why)
		switch {
		case over:
			return nil, exceeds(r, effect, text, &store.LimitError{Charge: store.Charge{Limit: limit.name}}), nil
		case why != "":
			return nil, nil, &uncountableError{text}
		}
		charge := store.Charge{
			Limit: limit.name, Subject: subject, Amount: amount,
			Max: limit.max, Window: limit.window, Slot: l.slot(limit),
		}
		if limit.currency {
			charge.Until = effect.quotes.until()
		}
		charge.Unit, charge.Decimals = limit.asset.unit()
		exceeded, err := l.limited(r, limit, effect, charge)
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

func (e *uncountableError) Error() string { return e.text }

// countable returns what a limit counts of an effect and for whom, or why it cannot. over is
// true if the limit is of the effect's asset, or of all, and what it spends has no bound.
func (l *ledger) countable(limit *limit, effect *effectView) (amount *big.Int, subject string, over bool, why string) {
	switch {
	case !effect.counted():
		return nil, "", false, "it has no amount that is spent"
	case limit.currency:
		if amount, why = effect.priced(); why != "" {
			return nil, "", true, why
		}
	case effect.Asset.IsUnknown():
		return nil, "", false, "its asset is unknown"
	case !effect.Asset.Equal(limit.asset.Asset):
		return nil, "", false, "it is of " + assetText(effect.Asset)
	case effect.Amount.IsUnknown():
		return nil, "", true, "its amount is not bounded"
	default:
		amount = effect.Counted().Value
	}
	if subject = l.subject(limit, effect); subject != "" {
		return amount, subject, false, ""
	}
	if len(l.request.Keys) == 0 && (limit.per == "key" || limit.per == "wallet") {
		return nil, "", false, "the request names no key"
	}
	return nil, "", false, "it has no single " + limit.per
}

// subject returns the value that a limit is counted per; empty if there is no single one.
func (l *ledger) subject(limit *limit, effect *effectView) string {
	request, words := l.request, l.known.ofNetwork(effect.Asset.Chain)
	switch limit.per {
	case "user":
		return request.User.ID
	case "credential":
		if request.Credential != nil {
			return string(request.Credential.ID())
		}
	case "to":
		// A limit in a currency would count each token account of a recipient apart.
		if to := effect.To.Address(); to != nil && (!limit.currency || words.TokenAccounts == nil) {
			return hexText(to)
		}
	case "organization":
		return "organization"
	case "account":
		if from := effect.From.Address(); from != nil && effect.By == chains.BySigner && words.Account != nil {
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

func exceeds(r *rule, effect *effectView, text string, limit *store.LimitError) *Denial {
	return &Denial{Rule: r.name, Effect: effect.index, Text: text, Cause: limit}
}

// limited returns a refusal if the charge exceeds the limit, given what was spent and what
// the request already charges.
func (l *ledger) limited(r *rule, limit *limit, effect *effectView, charge store.Charge) (*Denial, error) {
	pending := new(big.Int)
	if i, ok := l.counters[counter{charge.Limit, charge.Subject}]; ok {
		pending = l.pending[i].Amount
	}
	whole := charge // of the request so far
	whole.Amount = new(big.Int).Add(pending, charge.Amount)
	spent, frees := new(big.Int), time.Time{}
	if reader := l.request.Spent; reader != nil {
		var err error
		if spent, frees, err = reader.Spent(l.ctx, organizationID(l.request), whole); err != nil {
			return nil, fmt.Errorf("policy: limit %s cannot be read: %w", limit.name, err)
		}
	}
	before := new(big.Int).Add(spent, pending)
	if new(big.Int).Add(before, charge.Amount).Cmp(limit.max) <= 0 {
		return nil, nil
	}
	left := new(big.Int).Sub(limit.max, before)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	of := limit.asset
	text := fmt.Sprintf("limit %s of rule %s: %s is requested, %s of %s is left within %s", limit.name, r.name,
		of.amount(charge.Amount), of.decimal(left), of.amount(limit.max), shortDuration(limit.window))
	refusal := &store.LimitError{Charge: charge, Left: left}
	if !frees.IsZero() {
		refusal.RetryAfter = max(0, frees.Sub(l.request.Now))
	}
	return exceeds(r, effect, text, refusal), nil
}

// organizationID returns the organization of a request; empty in a file's test.
func organizationID(request *access.Authorization) string {
	if request.Organization == nil {
		return ""
	}
	return request.Organization.ID
}

// slot returns what the charges of a limit exclude each other by: the key, the network and
// the nonce of a transaction, of which the network includes one. It is empty unless the limit
// says so, and for everything but such a transaction: a message, a delegation and a user
// operation are valid beside others of their nonce.
func (l *ledger) slot(limit *limit) string {
	request := l.request
	if _, signs := request.Intent.(activity.SignTransactionIntent); !limit.nonce || !signs || l.chain == "" {
		return ""
	}
	words, fields := l.known.chain(l.chain), l.fields()
	chain, hasChain := chains.Keyed(fields, "chain_id")
	nonce, hasNonce := chains.Keyed(fields, "nonce")
	key := single(request.Keys, func(key *access.SigningKey) string { return key.ID })
	if key == "" || !hasChain || !hasNonce || chain.Type != chains.TypeInteger || nonce.Type != chains.TypeInteger {
		return ""
	}
	network := words.Namespace + ":" + chain.Value
	if network != limit.asset.Chain || words.OneNonce == nil || !words.OneNonce(network) {
		return ""
	}
	return strings.Join([]string{key, network, nonce.Value}, " ")
}
