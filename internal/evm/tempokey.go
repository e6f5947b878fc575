package evm

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// KeyGrant is what another key may do for an account of Tempo from now on, granted by a
// key authorization in a transaction or by a call of the AccountKeychain.
type KeyGrant struct {
	Key     Address
	Admin   bool   // may authorize and revoke keys (TIP-1049)
	Expires uint64 // seconds since 1970; 0: never
	Limited bool   // spends no more than Limits say of TIP-20 tokens
	Limits  []KeyLimit
	Scoped  bool // makes no other calls than Scopes say
	Scopes  []KeyScope
}

// KeyLimit is what a key may spend of a token, in total or in each period of seconds.
type KeyLimit struct {
	Token  Address
	Amount *big.Int
	Period uint64
}

// KeyScope is a contract that a key may call (TIP-1011). Without rules it may call every function.
type KeyScope struct {
	Target Address
	Rules  []KeyRule
}

// KeyRule is a function that a key may call, with the recipients that it may name; none: any.
type KeyRule struct {
	Selector   []byte
	Recipients []Address
}

const secondsPerYear = 365 * 24 * 60 * 60

// yearly returns the most that may be spent within a year.
func (l KeyLimit) yearly() *big.Int {
	if l.Period == 0 || l.Period >= secondsPerYear {
		return l.Amount
	}
	periods := (secondsPerYear + l.Period - 1) / l.Period
	return new(big.Int).Mul(l.Amount, new(big.Int).SetUint64(periods))
}

// Unlimited reports whether the limit cannot be exhausted: it allows more than a
// billion US dollars a year.
func (l KeyLimit) Unlimited() bool { return l.yearly().Cmp(maxTIP20) > 0 }

// GrantFunction is the function in effects of a grant by a key authorization.
const GrantFunction = "key authorization"

// Effects returns what the grant lets the key do. A key that may make any call has
// control of the account, whatever its limits: they only bind TIP-20 spending.
func (g *KeyGrant) Effects(n *Network, account chains.Party) (effects []chains.Effect) {
	var until chains.Until // times after the year 9999 count as never
	if g.Expires != 0 && g.Expires <= chains.LastSecond {
		until.Time = time.Unix(int64(g.Expires), 0).UTC()
	}
	add := func(effect chains.Effect) {
		effect.From, effect.To, effect.By, effect.Until = account, n.Party(g.Key), chains.BySigner, until
		effects = append(effects, effect)
	}
	if g.Admin || !g.Scoped {
		add(chains.Effect{Kind: chains.KindAuthority, Account: account,
			Args: []chains.Arg{{Name: "admin", Value: strconv.FormatBool(g.Admin)}}})
	}
	if !g.Limited {
		add(chains.Effect{Kind: chains.KindApprove, Asset: chains.UnknownAsset(n.ID), Amount: chains.Unlimited(nil)})
	}
	for _, limit := range g.Limits {
		add(limit.effect(n))
	}
	for _, scope := range g.Scopes {
		for _, effect := range scope.effects(n) {
			add(effect)
		}
	}
	if len(effects) == 0 { // it may do nothing
		add(chains.Effect{Kind: chains.KindSettings, Account: account})
	}
	return effects
}

// effect returns what a limit lets the key spend; with periods, within a year.
func (l KeyLimit) effect(n *Network) chains.Effect {
	effect := chains.Effect{Kind: chains.KindApprove, Asset: chains.Token(n.ID, n.Party(l.Token), tip20),
		Amount: chains.Exactly(l.Amount)}
	switch {
	case l.Unlimited():
		effect.Amount = chains.Unlimited(l.Amount)
	case l.Period > 0:
		effect.Amount = chains.AtMost(l.yearly())
	}
	if l.Period > 0 {
		effect.Args = []chains.Arg{{Name: "limit", Value: l.Amount.String()}, {Name: "period in seconds",
			Value: strconv.FormatUint(l.Period, 10)}}
	}
	return effect
}

// effects returns what a scope allows and no limit binds: calls of anything but a
// TIP-20 token, and of functions of such a token that do not spend it.
func (s KeyScope) effects(n *Network) (effects []chains.Effect) {
	call := chains.Effect{Kind: chains.KindApprove, Asset: chains.Token(n.ID, n.Party(s.Target), ""),
		Amount: chains.UnknownQuantity()}
	if len(s.Rules) == 0 {
		call.Args = []chains.Arg{{Name: "calls", Value: "any"}}
		return []chains.Effect{call}
	}
	for _, rule := range s.Rules {
		if IsTIP20(s.Target) && SpendsTIP20(rule.Selector) {
			continue
		}
		call.Args = []chains.Arg{{Name: "calls", Value: "0x" + hex.EncodeToString(rule.Selector)}}
		effects = append(effects, call)
	}
	return effects
}

// SpendsTIP20 reports whether limits bind a function and a scope can name its
// recipients: transfer, approve and transferWithMemo.
func SpendsTIP20(selector []byte) bool {
	return slices.Contains([]string{"\xa9\x05\x9c\xbb", "\x09\x5e\xa7\xb3", "\x95\x77\x7d\x59"}, string(selector))
}

func (e *emitter) addGrant(c *Call, g *KeyGrant) {
	for _, effect := range g.Effects(c.pass.Network, c.callerParty()) {
		effect.By = "" // as the call's
		effect.Function = c.function.signature
		e.add(c, effect)
	}
}

func authorizeKey(e *emitter, c *Call) {
	restrictions := c.arg("restrictions").list
	g := &KeyGrant{Key: c.arg("key").address(), Expires: expiry(member(restrictions, "expires")),
		Limited: member(restrictions, "enforce limits").yes(), Scoped: !member(restrictions, "any call").yes()}
	g.readLimits(member(restrictions, "limits").list)
	if g.Scoped {
		for _, scope := range member(restrictions, "scopes").list {
			read := KeyScope{Target: member(scope.list, "target").address()}
			for _, rule := range member(scope.list, "rules").list {
				read.Rules = append(read.Rules, KeyRule{Selector: member(rule.list, "selector").fixed()})
			}
			g.Scopes = append(g.Scopes, read)
		}
	}
	e.addGrant(c, g)
}

func authorizeKeyLegacy(e *emitter, c *Call) {
	g := &KeyGrant{Key: c.arg("key").address(), Expires: expiry(c.arg("expires")),
		Limited: c.arg("enforce limits").yes()}
	g.readLimits(c.arg("limits").list)
	e.addGrant(c, g)
}

// readLimits reads limits, which are ignored if they are not enforced.
func (g *KeyGrant) readLimits(limits []value) {
	for i := range limits {
		if !g.Limited {
			return
		}
		limit := KeyLimit{Token: member(limits[i].list, "token").address(), Amount: member(limits[i].list,
			"limit").big()}
		if len(limits[i].list) > 2 {
			limit.Period = member(limits[i].list, "period").big().Uint64()
		}
		g.Limits = append(g.Limits, limit)
	}
}

// expiry returns the expiry in an argument. 2^64−1 means never, which is 0 here.
func expiry(v *value) uint64 {
	if seconds := v.big().Uint64(); seconds != math.MaxUint64 {
		return seconds
	}
	return 0
}

func updateSpendingLimit(e *emitter, c *Call) {
	limit := KeyLimit{Token: c.arg("token").address(), Amount: c.arg("limit").big()}
	effect := limit.effect(c.pass.Network)
	if limit.Amount.Sign() == 0 {
		effect.Kind, effect.Amount = chains.KindRevoke, chains.Quantity{}
	}
	effect.From, effect.To = c.callerParty(), c.addressOf("key")
	e.add(c, effect)
}
