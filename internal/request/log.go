package request

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
)

// Log writes the log line of the request: as far as it came, who sent it, which keys it
// asked for, and what it does. It never has a contact, a code, or the text of a message.
// Why a stamp was refused is logged only, and not answered.
func (s *Submission) Log(ctx context.Context, logger *slog.Logger, err error) {
	refused, _ := errors.AsType[*activity.Error](err)
	level := slog.LevelInfo
	if err != nil && (refused == nil || refused.Code == activity.CodeInternal ||
		refused.Code == activity.CodeUnavailable) {
		level = slog.LevelError
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("operation", s.Operation),
		slog.String("organization", s.OrganizationID),
		slog.Duration("duration", s.Duration),
	}
	from := access.OriginOf(ctx)
	if from.RequestID != "" {
		attributes = append(attributes, slog.String("request", from.RequestID))
	}
	if from.Remote != "" {
		attributes = append(attributes, slog.String("remote", from.Remote))
	}
	if s.Caller != nil {
		attributes = append(attributes, s.attributes()...)
	} else {
		ctx = Stranger(ctx)
	}
	if state := s.state(err); state != "" {
		attributes = append(attributes, slog.String("state", state))
	}
	if refused == nil {
		attributes = append(attributes, slog.Bool("repeated", s.Repeated))
	} else {
		attributes = append(attributes, slog.String("reason", string(refused.Reason)),
			slog.String("message", s.withoutContents(refused.Message, refused)))
		if cause := errors.Unwrap(refused); cause != nil && cause.Error() != "" && cause.Error() != refused.Message {
			attributes = append(attributes, slog.String("cause", s.withoutContents(cause.Error(), refused)))
		}
	}
	logger.LogAttrs(ctx, level, "request", attributes...)
}

// state returns what became of a request in the words of [activity.Record.State], or refused;
// empty for a query.
func (s *Submission) state(err error) string {
	switch {
	case err != nil:
		return "refused"
	case s.Record != nil:
		return s.Record.State()
	case s.Signs() != nil:
		return "signed" // by a call that is not recorded
	}
	return ""
}

// attributes returns who sent the request and what it does.
func (s *Submission) attributes() []slog.Attr {
	user := s.Caller.Member.User
	attributes := []slog.Attr{slog.String("user", user.ID), slog.String("userName", user.Name)}
	if credential := s.Caller.Member.Credential; credential != nil {
		attributes = append(attributes, slog.String("credential", string(credential.ID())))
	} else {
		attributes = append(attributes, slog.String("scheme", s.Caller.Scheme))
	}
	if s.Record != nil {
		attributes = append(attributes, recorded(s.Record)...)
	}
	carried := s.Carried()
	if p := carried.Signs(); p != nil {
		attributes = append(attributes,
			slog.String("chain", p.Chain().Name()),
			slog.Any("keys", p.KeyIDs()),
			slog.Any("addresses", p.Addresses()),
			slog.Any("effects", shortEffects(p.Claimed())),
		)
		if len(p.Readings()) > 0 {
			attributes = append(attributes, slog.String("readings", p.Readings().DigestText()))
		}
	}
	if len(carried.Decision.Rules) > 0 {
		attributes = append(attributes, slog.Any("rules", carried.Decision.Rules))
	}
	return attributes
}

// recorded returns the activity, who submitted it and who approved it, and what was signed
// or waits to be.
func recorded(record *activity.Record) []slog.Attr {
	attributes := []slog.Attr{slog.String("activity", record.ID), slog.String("submitter", record.Submitter().UserID),
		slog.String("submitterName", record.Submitter().UserName)}
	if approvers := record.Approvers(); len(approvers) > 0 {
		attributes = append(attributes, slog.Any("approvers", approvers))
	}
	sentences := record.Did.Sentences()
	if record.Status.Waits() {
		sentences = record.Reading.Sentences
	}
	if len(sentences) > maxLoggedEffects {
		sentences = append(slices.Clone(sentences[:maxLoggedEffects]),
			fmt.Sprintf("and %d more", len(sentences)-maxLoggedEffects))
	}
	if len(sentences) > 0 {
		attributes = append(attributes, slog.Any("does", sentences))
	}
	return attributes
}

// maxLoggedEffects is how many effects a log line has at most.
const maxLoggedEffects = 16

// shortEffects returns a short text for each effect: kind, whether it is undecoded, amount, asset
// and recipient. It leaves out arguments, memos and messages, which may have any content.
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
		words = append(words, effect.Amount.Text())
	}
	if !effect.Asset.IsNone() {
		words = append(words, refuse.Shorten(effect.Asset.Text()))
	}
	for _, party := range []struct {
		word string
		is   chains.Party
	}{{"account", effect.Account}, {"to", effect.To}} {
		if !party.is.IsNone() {
			words = append(words, party.word, refuse.Shorten(party.is.String()))
		}
	}
	return strings.Join(words, " ")
}

// withoutContents hides in a text for the log where a one-time password is sent, and
// what a message says: the error of a reader, a policy or a mail server may repeat it.
// cause is the error that the text is about.
func (s *Submission) withoutContents(text string, cause error) string {
	carried := s.Carried()
	if intent, ok := carried.Intent.(activity.Personal); ok {
		for _, personal := range intent.PersonalTexts() {
			text = hide(text, personal)
		}
		return text
	}
	if !intents.IsMessage(carried.Intent) {
		return text
	}
	p := carried.Signs()
	if parse, ok := errors.AsType[*chains.ParseError](cause); ok && p == nil {
		return fmt.Sprintf("%s: malformed at byte %d", parse.Chain, parse.Offset)
	}
	if p != nil {
		for _, effect := range p.Claimed() {
			for _, arg := range effect.Args {
				text = hide(text, arg.Value)
			}
		}
	}
	return text
}

// minHidden is the length of the shortest text that is hidden: shorter ones occur inside words.
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
