package personal

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/chains/tron"
)

// known are the chains of the vectors.
var known = []chains.Chain{ethereum.Chain{}, solana.Chain{}, tron.Chain{}, bitcoin.Chain{}, tempo.Chain{}}

// glanced reports whether a glance leaves bytes to a chain.
func glanced(raw []byte) bool {
	return slices.ContainsFunc(known, func(chain chains.Chain) bool { return chain.(chains.Glancer).Glance(raw) })
}

// readers are what transactionOf asks after a glance.
var readers = map[string]func([]byte) (chains.Transaction, error){
	"Ethereum": ethereum.Chain{}.Parse, "Solana": solana.Chain{}.Parse, "Tron": tron.Chain{}.Parse,
	"Bitcoin": bitcoin.Chain{}.Parse, "Tempo": tempo.Chain{}.Parse,
	"a message of Solana": solana.Chain{}.ParseMessage,
}

// vectors returns the unsigned transactions of the chains' test data.
func vectors(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, chain := range []string{"ethereum", "solana", "tron", "bitcoin", "tempo"} {
		paths, err := filepath.Glob("../../../chains/" + chain + "/testdata/*.json")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d files of %s: %v", len(paths), chain, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var vector struct{ UnsignedTransaction string }
			if json.Unmarshal(text, &vector) != nil || vector.UnsignedTransaction == "" {
				continue
			}
			raw, err := hex.DecodeString(strings.TrimPrefix(vector.UnsignedTransaction, "0x"))
			if err != nil {
				t.Fatal(path, ": ", err)
			}
			all = append(all, raw)
		}
	}
	return all
}

// FuzzTransactionLike checks that the look at the first byte hides no transaction, raw, in hex
// or in base64.
func FuzzTransactionLike(f *testing.F) {
	for _, raw := range vectors(f) {
		f.Add(raw)
		if tx, err := (solana.Chain{}).Parse(raw); err == nil {
			f.Add(tx.(interface{ Message() []byte }).Message())
		}
		if message, ok := strings.CutPrefix(string(raw), "\x0a"); ok {
			f.Add([]byte(message[min(2, len(message)):])) // raw_data of Tron
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		found := ""
		for name, read := range readers {
			if _, err := read(raw); err == nil {
				found = name
			}
		}
		if found == "" {
			return
		}
		for _, text := range []string{string(raw), hex.EncodeToString(raw), " 0X" + strings.ToUpper(hex.EncodeToString(raw)) + "\n"} {
			if transactionLike([]byte(text), known) == "" {
				t.Errorf("%q is a transaction: %s", text, found)
			}
		}
	})
}

// TestFirstBytes tries every first byte before the rest of each vector, and every short
// beginning of its own.
func TestFirstBytes(t *testing.T) {
	accepted := 0
	for _, raw := range vectors(t) {
		for first := range 256 {
			changed := append([]byte{byte(first)}, raw[1:]...)
			for name, read := range readers {
				if _, err := read(changed); err == nil {
					if accepted++; !glanced(changed) {
						t.Errorf("%x: hidden, but it is a transaction: %s", changed, name)
					}
				}
			}
		}
	}
	if accepted < len(vectors(t)) {
		t.Errorf("%d transactions were read", accepted)
	}
}

// FuzzPhrases checks that a phrase is found wherever its pattern is.
func FuzzPhrases(f *testing.F) {
	for _, known := range keyTexts {
		f.Add(known.text)
	}
	for _, text := range []string{
		"sign this message to generate your private key", "key derivation", "signing derives an encryption", "sign to derive your stealth address",
		"only sign this message on a trusted site", "signature unlocks the layer 2 keypair", "sign to recover a zk seed", "sign generating the keys",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := appendPlainWords(nil, text)
		for i := range keyPhrases {
			if matches := keyPhrases[i].pattern.MatchString(string(words)); matches != keyPhrases[i].in(words) {
				t.Errorf("phrase %d in %q: the pattern says %t", i, words, matches)
			}
		}
	})
}

// TestNoOtherLetterIsInWants checks what AsksToSignIn relies on: no letter outside of ASCII is
// one of the word's in lower case.
func TestNoOtherLetterIsInWants(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if strings.ContainsRune("wants", unicode.ToLower(r)) {
			t.Errorf("%U is %q in lower case", r, unicode.ToLower(r))
		}
	}
	for text, want := range map[string]bool{"": false, "want": false, "xWANTS": true, "w wants": true, "wwants": true, "wantſ": false} {
		if hasFolded([]byte(text), "wants") != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
