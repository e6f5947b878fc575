package countersign

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// trail is what is known of a request, for its line in the log: as far as the
// request came. It names who, which key and what it does; it never has a contact, a
// code, or the text of a message.
type trail struct {
	intent activity.Intent
	by     *caller
	task   work
	record *activity.Record
	signed *judgement // what the request had signed that another had submitted
}

// work returns what was to be done, of what intent, and the rules that decided on it.
func (t *trail) work() (work, activity.Intent, []string) {
	if t.signed != nil {
		return t.signed.task, t.signed.request.Intent, t.signed.decision.Rules
	}
	if t.by == nil {
		return t.task, t.intent, nil
	}
	return t.task, t.intent, t.by.decision.Rules
}

// attributes returns the members of the log line.
func (t *trail) attributes() []slog.Attr {
	if t == nil || t.by == nil {
		return nil
	}
	user := t.by.member.User
	attributes := []slog.Attr{slog.String("user", user.ID), slog.String("userName", user.Name)}
	if credential := t.by.member.Credential; credential != nil {
		attributes = append(attributes, slog.String("credential", string(credential.ID())))
	} else {
		attributes = append(attributes, slog.String("scheme", string(activity.SchemeLocal)))
	}
	if t.record != nil {
		attributes = append(attributes, slog.String("activity", t.record.ID))
	}
	if t.signed != nil {
		attributes = append(attributes, slog.String("submitter", t.signed.submitter.member.User.ID))
	}
	task, intent, rules := t.work()
	if signing, ok := task.(*signing); ok {
		attributes = append(attributes, signing.prepared.trail(intent)...)
	}
	if len(rules) > 0 {
		attributes = append(attributes, slog.Any("rules", rules))
	}
	return attributes
}

// trail names the chain, the keys, and the effects.
func (p *PreparedTransaction) trail(intent activity.Intent) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("chain", p.owners.chain.Name()),
		slog.Any("keys", p.signing.KeyIDs()),
		slog.Any("addresses", p.addresses(intent)),
		slog.Any("effects", shortEffects(p.signing.Effects())),
	}
	if len(p.reading) > 0 {
		attributes = append(attributes, slog.String("readings", p.reading.DigestText()))
	}
	return attributes
}

// addresses returns one address of each key: the one that the request signs
// with, or the key's first on this chain.
func (p *PreparedTransaction) addresses(intent activity.Intent) []string {
	signWith := signWithOf(intent)
	shown := make([]string, 0, len(p.keys))
	for _, key := range p.keys {
		all := p.owners.chain.Addresses(key.PublicKey())
		if len(all) == 0 {
			continue
		}
		at := slices.IndexFunc(all, func(a chains.Address) bool { return strings.EqualFold(a.Address, signWith) })
		shown = append(shown, all[max(at, 0)].Address)
	}
	return shown
}

// signWithOf returns what an intent signs with; empty if it signs nothing.
func signWithOf(intent activity.Intent) string {
	switch intent := intent.(type) {
	case activity.SignTransactionIntent:
		return intent.SignWith
	case activity.SignRawPayloadIntent:
		return intent.SignWith
	case activity.SignRawPayloadsIntent:
		return intent.SignWith
	}
	return ""
}

// maxLoggedEffects is how many effects a log line has at most, maxLoggedName how many
// bytes each name in them.
const (
	maxLoggedEffects = 16
	maxLoggedName    = 100
)

// shortEffects returns one short text for each effect: the kind, what is not
// known of it, amount, asset and recipient. Arguments, memos and messages, which
// may be of any content, are left out.
func shortEffects(effects []chains.Effect) []string {
	texts := make([]string, 0, min(len(effects), maxLoggedEffects+1))
	for i := range effects {
		if i == maxLoggedEffects {
			return append(texts, fmt.Sprintf("and %d more", len(effects)-i))
		}
		texts = append(texts, shortEffect(&effects[i]))
	}
	return texts
}

func shortEffect(effect *chains.Effect) string {
	words := []string{string(effect.Kind)}
	if effect.Undecoded {
		words[0] = "undecoded " + words[0]
	}
	if !effect.Amount.IsNone() {
		words = append(words, shortAmount(effect.Amount))
	}
	if !effect.Asset.IsNone() {
		words = append(words, shortName(shortAsset(effect.Asset)))
	}
	for _, party := range []struct {
		word string
		is   chains.Party
	}{{"account", effect.Account}, {"to", effect.To}} {
		if !party.is.IsNone() {
			words = append(words, party.word, shortName(party.is.String()))
		}
	}
	return strings.Join(words, " ")
}

func shortAmount(amount chains.Quantity) string {
	switch {
	case amount.Bound == chains.BoundAll, amount.Bound == chains.BoundUnlimited:
		return string(amount.Bound)
	case amount.Value == nil:
		return "unknown"
	case amount.Bound == chains.BoundExact:
		return amount.Value.String()
	}
	return string(amount.Bound) + " " + amount.Value.String()
}

// shortAsset names the chain's own asset by the chain alone.
func shortAsset(asset chains.Asset) string {
	switch {
	case asset.IsNative():
		return asset.Chain
	case asset.TokenID != "":
		return asset.Chain + "/" + asset.TokenID
	case asset.NFT != nil:
		return asset.Chain + "/" + asset.Token.String() + "/" + asset.NFT.String()
	}
	return asset.Chain + "/" + asset.Token.String()
}

func shortName(name string) string {
	if len(name) > maxLoggedName {
		return name[:maxLoggedName] + "…"
	}
	return name
}

// withoutContents hides from a text for the log where a one-time password goes, and
// what a message says: the error of a reader, a policy or a mail server may repeat it.
// cause is what the text is about.
func (t *trail) withoutContents(text string, cause error) string {
	if t == nil || t.intent == nil {
		return text
	}
	task, about, _ := t.work()
	if intent, ok := about.(activity.Personal); ok {
		for _, personal := range intent.PersonalTexts() {
			text = hide(text, personal)
		}
		return text
	}
	if !isMessage(about) {
		return text
	}
	signing, read := task.(*signing)
	if parse, ok := errors.AsType[*chains.ParseError](cause); ok && !read {
		return fmt.Sprintf("%s: malformed at byte %d", parse.Chain, parse.Offset)
	}
	if read {
		for _, effect := range signing.prepared.signing.Effects() {
			for _, arg := range effect.Args {
				text = hide(text, arg.Value)
			}
		}
	}
	return text
}

// minHidden is the shortest text that is hidden: shorter ones stand in words.
const minHidden = 4

// hide takes a part out of a text, as it is and as Go quotes it, in whatever case.
func hide(text, part string) string {
	part = strings.TrimSpace(part)
	quoted := strconv.Quote(part)
	for _, hidden := range []string{part, quoted[1 : len(quoted)-1]} {
		if len(hidden) >= minHidden {
			text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(hidden)).ReplaceAllLiteralString(text, "[hidden]")
		}
	}
	return text
}

type remoteKey struct{}

// WithRemote returns a context whose requests are logged with the address that
// they came from.
func WithRemote(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, remoteKey{}, address)
}
