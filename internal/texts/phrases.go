package texts

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

const hashSize = 32

// hashLike says why a message looks like a hash, which does not show what is signed. It
// returns "" if it does not. Contracts take a signature over 32 bytes as one over a hash.
func hashLike(message []byte) string {
	if len(message) == hashSize && len(bytes.Trim(message, "0123456789abcdef-")) != 0 {
		return "the message is 32 bytes, like a hash whose preimage is unknown"
	}
	number := bytes.TrimPrefix(bytes.TrimPrefix(bytes.TrimSpace(message), []byte("0x")), []byte("0X"))
	isHex := len(number) >= 2*hashSize && len(bytes.Trim(number, digits+"abcdefABCDEF")) == 0
	if isHex || base64Text.Regexp().Match(number) && !bytes.Equal(number, bytes.ToLower(number)) &&
		!bytes.Equal(number, bytes.ToUpper(number)) {
		return "the message is nothing but digits of hex, base64 or base58, like a hash whose preimage is unknown"
	}
	return ""
}

// base64Text matches 32 bytes and more in base64 or base58, whose letters are of both cases.
var base64Text = plaintext.NewPattern(`^[0-9A-Za-z+/=]{43,}$`)

// phrase is a pattern of words, and words of which a text that matches has one of each list:
// most texts have none, and looking for them costs little.
type phrase struct {
	pattern *plaintext.Pattern
	has     [][]string
}

// isIn reports whether a text, as plainWords returns it, has the phrase.
func (p phrase) isIn(words string) bool {
	lacks := func(group []string) bool {
		return !slices.ContainsFunc(group, func(word string) bool { return strings.Contains(words, word) })
	}
	return !slices.ContainsFunc(p.has, lacks) && p.pattern.MatchString(words)
}

// keyPhrases are the words that texts share whose signature an application hashes into a key.
var keyPhrases = []phrase{
	{plaintext.NewPattern(`\bsign(ing|ature)?\b[^.!?]{0,80}\b(generat|creat|recover|restor|unlock|access)(e|es|ing)?\b[^.!?]{0,60}` +
		`\b(private|secret|spending|viewing|stealth|stark|starkex|starknet|encryption|decryption|privacy|trading|` +
		`layer ?2|l2|zk|shielded)\b[^.!?]{0,40}\b(keys?|keypairs?|seeds?)\b`), [][]string{{"sign"}, {"key", "seed"}}},
	{plaintext.NewPattern(`\b(key|seed|wallet|address) derivation\b`), [][]string{{" derivation"}}},
	{plaintext.NewPattern(`\bsign(ing|ature)?\b[^.!?]{0,80}\b(deriv(e|es|ing)|encrypts?|encrypting|decrypts?|decrypting)\b`),
		[][]string{{"sign"}, {"deriv", "crypt"}}},
	{plaintext.NewPattern(`\b(deriv|generat)(e|es|ing) (a|an|your|the)\b[^.!?]{0,40}\b(keys?|keypairs?|seeds?|encryption)\b`),
		[][]string{{"deriv", "generat"}}},
	{plaintext.NewPattern(`\b(generat|creat|restor|recover|unlock)(e|es|ing)?\b[^.!?]{0,60}` +
		`\b(semaphore|nostr|eddsa|stealth|encrypted vault|salt|secret|seed|recovery phrase|game wallet)\b|` +
		`\b(restor|recover|unlock)(e|es|ing)?\b[^.!?]{0,60}\bvault\b`),
		[][]string{{"generat", "creat", "restor", "recover", "unlock"}}},
	{plaintext.NewPattern(`\bonly sign this message (for|on|with|within) a trusted (client|app|application|site|website|platform)\b`),
		[][]string{{"only sign this message "}}},
}

// notKeys are the words of texts that name a public key, or ask a server for a key: their
// signature is none.
var notKeys = plaintext.NewPattern(`\b(pubkeyx?|public key|api[ -]keys?)\b`)

// The parts of orders: what is moved and where to, how it is moved or left to another, and words between.
const (
	address = `\b(0x[0-9a-f]{40}|[a-z]{2,12}1[02-9ac-hj-np-z]{38,58}|[1-9a-km-z]{32,44}|[a-z0-9-]+\.(eth|sol))\b`
	assets  = `(funds|tokens?|coins?|nfts?|assets?|shares|money|balances?|ether|eth|btc|sol|dai|usd[a-z]?|eur[a-z]*)\b`
	amount  = `([$€£][0-9]|\b[0-9][0-9.,]*k? ?([$€£]|` + assets + `))`
	moves   = `transaction|transfer|payment|withdrawal|swap|trade|order|offer|bid|purchase|liquidation|deduction`
	acts    = `transfer|pay|withdraw|swap|sell|buy|bridge|(un)?stake|burn|deposit|donat|lend|borrow|repay|spend|` +
		`charg|forward|releas|convert|liquidat|remit|wire|redeem|purchase|supply|move|debit|take|invest|pledg|` +
		`deduct|assign|gift|relinquish|hand|empty|sweep|drain`
	grants = `authori|allow|permit|instruct|empower|direct|grant|appoint|trust`
	gives  = `send|i offer|list nft|bid|cash out|approve|subscribe|delegat|mint|open|` + acts
	adds   = `bet|wager|trade|exchange|lock|add|short|long|collect|commit|contribute|provide|fund|settle|renew|` +
		`upgrade|top up|recharge|credit|increase|reduce|subtract|give|migrate`
	makes  = `make|initiate|perform|start|schedule|set up`
	taken  = `taken|deducted|debited|withdrawn|collected`
	ends   = `clos|exit|reduc|increas|liquidat`
	sets   = `chang|updat|migrat|replac|redirect|set `
	roles  = `owner|operator|delegate|guardian|agent|signer|trading key`
	asks   = `approv|authori|execut|confirm|submit|instruct|consent|request|plac|cancel|accept|process|allow|object`
	enlist = `adds?\b|regist|approv|link|rotat|recover|creat|enabl|delegat|giv|hand|surrender|` + grants
	sum    = `(amount|amt|qty|quantity|value)"?[:=]["' ]*([$€£]?[0-9]|all|max)`
	few    = `[a-z]*,?( [^ ]+){0,5}? `
	sole   = `[0-9][^ \n]* [a-z]+\n`
)

// stems are the words of an alternation, without what is optional in them.
func stems(alternation string) []string {
	return strings.Split(strings.NewReplacer("(un)?stake", "stake|unstake", `s?\b`, "").Replace(alternation), "|")
}

// orderPhrases are the forms in which a text, also the statement of a sign-in, orders something that
// its signature alone carries out: it moves an amount or to an account, approves a move, as those of
// Aptos (AIP-113) and Initia do, or grants moves, assets, a key or capabilities (EIP-5573).
var orderPhrases = []phrase{
	{plaintext.NewPattern(`\b(` + gives + `)` + few + `(` + amount + `|everything|all ((of )?(my|your) )?` + assets +
		`|my ` + assets + `)`), [][]string{stems(gives), goods}},
	{plaintext.NewPattern(`\b((` + adds + `)( ([^ ]+ ){0,4}?(with|for|by))?|(` + makes + `) (an?|the|my) ([a-z]+ )?(` +
		moves + `|deposit|donation)s? of) ` + amount + `|\b(i|you|to) give( [^ ]+){0,3}? (` + amount +
		`|all (my|your) ` + assets + `)|\breleas[a-z]* (the )?([a-z]+ )?(funds|escrow)\b|` +
		amount + ` (will|shall|may|can) be (` + taken + `)\b|\b(` + ends + `)[a-z]*( [a-z]+){0,2} positions?\b`),
		[][]string{stems(adds + `|releas|` + makes + `|` + taken + `|` + ends), append(goods, "funds", "esc", "pos")}},
	{plaintext.NewPattern(`\bmy ([a-z]+ of )?` + amount + `|` + amount + ` of my |\bmy ` + assets + ` (are )?to be |` +
		`\b(pay|settle) it (now|with this)|^(withdraw|transfer|send|swap|sell) (all|everything)$`),
		[][]string{{"my ", "it ", "all", "everything"}}},
	{plaintext.NewPattern(`\b(` + gives + `)[a-z]*,?( [^ ]+){0,8}? ` + address), [][]string{stems(gives), goods}},
	{plaintext.NewPattern(address + ` (is|may|can|shall|will|becomes?|gets?|receives?|to have|trade)( [^ ]+){0,5}? ` +
		`(for me\b|my ([0-9]|account|behalf|vault|` + assets + `))`), [][]string{goods, {"me", "my "}}},
	{plaintext.NewPattern(`(\b((` + sets + `)[a-z ]*(address|wallet|account|key|owner|signer|rewards|deposits|` +
		moves + `)s?` + few + `|whitelist )|` + amount + few + `(to|for|into|between|recipient) )` + address + `|` +
		address + ` (as|to|the|an?)` + few + `(` + roles + `)s?\b`),
		[][]string{stems(sets + `|` + roles + `|whitelist|fund|token|coin|nft|asset|shares|money|balance|` +
			`eth|btc|sol|dai|usd|eur|$|€|£`), goods}},
	{plaintext.NewPattern(`\b(` + asks + `)[a-z]*` +
		`( (to|execute|submit|sign|the|this|these|an?|my|your|all|any|every|each|of|following|pending|above|` +
		`limit|market|[a-z]+ of|is|hereby|given for|recurring))*( that)? (` + moves + `)s?\b( [a-z]+( [0-9][^ ]*)?)?`),
		[][]string{stems(asks), stems(moves)}},
	{plaintext.NewPattern(`^((` + moves + `) (order|instruction|request|authori)|(please |i )?delegate )`),
		[][]string{stems(moves + `|delegate `), stems(`order|instruction|request|authori|delegate `)}},
	{plaintext.NewPattern(`\b(` + grants + `)` + few + `to (` + acts + `|trade|execute|act|control my|` +
		`sign (for|on|transaction|message)|(use|send|manage|perform) (my |any |all )?(` + assets + `|` + moves + `))`),
		[][]string{stems(grants), {"to "}}},
	{plaintext.NewPattern(`\b(` + enlist + `)` + few +
		`((session|trading|agent|ephemeral) (key|wallet)|signer\b|key (to )?0x|` +
		`(access|control|authority)` + few + assets + `|control (of|over) my |permission to (send|use|` + acts + `)|` +
		`(signing|voting|trading|spending|withdrawal) (authority|power|permission|right))`),
		[][]string{stems(enlist), stems(`key|wallet|signer|access|control|authority|power|permission|right`)}},
	{plaintext.NewPattern(`\b(authori[sz]|allow|permit).{0,80}? on my behalf\b|^urn:recap:`),
		[][]string{{"on my behalf", "urn:recap:"}}},
}

// instruction is the form of a text of fields and values, or of a call, that moves an amount, and of a URI
// that asks for a payment (EIP-681, BIP-21).
var instruction = phrase{plaintext.NewPattern(`\b(action|op|operation|type|method|to|recipient|receiver)"?[:=].*\b` +
	sum + `|\b` + sum + `.*\b(to|recipient|receiver)"?[:=]|\b[a-z]+\(0x[0-9a-f]{40}|` +
	`([{[]"|^[^ ]+=[^ ]*&).*(amount|amt|qty|quantity)"?[:=]"?[0-9]|(^|[.!] )(pay|debit)\b[^:.]*: ?` + amount + `|` +
	`\b[a-z]+:(pay-)?(0x[0-9a-f]{40}|[a-z]{2,12}1[02-9ac-hj-np-z]{38,58}|[1-9a-km-z]{32,44})(@[0-9]+)?[/?]`),
	[][]string{{"amount", "amt", "qty", "quantity", "value", "(0x", ":"}}}

// directs is an address or a name in any case, in a note without words, or a verb of THORChain's and Maya's
// memos: they say where the payment is to go on to.
var directs = plaintext.NewPattern(`^\S*\b((0x)?[0-9a-fA-F]{40}|[a-zA-Z]{2,12}1[02-9ac-hj-np-zAC-HJ-NP-Z]{38,58}|` +
	`T[1-9A-HJ-NP-Za-km-z]{33}|[1-9A-HJ-NP-Za-km-z]{43,44}|[a-z0-9-]+\.(eth|sol|thor|maya))\b\S*$|` +
	`^(?i:[~=+adnrsx-]|m?=<|([$]|tcy|loan|trade|secure|pool)[+-]|tcy|swap|add|wd|withdraw|limito|lo|(un|re)?bond|` +
	`leave|donate|switch|exec|operator|(un)?merge|reference):\S`)

// payments are the first of the orderPhrases, which name an amount and no recipient: the words of a note,
// unless what is granted or where it goes is said beside them.
const payments = 3

// What is no order: noDenials negate something else, turn ends a negation, others is before what another does, later
// before what is signed later, home and ordinary are none; what is agreed, or granted in a note, is one all the same.
var (
	granted = plaintext.NewPattern(`\b(approve|lets?|enable|entitled|(bearer|holder) of|(by|this) sign[a-z]*)\b|` +
		`\bmay (` + acts + `|collect)|\b(to|recipient|receiver)"?[:=] ?"?` + address + `|\(0x[0-9a-f]{40}|"op":`)
	goods     = append(strings.Split(digits, ""), ".eth", ".sol", "everything", "all ", "my ") // to move
	symbol    = plaintext.NewPattern(`\b([0-9][0-9.,]*k?) ?\$?[A-Z][A-Z0-9]+[a-z]*\b`)
	negation  = plaintext.NewPattern(`n't | (not|cannot|no|never|without|nor) `)
	noDenials = plaintext.NewPattern(`\b(no|without|not cost)( [a-z]+)? (gas|fees?|costs?|notice|charge|limit)\b|` +
		`\b(not|never) (object|oppose|dispute|revoke|contest|refuse|deny)\b`)
	turn   = plaintext.NewPattern(`^.*( but | and | i | please | then |, )`)
	others = plaintext.NewPattern(`\b(can|(able|how|whether|dao voted|invited|the plan) to|prices? for|we|us|` +
		`you will be|(proposal|ask[a-z]*( you| the dao)?)( to| that))( [^ ]+)? $|\bin as( an?| the)? $|` +
		`\b(the|an?|your|each|highest|minimum|[a-z]+ (sold|bought|sent|paid|won|gave|granted|approved)` +
		`( for| you| me| us)?|see|shows?|own|hold|view|track|verify|display|about) $`)
	agreed = plaintext.NewPattern(`\b(agree|` + asks + `)[sz]?(e|es|s|ing)? ((to|for|you|i|we|the|an?|your|my|each|` +
		`highest|minimum) )+\n|^[^\n]*\bi [a-z]* ?ask |^\n[a-z]+ of [^\n]*\n (to |for [0-9]|at [0-9]|from my )|` +
		`^the \n[a-z]+ of [^\n]*\n.* (is|are) (hereby )?(accep|approv|agreed|authori)`)
	later = plaintext.NewPattern(`\b(must|(need|have) to|you('ll| will))( [^ ]+)? $|` +
		`\b(sign|log)(ing|ging)?[- ]in\b.* to ([^ i][^ ]* |i[^ ]+ ){0,8}$`)
	home = plaintext.NewPattern(`[a-z]{4} will \nsend ` + sole + ` to this (address|wallet|account)$|` +
		`\nwithdraw ` + sole + ` from your [a-z]+ account$|\nwithdraw your ` + sole + ` after signing in$|` +
		`\n[a-z ]*pay ` + sole + ` in a separate transaction$|\bintend to \ninvest |\n to your watchlist|` +
		`\b(sign|log)[- ]in (to [a-z]+ )?to \n(borrow|trade|swap|buy|stake) up to |\n be shown`)
	ordinary = plaintext.NewPattern(`^(payouts?|(sell|buy|bidd|lend|send)ers?|(` + gives + `)[a-z]*d|(` + moves +
		`|deposit|donation|sale|loan)s? (of|over|up to)) |(from|above|than|least) \D?[0-9][^ ]* ?[a-z]*$|` +
		`allow(s|ing) you| price (is|of) | (are|is|may|can|cannot|were)$|` +
		` (histor|notif|alert|method|update|page|status|detail|receipt|hash|setting|preference|link|letter)[a-z]*$`)
)

// stem is how a word begins, and the bit of its group.
type stem struct {
	text  string
	last  byte // of the text, which tells most words apart
	group uint64
}

// orderStems has the stems of orders by their first byte, and for each phrase the groups of which a
// sentence has a stem each, if it has the phrase.
var orderStems = sync.OnceValues(func() (by *[256][]stem, needs []uint64) {
	by, group := new([256][]stem), uint64(1)
	for _, p := range orderPhrases {
		needs = append(needs, 0)
		for _, texts := range p.has {
			for _, text := range texts {
				by[text[0]] = append(by[text[0]], stem{text, text[len(text)-1], group})
			}
			needs[len(needs)-1], group = needs[len(needs)-1]|group, group<<1
		}
	}
	return by, needs
})

// isOrder reports whether a sentence has the form of an order, of the phrases from one on, that it does not deny.
func isOrder(words string, from int) bool {
	by, needs := orderStems()
	for sentence, rest := cutSentence(words); len(sentence)+len(rest) > 0; sentence, rest = cutSentence(rest) {
		groups, letters := uint64(0), 0
		for i := 0; i < len(sentence); i++ {
			if i > 0 && isLetter(sentence[i]) && isLetter(sentence[i-1]) {
				if letters++; letters > 30 {
					groups = ^uint64(0) // it may be an address without a digit
				}
				continue
			}
			letters = 0
			for _, s := range by[sentence[i]] {
				rest, size := sentence[i:], len(s.text)
				if groups&s.group == 0 && len(rest) >= size && rest[size-1] == s.last && rest[:size] == s.text {
					groups |= s.group
				}
			}
			if strings.HasPrefix(sentence[i:], "0x") { // in an address no word begins
				i = len(sentence) - len(strings.TrimLeft(sentence[i:], digits+"abcdefx")) - 1
			}
		}
		for i, need := range needs[from:] {
			if groups&need == need && orderPhrases[from+i].orders(sentence) {
				return true
			}
		}
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// orders reports whether a sentence has the phrase where nothing beside it makes it no order, or too
// often to look at each.
func (p phrase) orders(sentence string) bool {
	sentence = noDenials.Regexp().ReplaceAllString(sentence, "$5")
	forms := p.pattern.Regexp().FindAllStringIndex(sentence, 16)
	return len(forms) == 16 || slices.ContainsFunc(forms, func(at []int) bool {
		before, order, after := sentence[max(0, at[0]-400):at[0]], sentence[at[0]:at[1]], sentence[at[1]:]
		denied := turn.Regexp().ReplaceAllString(before, "")
		if strings.Contains(denied, "or ") { // a list
			denied = before
		}
		text := before + "\n" + order + "\n" + after[:min(len(after), 400)]
		none := ordinary.MatchString(order) || others.MatchString(before) && !strings.Contains(after, " from my ") ||
			!strings.ContainsAny(order, digits) && later.MatchString(before)
		return !negation.MatchString(" "+denied+order) && !home.MatchString(text) && (!none || agreed.MatchString(text))
	})
}

// symbols replaces the symbols of tokens behind numbers by the word coins: "5 USDC", "1,000 $PEPE".
func symbols(text string) string {
	text = strings.ReplaceAll(text, " 2FA", " two factors") // of a log-in
	for i := 1; i < len(text); i++ {
		if text[i] < 'A' || text[i] > 'Z' {
			continue
		}
		before := strings.TrimSuffix(strings.TrimSuffix(text[:i], "$"), " ")
		word := strings.TrimRight(before, digits+".,k")
		if len(word) < len(before) && (word == "" || !isLetter(word[len(word)-1]|0x20)) {
			return symbol.Regexp().ReplaceAllString(text, "$1 coins")
		}
	}
	return text
}

// cutSentence returns the first sentence of some words, without what ends it, and the others.
func cutSentence(words string) (sentence, rest string) {
	for from := 0; ; {
		at := strings.IndexAny(words[from:], ".!?;:") + from
		if at < from {
			return words, ""
		}
		rest = strings.TrimLeft(words[at:], ".!?;:")
		if rest == "" || rest[0] == ' ' {
			return words[:at], strings.TrimPrefix(rest, " ")
		}
		from = len(words) - len(rest)
	}
}

// KeyOfType returns whose key a signature over typed data of a type becomes, whatever the
// message says, empty if none that is known.
func KeyOfType(encoded string) string { return known().Types[encoded] }

// maxWords is the length of the longest text whose words are looked at, in bytes: a key follows
// from exactly one text, and the known ones have a few hundred.
const maxWords = 4096

// DerivesKey returns whose key a signature over the text becomes, empty if none that is
// known. A phrase alone counts too.
func DerivesKey(text string) string {
	if len(text) > maxWords {
		return ""
	}
	words := plainWords(text)
	return keyOf(words, "^"+words+"$")
}

func keyOf(words, marked string) string {
	if of := whose(known().Keys, marked); of != "" {
		return of
	}
	if slices.ContainsFunc(keyPhrases, func(p phrase) bool { return p.isIn(words) }) && !notKeys.MatchString(words) {
		return "the application"
	}
	return ""
}

// plainWords returns a text in lower case, with one space between words, a simple apostrophe
// for each kind of it, and without what shows nothing.
func plainWords(text string) string {
	plain := make([]byte, 0, len(text))
	space := false
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z':
			r |= 0x20
		case r < utf8.RuneSelf:
		case strings.ContainsRune("’‘ʼ", r):
			r = '\''
		case unicode.Is(unicode.Cf, r):
			continue
		default:
			r = unicode.ToLower(r)
		}
		if unicode.IsSpace(r) {
			space = len(plain) > 0
			continue
		}
		if space {
			plain = append(plain, ' ')
			space = false
		}
		plain = utf8.AppendRune(plain, r)
	}
	return string(plain)
}
