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
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
)

// observed reports a request that has ended to the observer and the log.
func (e *Engine) observed(ctx context.Context, s *submission, err error) {
	s.Duration = time.Since(s.started)
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		s.Reason = refused.Reason
	}
	if e.config.Observer != nil {
		e.config.Observer.Observe(s.Observation)
	}
	e.log(ctx, s, err)
}

// log writes the line of one request: as far as it came, who sent it, which keys it
// asked for, and what it does. It never has a contact, a code, or the text of a message.
// Why a stamp was refused is logged only, and not answered.
func (e *Engine) log(ctx context.Context, s *submission, err error) {
	refused, _ := errors.AsType[*activity.Error](err)
	level := slog.LevelInfo
	if err != nil && (refused == nil || refused.Code == activity.CodeInternal || refused.Code == activity.CodeUnavailable) {
		level = slog.LevelError
	}
	if !e.config.Logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("operation", s.Operation),
		slog.String("organization", s.organizationID),
		slog.Duration("duration", s.Duration),
	}
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		attributes = append(attributes, slog.String("request", id))
	}
	if remote, ok := ctx.Value(remoteKey{}).(string); ok {
		attributes = append(attributes, slog.String("remote", remote))
	}
	if s.caller != nil {
		attributes = append(attributes, s.attributes()...)
	}
	if refused == nil {
		attributes = append(attributes, slog.Bool("repeated", s.Repeated))
	} else {
		attributes = append(attributes, slog.String("reason", string(refused.Reason)), slog.String("message", s.withoutContents(refused.Message, refused)))
		if cause := causeOf(refused); cause != "" && cause != refused.Message {
			attributes = append(attributes, slog.String("cause", s.withoutContents(cause, refused)))
		}
	}
	e.config.Logger.LogAttrs(ctx, level, "request", attributes...)
}

// causeOf returns what the log says behind the message.
func causeOf(refused *activity.Error) string {
	if cause := errors.Unwrap(refused); cause != nil {
		return cause.Error()
	}
	return ""
}

// attributes returns who sent the request and what it does.
func (s *submission) attributes() []slog.Attr {
	user := s.caller.member.User
	attributes := []slog.Attr{slog.String("user", user.ID), slog.String("userName", user.Name)}
	if credential := s.caller.member.Credential; credential != nil {
		attributes = append(attributes, slog.String("credential", string(credential.ID())))
	} else {
		attributes = append(attributes, slog.String("scheme", string(activity.SchemeLocal)))
	}
	if s.record != nil {
		attributes = append(attributes, slog.String("activity", s.record.ID))
	}
	if s.resumed != nil {
		attributes = append(attributes, slog.String("submitter", s.resumed.caller.member.User.ID))
	}
	carried := s.carried()
	if p, ok := carried.task.(*prepared); ok {
		attributes = append(attributes, p.attributes()...)
	}
	if len(carried.decision.Rules) > 0 {
		attributes = append(attributes, slog.Any("rules", carried.decision.Rules))
	}
	return attributes
}

// attributes returns the chain, the keys and the effects.
func (p *prepared) attributes() []slog.Attr {
	attributes := []slog.Attr{
		slog.String("chain", p.owners.chain.Name()),
		slog.Any("keys", p.signing.KeyIDs()),
		slog.Any("addresses", p.addresses()),
		slog.Any("effects", shortEffects(p.signing.Effects())),
	}
	if len(p.reading) > 0 {
		attributes = append(attributes, slog.String("readings", p.reading.DigestText()))
	}
	return attributes
}

// addresses returns one address of each key: the one that the request signs
// with, or the key's first on this chain.
func (p *prepared) addresses() []string {
	signWith := intents.SignWith(p.intent)
	var addresses []string
	for _, key := range p.keys() {
		all := p.owners.chain.Addresses(key.PublicKey())
		if len(all) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(a chains.Address) bool { return strings.EqualFold(a.Address, signWith) })
		addresses = append(addresses, all[max(i, 0)].Address)
	}
	return addresses
}

// maxLoggedEffects is how many effects a log line has at most.
const maxLoggedEffects = 16

// shortEffects returns a short text for each effect: kind, whether it is undecoded,
// amount, asset and recipient. It leaves out arguments, memos and messages, which may
// have any content.
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
		words = append(words, shorten(shortAsset(effect.Asset)))
	}
	for _, party := range []struct {
		word string
		is   chains.Party
	}{{"account", effect.Account}, {"to", effect.To}} {
		if !party.is.IsNone() {
			words = append(words, party.word, shorten(party.is.String()))
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

// shortAsset names an asset. The native asset is the name of its chain.
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

// withoutContents hides in a text for the log where a one-time password is sent, and
// what a message says: the error of a reader, a policy or a mail server may repeat it.
// cause is the error that the text is about.
func (s *submission) withoutContents(text string, cause error) string {
	carried := s.carried()
	if intent, ok := carried.intent.(activity.Personal); ok {
		for _, personal := range intent.PersonalTexts() {
			text = hide(text, personal)
		}
		return text
	}
	if !intents.IsMessage(carried.intent) {
		return text
	}
	p, read := carried.task.(*prepared)
	if parse, ok := errors.AsType[*chains.ParseError](cause); ok && !read {
		return fmt.Sprintf("%s: malformed at byte %d", parse.Chain, parse.Offset)
	}
	if read {
		for _, effect := range p.signing.Effects() {
			for _, arg := range effect.Args {
				text = hide(text, arg.Value)
			}
		}
	}
	return text
}

// minHidden is the length of the shortest text that is hidden: shorter ones occur
// inside words.
const minHidden = 4

// hide replaces a part of a text, verbatim or as Go quotes it, ignoring case.
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
