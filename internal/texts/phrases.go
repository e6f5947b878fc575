package texts

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
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
	digits := bytes.TrimSpace(message)
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits = digits[2:]
	}
	var hash [hashSize]byte
	if len(digits) != hex.EncodedLen(hashSize) {
		return ""
	}
	if _, err := hex.Decode(hash[:], digits); err != nil {
		return ""
	}
	return "the message is 64 hex digits, like a hash whose preimage is unknown"
}

// phrase is a pattern of words, and words of which a text that matches has one of each list:
// most texts have none, and looking for them costs little.
type phrase struct {
	pattern *plaintext.Pattern
	has     [][]string
}

// in returns where a text, as plainWords returns it, has the phrase, or nil.
func (p *phrase) in(words string) []int {
	for _, group := range p.has {
		if !slices.ContainsFunc(group, func(word string) bool { return strings.Contains(words, word) }) {
			return nil
		}
	}
	return p.pattern.Regexp().FindStringIndex(words)
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
		`\b(semaphore|nostr|eddsa|stealth|vault|salt|secret|seed|recovery phrase|game wallet)\b`),
		[][]string{{"generat", "creat", "restor", "recover", "unlock"}}},
	{plaintext.NewPattern(`\bonly sign this message (for|on|with|within) a trusted (client|app|application|site|website|platform)\b`),
		[][]string{{"only sign this message "}}},
}

// notKeys are the words of texts that name a public key, or ask a server for a key: their
// signature is none.
var notKeys = plaintext.NewPattern(`\b(pubkeyx?|public key|api[ -]keys?)\b`)

// orderPhrases are the words in which a text, also the statement of a sign-in, orders something
// that its signature alone carries out: accounts of Aptos (AIP-113) and Initia that are derived
// from an address are such, and capabilities (EIP-5573).
var orderPhrases = []phrase{
	{plaintext.NewPattern(`\b(approv|authori[sz]|execut|confirm|submit|instruct)(e|es|ing)?\b[^.!?]{0,40}?` +
		`\b(transactions?|transfers?|payments?|withdrawals?|swaps?)\b`),
		[][]string{{"approv", "authori", "execut", "confirm", "submit", "instruct"},
			{"transaction", "transfer", "payment", "withdrawal", "swap"}}},
	{plaintext.NewPattern(`\b(authori[sz]|allow|permit)(e|es|ing)?\b[^.!?]{0,80}?\bon my behalf\b`),
		[][]string{{" on my behalf"}}},
}

// negations are words by which a sentence orders nothing.
var negations = []string{" not ", "n't ", " no ", " never ", " without ", " nor "}

// isOrder reports whether a text, as plainWords returns it, has the form of an order: a sentence
// without a negation up to the end of the phrase.
func isOrder(words string) bool {
	for i := range orderPhrases {
		for rest := words; ; {
			at := orderPhrases[i].in(rest)
			if at == nil {
				break
			}
			sentence := rest[strings.LastIndexAny(rest[:at[0]], ".!?")+1 : at[1]]
			if !slices.ContainsFunc(negations, func(word string) bool { return strings.Contains(sentence, word) }) {
				return true
			}
			rest = rest[at[1]:]
		}
	}
	return false
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
	return keyOf(plainWords(text))
}

func keyOf(words string) string {
	if of := whose(known().Keys, words); of != "" {
		return of
	}
	for i := range keyPhrases {
		if keyPhrases[i].in(words) != nil && !notKeys.MatchString(words) {
			return "the application"
		}
	}
	return ""
}

// plainWords returns a text in lower case, with one space between words, a simple apostrophe
// for each kind of it, and without what shows nothing.
func plainWords(text string) string {
	var plain strings.Builder
	plain.Grow(len(text))
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
			space = plain.Len() > 0
			continue
		}
		if space {
			plain.WriteByte(' ')
			space = false
		}
		plain.WriteRune(r)
	}
	return plain.String()
}
