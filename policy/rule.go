package policy

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/common/ast"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/syntax"
	"github.com/countersign-dev/countersign/stamp"
)

// rule is one rule of a file.
type rule struct {
	index     int
	place     source.Place
	name      string
	deny      bool
	request   bool // judges the whole activity
	kinds     []chains.Kind
	on        []string // chains; empty: all
	of        string   // ofTransactions or ofMessages; empty: both, and one-time passwords
	networks  []string // CAIP-2 ids of networks; empty: all, and what names none
	who       *who
	keys      []string // ids of keys and wallets or, with byName, names
	byName    bool     // the keys were not known when the file was read
	when      *expression
	limits    []*limit
	hazards   []string
	approvals []access.Group
	others    bool
	alone     bool // pays a fee that is all that the request is for
	priced    bool // its condition asks for what is received
	bundle    bool // what is received is the price of all effects that it decides, not of one
}

func namesOf(rules []*rule) []string {
	names := make([]string, len(rules))
	for i, rule := range rules {
		names[i] = rule.name
	}
	return names
}

// limit bounds how much of an asset may be spent within a window, or of all assets in a currency.
type limit struct {
	name     string
	place    source.Place
	asset    *asset // with currency, one that is no asset's: its name and decimals are the currency's
	currency bool
	max      *big.Int
	window   time.Duration
	per      string
	nonce    bool // replaces: nonce
	used     bool
}

// counts reports whether two limits count the same.
func (l *limit) counts(other *limit) bool {
	if l.currency || other.currency {
		return l.currency == other.currency && l.asset.name == other.asset.name
	}
	return l.asset.Asset.Equal(other.asset.Asset)
}

// isOf reports whether the rule is about what a request asks to be signed.
func (r *rule) isOf(request *access.Authorization) bool {
	intent := request.Intent
	return r.of == "" ||
		isTransaction(request) == (r.of == ofTransactions) && intent != nil && intent.ActivityType().Signs()
}

// isTransaction reports whether a request is for signatures of transactions, which some chains
// also take as messages.
func isTransaction(request *access.Authorization) bool {
	_, transaction := request.Intent.(activity.SignTransactionIntent)
	return transaction || request.Summary != nil && request.Summary().Sent
}

// isOn reports whether a payload, or the whole of a request for one thing, is for a network of
// the rule. What names none may be for any of its chain's, so that a deny is asked about it.
func (r *rule) isOn(e *evaluation, payload string) bool {
	if len(r.networks) == 0 {
		return true
	}
	network := e.network(payload)
	unnamed := r.deny && network == "" && (payload != "" || len(e.payloads()) == 0)
	return slices.ContainsFunc(r.networks, func(of string) bool {
		return of == network || unnamed && e.known.hasNamespace([]string{e.chain}, namespaceOf(of))
	})
}

// hidesReceived reports whether the rule's condition does not see what is received: of an allow that
// does not ask for it.
func (r *rule) hidesReceived() bool { return !r.deny && !r.priced }

// coversKeys reports whether the rule names every key that signs.
func (r *rule) coversKeys(keys []access.SigningKey) bool {
	if len(r.keys) == 0 {
		return true
	}
	for i := range keys {
		key := &keys[i]
		named := func(name string) bool {
			return name == key.ID || name == key.WalletID || r.byName && (name == key.Name || name == key.WalletName)
		}
		if !slices.ContainsFunc(r.keys, named) {
			return false
		}
	}
	return len(keys) > 0
}

// unlisted returns the first of some hazards that a rule does not list.
func (r *rule) unlisted(hazards []chains.Hazard) (hazard chains.Hazard, found bool) {
	index := slices.IndexFunc(hazards, func(hazard chains.Hazard) bool {
		_, what, _ := strings.Cut(hazard.Name, "/")
		isBlind := what == blindCall && slices.Contains(r.hazards, blindCall)
		return !isBlind && !slices.Contains(r.hazards, hazard.Name)
	})
	if index < 0 {
		return hazard, false
	}
	return hazards[index], true
}

// votes returns how many votes groups need in total.
func votes(groups []access.Group) int {
	sum := 0
	for i := range groups {
		sum += groups[i].Count
	}
	return sum
}

// blindCall stands for the blind-call hazards of all chains.
const blindCall = "blind-call"

// judges reports whether a rule is about an effect of its kinds: those by our
// authorization except change and, with others, those by other signatures. A deny is about
// what is received too, and about what others take of what our signature put there.
func (r *rule) judges(effect *effectView) bool {
	return effect.judged() || r.others && effect.By == chains.ByOther ||
		r.deny && (effect.Reached || !effect.Kind.NeedsCover())
}

// scopeKinds returns the kinds that a rule is evaluated for. A deny on request judges the
// request once; an allow on request covers effects of every kind.
func (r *rule) scopeKinds() []chains.Kind {
	switch {
	case !r.request:
		return r.kinds
	case r.deny:
		return []chains.Kind{""}
	}
	return append(chains.Kinds(), "")
}

func kindsText(kinds []chains.Kind) string {
	if len(kinds) == 0 {
		return "request"
	}
	return strings.Join(kindTexts(kinds), ", ")
}

func kindTexts(kinds []chains.Kind) (texts []string) {
	for _, kind := range kinds {
		texts = append(texts, string(kind))
	}
	return texts
}

func kindNames() []string { return kindTexts(chains.Kinds()) }

// isReceive reports whether a text is the kind of effect that no rule covers. The conditions of
// allows that do not mention it do not see what is received.
func isReceive(text string) bool { return text == string(chains.KindReceive) }

// What a rule is of.
const (
	ofTransactions = "transactions"
	ofMessages     = "messages"
)

// comparedKinds returns the kinds that effect.kind is required to equal by clauses
// joined with &&.
func comparedKinds(e ast.Expr) []chains.Kind {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case "_&&_":
		return append(comparedKinds(args[0]), comparedKinds(args[1])...)
	case "_==_":
		for i, arg := range args {
			if text, ok := syntax.Text(args[1-i]); ok && syntax.Path(arg) == "effect.kind" {
				return []chains.Kind{chains.Kind(text)}
			}
		}
	}
	return nil
}

// restrictsRecipient reports whether the condition requires effect.to to be in a list of, or to
// equal, what the requester does not choose. A payment to where it comes from is none to a stranger
// only if that is ours, and then it is change, or the list is key.addresses.
func (c checks) restrictsRecipient(e ast.Expr) bool {
	args := e.AsCall().Args()
	isTo := func(e ast.Expr) bool {
		return syntax.Path(e) == "effect.to" && !e.AsSelect().IsTestOnly() // has(effect.to)
	}
	switch e.AsCall().FunctionName() {
	case "_&&_":
		return c.restrictsRecipient(args[0]) || c.restrictsRecipient(args[1])
	case "_||_":
		return c.restrictsRecipient(args[0]) && c.restrictsRecipient(args[1])
	case "@in":
		return isTo(args[0]) && c.isGiven(args[1])
	case "_==_":
		return isTo(args[0]) && c.isGiven(args[1]) || isTo(args[1]) && c.isGiven(args[0])
	}
	return false
}

// isGiven reports whether nothing in an expression is chosen by the requester: it has literals,
// the file's own lists and the addresses of our key.
func (c checks) isGiven(e ast.Expr) bool {
	return !has(e, func(e ast.Expr) bool {
		return e.Kind() == ast.IdentKind && c.lists[e.AsIdent()] == nil && e.AsIdent() != "key"
	})
}

// who is a clause about the submitter. All members that are set must hold.
type who struct {
	users       []string // ids or, with byName, names
	byName      bool     // the users were not known when the file was read
	tag         string
	credentials []string
	any, all    []*who
	not         *who
}

// holds reports whether the clause matches the request. A nil clause matches all.
func (w *who) holds(request *access.Authorization) bool {
	if w == nil {
		return true
	}
	user := &request.User
	holds := func(part *who) bool { return part.holds(request) }
	switch {
	case len(w.users) > 0 && !slices.Contains(w.users, user.ID) && (!w.byName || !slices.Contains(w.users, user.Name)):
		return false
	case w.tag != "" && !slices.Contains(user.Tags, w.tag):
		return false
	case len(w.credentials) > 0 && !isCredential(w.credentials, request.Credential):
		return false
	case len(w.any) > 0 && !slices.ContainsFunc(w.any, holds):
		return false
	case slices.ContainsFunc(w.all, func(part *who) bool { return !holds(part) }):
		return false
	}
	return w.not == nil || !w.not.holds(request)
}

// isCredential reports whether a credential is among those named, by id or public key.
func isCredential(named []string, credential *stamp.Credential) bool {
	return credential != nil &&
		(slices.Contains(named, string(credential.ID())) || slices.Contains(named, credential.PublicKeyText()))
}

// isOfAsset reports whether a limit is of one asset.
func isOfAsset(l *limit) bool { return !l.currency }
