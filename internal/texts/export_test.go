package texts

import "github.com/countersign-dev/countersign/chains"

// SignIn is what is read of a sign-in.
type SignIn = signIn

// ParseSignIn reads a sign-in by EIP-4361, or returns nil.
func ParseSignIn(message string) *SignIn { return parseSignIn(message, EIP4361) }

// ParseTronSignIn reads a sign-in by EIP-4361 with an address of Tron, or returns nil.
func ParseTronSignIn(message string) *SignIn { return parseSignIn(message, EIP4361Tron) }

// ParseSolanaSignIn reads a sign-in by SIWS, or returns nil.
func ParseSolanaSignIn(message string) *SignIn { return parseSignIn(message, SIWS) }

// Members returns the names and values of the members.
func Members(s *SignIn) (members [][2]string) {
	for i, name := range memberNames {
		members = append(members, [2]string{name, s.members[i]})
	}
	return members
}

// Problem says why a sign-in is not for a signer, or names two sites.
func Problem(s *SignIn, signer chains.Party) string { return s.problem(signer) }

// Logins are the templates that ship.
func Logins() []Template { return known().Logins }

// Guess returns the file that a refusal prints.
func Guess(text string) string { return guess([]byte(text)) }

// AsksToSignIn reports whether a text has the words of a sign-in.
func AsksToSignIn(text []byte) bool { return Read(text, nil).asks }

// PlainWords returns the words of a text, as they are compared.
func PlainWords(text string) string { return plainWords(text) }

// IsOrder reports whether words order something.
func IsOrder(words string) bool { return isOrder(words, 0) }

// IsOrderSlowly is IsOrder without the stems, which tell most sentences apart before.
func IsOrderSlowly(words string) bool {
	for sentence, rest := cutSentence(words); len(sentence)+len(rest) > 0; sentence, rest = cutSentence(rest) {
		for i := range orderPhrases {
			if orderPhrases[i].orders(sentence) {
				return true
			}
		}
	}
	return false
}
