package chains

import (
	"slices"
	"strconv"
	"strings"
)

// Names supplies names that the bytes do not contain. It is used for display only: no
// digest and no decision depends on it.
type Names interface {
	// Token returns the symbol and decimals of an asset. ok is false if it is not known.
	Token(asset Asset) (symbol string, decimals int, ok bool)

	// Label returns the name of an address, such as "treasury" or "yours,
	// m/84'/0'/0'/1/0", empty if it has none.
	Label(party Party) string
}

// Sentence describes an effect in one line without a full stop. The sentence of an effect
// that is not decoded starts with "! ". Names may be nil.
func Sentence(effect Effect, names Names) string {
	s := sentence{effect, names}
	text := s.text()
	if !effect.Until.IsNone() {
		text += ", until " + effect.Until.String()
	}
	switch effect.By {
	case ByOther:
		text += s.authorized()
	case ByStanding:
		text += " (by an earlier permission)"
	}
	switch {
	case s.Passed && s.Kind == KindCall:
		text += ", also with what this signature put into accounts"
	case s.Passed:
		text += ", which this signature put there"
	}
	// What the effect hands over may stay with its owner.
	switch mine := s.Controlled == ControlledYes && (s.Kind.Hands() || s.Kind == KindStake); {
	case s.Change && mine:
		text += " (change, yours)"
	case s.Change:
		text += " (change)"
	case mine:
		text += " (yours)"
	}
	text += s.claimed()
	if effect.Undecoded {
		text = "! " + text
	}
	return printable(text)
}

// claimed says that what is called may be no token: an account of the organization's is none, and
// without keys it is not known whose accounts are.
func (s sentence) claimed() string {
	if s.Controlled != ControlledUnknown || !strings.HasPrefix(s.Asset.Standard, "erc") ||
		!strings.Contains(s.Function, "(") {
		return ""
	}
	switch s.Kind {
	case KindTransfer, KindApprove, KindRevoke, KindUnstake:
		if _, listed := Listed(s.Asset); !listed {
			return ", if this is a token"
		}
	}
	return ""
}

type sentence struct {
	Effect
	names Names
}

// authorized names the other signer, unless the sentence has: a paymaster is named as the
// one that pays. The pool of a swap is named nowhere, and pays by its own rules. Who gives
// what is received is not our affair.
func (s sentence) authorized() string {
	switch {
	case s.Kind == KindReceive, s.Kind == KindTransfer && s.From.IsUnknown() && s.OtherSigner.IsUnknown(),
		s.Kind == KindFee && s.OtherSigner.Equal(s.From) && !s.Account.IsNone():
		return ""
	}
	return " (authorized by " + s.party(s.OtherSigner) + ")"
}

func (s sentence) text() string {
	describe := s.Kind.row().sentence
	switch {
	case describe == nil:
		return "an effect of an unknown kind"
	case s.Kind == KindCall, s.Kind == KindMessage, s.Kind == KindOTP, s.Kind == KindFee, s.ends():
		return describe(s)
	}
	return describe(s) + s.details()
}

func (s sentence) transfer() string {
	what := s.amount()
	if symbol, _, _ := s.token(); symbol == unnamed && s.Amount.Value != nil && s.Amount.Value.Sign() == 0 {
		what = "nothing"
	}
	if strings.HasSuffix(s.Function, ":Withdraw") { // of Hyperliquid, to another chain
		return "withdraw " + what + s.fromOther() + " to " + s.party(s.To)
	}
	return "send " + what + s.fromOther() + " to " + s.party(s.To)
}

func (s sentence) receive() string {
	text := "receive " + s.amount()
	if !s.To.IsSigner() {
		text += " at " + s.party(s.To)
	}
	return text
}

func (s sentence) authority() string {
	if !s.Asset.IsNone() {
		return "give the votes of " + s.asset() + s.fromOther() + " to " + s.party(s.To)
	}
	return "give control of " + s.account() + " to " + s.party(s.To)
}

// held names the account that holds what is staked.
func (s sentence) held() string {
	if s.Account.IsNone() && (s.From.IsNone() || s.From.IsSigner() || s.From.Equal(s.To)) {
		return ""
	}
	return " at " + s.account()
}

func (s sentence) fee() string {
	if s.Amount.Bound == BoundAdded {
		s.Amount.Bound = BoundMost
		return "fee " + s.amount() + ", and perhaps an L1 fee on top" + s.payer()
	}
	return "fee " + s.amount() + s.payer()
}

// ends reports whether a program or a mint ends, and not an amount of an asset. Its argument
// says what it is.
func (s sentence) ends() bool { return s.Kind == KindBurn && s.Asset.IsNone() && len(s.Args) > 0 }

// burn says that an asset is destroyed, or left where it is.
func (s sentence) burn() string {
	if s.ends() {
		return "destroy " + s.Args[0].Name + " " + s.account() + " for ever"
	}
	if s.To.Equal(s.From) {
		return "leave " + s.amount() + " at " + s.party(s.To) + ", where anyone can take it"
	}
	return "destroy " + s.amount() + s.fromOther()
}

// details says which operation of a program it is, and what is set to what. Of a contract's
// function and of typed data, the sentence says what the arguments do.
func (s sentence) details() string {
	typed := func(arg Arg) bool { return strings.HasPrefix(arg.Name, "domain.") }
	if strings.Contains(s.Function, "(") || strings.Contains(s.Path, "message") || slices.ContainsFunc(s.Args, typed) {
		if s.Kind == KindSettings {
			return s.function()
		}
		return ""
	}
	var list []string
	for _, arg := range s.Args {
		list = append(list, arg.Name+" "+plain(arg.Value))
	}
	text := strings.Trim(s.Function+": "+strings.Join(list, ", "), ": ")
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// maxWord is the most characters of a word that is not quoted: a key in hex.
const maxWord = 64

// plain returns words as they are, such as addresses and numbers, and quotes any other text,
// since it could be read as a part of the sentence. Several words are separated by commas.
func plain(text string) string {
	for word := range strings.SplitSeq(text, ", ") {
		if len(word) > maxWord || strings.Trim(word,
			"-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
			return foreign(text)
		}
	}
	return text
}

func (s sentence) call() string {
	text := "call " + s.party(s.To) + s.function()
	if !s.Undecoded {
		return text
	}
	if !s.Account.IsNone() { // the contract whose code a called account runs
		text += ", which runs the code of " + s.party(s.Account)
	}
	return text + ": what it does is unknown, it may do anything"
}

func (s sentence) message() string {
	text := "sign a message" + s.function()
	if s.Undecoded && s.Function != "" {
		text = "sign a message (" + foreign(s.Function) + ")"
	}
	if s.Domain != "" {
		text += " for " + foreign(s.Domain)
	}
	if !s.To.IsNone() {
		text += " for " + s.party(s.To)
	}
	if s.Undecoded {
		text += ": what it lets others do is unknown"
	}
	return text
}

func (s sentence) function() string {
	if s.Function == "" {
		return ""
	}
	return " (" + s.Function + ")"
}

// foreign quotes text that comes from outside and is not a number, so that it cannot be read
// as a part of the sentence.
func foreign(text string) string {
	if strings.Trim(text, "0123456789") == "" {
		return text
	}
	rest := ""
	if runes := []rune(text); len(runes) > maxLabel {
		text, rest = string(runes[:maxLabel]), "…"
	}
	return strings.ReplaceAll(strconv.QuoteToASCII(text), "  ", ` \x20`) + rest
}

func (s sentence) toParty(before string) string {
	if s.To.IsNone() {
		return ""
	}
	return before + s.party(s.To)
}

// fromOther names the party that pays, unless it is the signer and the bytes do not name it.
func (s sentence) fromOther() string {
	if s.From.IsNone() || s.From.IsSigner() {
		return ""
	}
	return " from " + s.party(s.From)
}

// payer names the paymaster that pays a fee for another account.
func (s sentence) payer() string {
	if s.Account.IsNone() {
		return ""
	}
	return ", paid by " + s.party(s.From) + ", which may take tokens approved to it"
}

func (s sentence) account() string {
	if s.Account.IsNone() {
		return s.party(s.From)
	}
	return s.party(s.Account)
}

func (s sentence) create() string {
	text := "a contract or account"
	if !s.To.IsNone() {
		text = s.party(s.To)
	}
	if !s.Amount.IsNone() {
		text += " with " + s.amount()
	}
	if s.Function == InitCode {
		text += " by the factory " + s.party(s.From)
	}
	return "create " + text
}

// revoke describes the end of a permission over an asset, or of control of an account.
func (s sentence) revoke() string {
	switch {
	case !s.Asset.IsNone() && s.To.IsNone():
		return "take back every permission over " + s.asset() + s.fromOther()
	case !s.Asset.IsNone():
		return "take back the permission of " + s.party(s.To) + " over " + s.asset() + s.fromOther()
	case s.To.IsNone():
		return "take back the permission over " + s.account()
	}
	return "take control of " + s.account() + " from " + s.party(s.To)
}
