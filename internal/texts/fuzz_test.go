package texts_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

const siweText = "example.com wants you to sign in with your Ethereum account:\n0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56\n\nHello\n\n" +
	"URI: https://example.com/login\nVersion: 1\nChain ID: 1\nNonce: 32891756\nIssued At: 2025-11-20T12:00:00Z"

// FuzzSignIn checks that an accepted sign-in of either chain can be rebuilt from its
// members, and that AsksToSignIn is true for it.
func FuzzSignIn(f *testing.F) {
	full := siweText + "\nExpiration Time: 2025-11-21T12:00:00Z\nNot Before: 2025-11-20T12:00:00Z\nRequest ID: 7\nResources:\n- https://example.com/a\n- ipfs://x"
	siws := "example.com wants you to sign in with your Solana account:\nTPoqpax8"
	for _, text := range []string{siweText, full, siws, siws + "\n\nHello", siws + "\n\nHello\n\nNonce: 1\nResources:", "https://" + full,
		strings.Replace(siweText, "Hello\n\n", "", 1), strings.Replace(siweText, "Hello\n", "", 1), strings.Replace(siweText, "Ethereum", "ethereum", 1)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ethereum, solana, tron := texts.ParseSignIn(text), texts.ParseSolanaSignIn(text), texts.ParseTronSignIn(text)
		for words, read := range map[string]*texts.SignIn{"Ethereum": ethereum, "Solana": solana, "TRON": tron} {
			if read == nil {
				continue
			}
			if !isSignIn(text, words, read) {
				t.Fatalf("%q is read as %+v", text, read)
			}
			if !texts.AsksToSignIn([]byte(text)) {
				t.Fatalf("%q does not ask to sign in", text)
			}
			texts.Problem(read, chains.Party{})
		}
		if ethereum != nil && solana != nil {
			t.Fatalf("%q is a sign-in for two chains", text)
		}
	})
}

// isSignIn reports whether a text is the sign-in s by EIP-4361's grammar, where an
// absent statement leaves an empty line or none.
func isSignIn(text, words string, s *texts.SignIn) bool {
	site := s.Domain
	if s.Scheme != "" {
		site = s.Scheme + "://" + s.Domain
	}
	head := site + " wants you to sign in with your " + words + " account:\n" + s.Address
	members := memberLines(s)
	switch {
	case s.Statement == "" && members == "":
		return text == head
	case s.Statement == "":
		return text == head+"\n\n"+members || text == head+"\n\n\n"+members
	case members == "":
		return text == head+"\n\n"+s.Statement
	}
	return text == head+"\n\n"+s.Statement+"\n\n"+members
}

func memberLines(s *texts.SignIn) string {
	var lines []string
	for _, member := range texts.Members(s) {
		if member[1] != "" {
			lines = append(lines, member[0]+": "+member[1])
		}
	}
	if s.Resources != nil {
		lines = append(lines, "Resources:")
	}
	for _, resource := range s.Resources {
		lines = append(lines, "- "+resource)
	}
	return strings.Join(lines, "\n")
}

// FuzzPlainWords checks that the words of a text have single spaces, and are the same whatever its
// case, spaces and characters that show nothing are.
func FuzzPlainWords(f *testing.F) {
	for _, text := range []string{siweText, " Sign\u00a0\u200bTHIS  \r\n\tmessage ", "l’Été ʼ\u3000İ", "\u00ad \u2060", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := texts.PlainWords(text)
		if again := strings.Join(strings.Fields(words), " "); again != words {
			t.Fatalf("the words of %q are %q, with other spaces than %q", text, words, again)
		}
		spread := "\u200b\u2003" + strings.ReplaceAll(text, " ", "\u00ad \u00a0\n\u2060") + "\t"
		if got := texts.PlainWords(spread); got != words {
			t.Fatalf("the words of %q are %q, of %q %q", text, words, spread, got)
		}
	})
}

// FuzzOrders checks that any text is judged, and that the stems which tell sentences apart miss no order.
func FuzzOrders(f *testing.F) {
	for _, text := range []string{siweText, "Pay 5 USDC to this address: alice.eth, the order or I ask you to.", "the pay $5 ;: I agree to a charge of €5! 2FA"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		texts.Read([]byte(text), texts.EIP4361).IsOrdinary()
		if words := texts.PlainWords(text); len(text) <= 4096 && texts.IsOrder(words) != texts.IsOrderSlowly(words) {
			t.Fatalf("%q has an order by one way only", text)
		}
	})
}
