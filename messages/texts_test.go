package messages_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
)

// bitcoinAddress returns the P2WPKH address of key-1.
func bitcoinAddress(t *testing.T) string {
	t.Helper()
	secret := testenv.Hex(t, enginetest.Secret)
	for _, address := range (bitcoin.Chain{}).Addresses(chaintest.Key(t, keystore.CurveSecp256k1, secret).PublicKey()) {
		if strings.HasPrefix(address.Address, "bc1q") {
			return address.Address
		}
	}
	t.Fatal("no address")
	return ""
}

// carriers return the request to sign a text in each of its carriers.
var carriers = map[string]func(t *testing.T, text string) activity.Intent{
	"personal": func(_ *testing.T, text string) activity.Intent {
		return engines.Payload(string(personal.Preimage(personal.EthereumPrefix, []byte(text))), activity.EncodingText, activity.HashKeccak256)
	},
	"Tron": func(_ *testing.T, text string) activity.Intent {
		intent := engines.Payload(string(personal.Preimage(personal.TronPrefix, []byte(text))), activity.EncodingText, activity.HashKeccak256)
		intent.SignWith = "key-1"
		return intent
	},
	"BIP-137": func(t *testing.T, text string) activity.Intent {
		intent := engines.Payload(hex.EncodeToString(bip137.Preimage([]byte(text))), activity.EncodingHex, activity.HashDoubleSHA256)
		intent.SignWith = bitcoinAddress(t)
		return intent
	},
	"BIP-322": func(t *testing.T, text string) activity.Intent {
		raw, err := bitcoin.ToSign{Text: text, Address: bitcoinAddress(t)}.PSBT()
		testenv.Must(t, err)
		return activity.SignTransactionIntent{SignWith: bitcoinAddress(t), Type: activity.TransactionTypeBitcoin, UnsignedTransaction: hex.EncodeToString(raw)}
	},
	"raw text": func(_ *testing.T, text string) activity.Intent { return onSolana(hex.EncodeToString([]byte(text))) },
	"off-chain, version 0": func(t *testing.T, text string) activity.Intent {
		return onSolana(hex.EncodeToString(fmt.Appendf(nil, "\xffsolana offchain\x00%s\x02\x01%s%c%c%s", strings.Repeat("a", 32), solanaKey(t), 0, 0, text)[:16+1+32+1+1+32]) +
			hex.EncodeToString([]byte{byte(len(text)), byte(len(text) >> 8)}) + hex.EncodeToString([]byte(text)))
	},
	"off-chain, version 1": func(t *testing.T, text string) activity.Intent {
		return onSolana(hex.EncodeToString([]byte("\xffsolana offchain\x01\x01" + string(solanaKey(t)) + text)))
	},
	"the solana command's": func(_ *testing.T, text string) activity.Intent {
		return onSolana(hex.EncodeToString(append([]byte("\xffsolana offchain\x00\x02"), byte(len(text)), byte(len(text)>>8))) + hex.EncodeToString([]byte(text)))
	},
	"memo": func(t *testing.T, text string) activity.Intent {
		message := append([]byte{1, 0, 1, 2}, solanaKey(t)...)
		message = append(append(message, base58.Decode("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")...), strings.Repeat("\x03", 32)...)
		return onSolana(hex.EncodeToString(append(append(message, 1, 1, 0), sized(text)...)))
	},
}

// note is a memo beside a payment of 1 lamport.
func note(t *testing.T, text string) activity.Intent {
	message := append([]byte{1, 0, 2, 4}, solanaKey(t)...)
	message = append(append(message, strings.Repeat("\x07", 32)...), make([]byte, 32)...)
	message = append(append(message, base58.Decode("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")...), strings.Repeat("\x03", 32)...)
	message = append(message, 2, 2, 2, 0, 1, 12, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
	return onSolana(hex.EncodeToString(append(append(message, 3, 0), sized(text)...)))
}

// statement returns the effect of a request that is a statement.
func statement(effects []chains.Effect) (of chains.Effect) {
	for i := range effects {
		if effects[i].Kind == chains.KindMessage {
			of = effects[i]
		}
	}
	return of
}

// sized puts the length of a text before it, as compact-u16.
func sized(text string) (out []byte) {
	size := len(text)
	for ; size >= 0x80; size >>= 7 {
		out = append(out, byte(size)|0x80)
	}
	return append(append(out, byte(size)), text...)
}

func onSolana(payload string) activity.SignMessageIntent {
	return activity.SignMessageIntent{SignWith: "key-2", Payload: payload, Encoding: activity.EncodingHex, HashFunction: activity.HashNotApplicable}
}

func solanaKey(t *testing.T) ed25519.PublicKey {
	t.Helper()
	seed := testenv.Hex(t, enginetest.Secret)
	return ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
}

// verdict returns the hazards of texts that a request has, of a key's and without one, which
// must agree but for whose sign-in it is. The hazard of a raw text is the carrier's.
func verdict(t *testing.T, engine *countersign.Engine, intent activity.Intent) []string {
	t.Helper()
	prepared, err := engine.Prepare(t.Context(), enginetest.Organization, intent)
	testenv.Must(t, err)
	inspection, err := all.InspectIntent(intent, all.Limits{})
	testenv.Must(t, err)
	of := func(hazards []chains.Hazard) []string {
		return slices.DeleteFunc(hazardNames(hazards), func(name string) bool { return name == "solana/raw-message" })
	}
	signed, inspected := of(prepared.Hazards()), of(inspection.Hazards)
	if without := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "message/foreign-sign-in" })
	}; !slices.Equal(without(signed), without(inspected)) {
		t.Errorf("%v: hazards %v, without a key %v", intent, signed, inspected)
	}
	return signed
}

// knownText is a text in testdata/texts.json, with the hazards that it has in each carrier; a
// sign-in, which is of one chain, has them in the carriers of its own.
type knownText struct {
	Name, Class, Source, Text string
	Hazards                   []string
}

// TestReportedTexts signs what reports found signed or refused wrongly, and siblings, in every
// carrier: the verdict is the same in all of them, but of a sign-in for another chain. Beside a payment
// a memo is a note if it is none of those, and is no message.
func TestReportedTexts(t *testing.T) {
	var records []knownText
	testenv.JSON(t, testenv.Read(t, "testdata/texts.json"), &records)
	strict, lenient := enginetest.New(t), enginetest.New(t, engines.WithHazards(countersign.AllHazards))
	for _, r := range records {
		text := strings.ReplaceAll(r.Text, "SOLANA", base58.Encode(solanaKey(t)))
		isSignIn := strings.Contains(text, " wants you to sign in with your ")
		for name, carrier := range carriers {
			if name == "raw text" && text[0] < ' ' {
				continue // it is read as a transaction's message
			}
			intent := carrier(t, text)
			got, want := verdict(t, lenient.Engine, intent), r.Hazards
			switch own := name == "personal" && strings.Contains(text, "Ethereum account") || strings.Contains(text, "Solana account") && (name == "memo" || strings.Contains(name, "off-chain") || name == "raw text" || strings.Contains(name, "solana")); {
			case isSignIn && !own:
				want = slices.Concat([]string{"message/foreign-sign-in", "message/free-text"}, slices.DeleteFunc(slices.Clone(r.Hazards), func(name string) bool {
					return name == "message/foreign-sign-in" || name == "message/free-text"
				}))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: hazards %q, want %q", r.Name, name, got, want)
			}
			if _, err := strict.Engine.Prepare(t.Context(), enginetest.Organization, intent); (err == nil) != (len(want) == 0) {
				t.Errorf("%s, %s, with nothing allowed: %v", r.Name, name, err)
			}
		}
	}
}

// TestNotesOfPayments: what a memo says of the payment beside it is a note, and an order elsewhere. A memo
// that names a recipient, or grants or approves something, is no note.
func TestNotesOfPayments(t *testing.T) {
	f := enginetest.New(t)
	for text, isNote := range map[string]bool{
		"Pay 5 USDC to Bob for lunch": true, "payment of 5 USDC for invoice 12": true, "swap 5 SOL to USDC, order 4711": true,
		"Withdrawal 0.5 SOL from Acme": true, "Donate 5 SOL to Ukraine": true, "Top up card 4711 with 20 USDC": true, `{"action":"deposit","amount":"5"}`: true,
		"Payment of 5 USDC for May": true, "The bearer of this signature may withdraw 5 ETH": false,
		"Let Acme withdraw 5 USDC": false, "Acme may charge 20 USDC a month": false, "Enable auto-pay of 10 USDC a month": false,
		`{"op":"transfer","amount":"5","to":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"}`: false, "transfer(0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7, 5)": false,
		"I authorize the withdrawal of 5 ETH.": false, "Transfer 5 USDC to alice.eth": false, "I delegate my votes to bob.eth": false,
		"You are approving to execute transaction 0x1::aptos_account::transfer on Aptos blockchain (mainnet).": false,
		"Authorize session key 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7":                                     false, `{"verifying_contract":"intents.near","intents":[]}`: false,
	} {
		for name, carrier := range map[string]func(*testing.T, string) activity.Intent{"note": note, "memo": carriers["memo"], "personal": carriers["personal"]} {
			_, err := f.Engine.Prepare(t.Context(), enginetest.Organization, carrier(t, text))
			if want := isNote && name == "note"; (err == nil) != want {
				t.Errorf("%q, %s: %v, want signed: %t", text, name, err, want)
			}
		}
	}
}

// TestOneJudge draws texts: each has the same verdict in every carrier, but beside a payment, where it is
// a note unless it is a log-in, an order or a key.
func TestOneJudge(t *testing.T) {
	lenient, random := enginetest.New(t, engines.WithHazards(countersign.AllHazards)), rand.New(rand.NewPCG(53, 12))
	pieces := []string{"Sign this message", "to log in", "to derive your", "key", "identity", "approve", "the transaction", "not", "0x" + strings.Repeat("ab", 32), "intents",
		`{"verifying_contract":"intents.near","intents":[]}`, "hello", "wants you to sign in with your", "Welcome to", "Approve Portals sign-in", "encrypt your", "nonce: 0x01", "Only sign this message for a trusted client!",
		"invoice 4711", "\n", ". ", "äöü", "Decentral Games Login\nTimestamp: 12"}
	kinds := map[string]int{}
	for range testenv.Draws(t, 300) {
		text := pieces[random.IntN(len(pieces))]
		for range random.IntN(4) {
			text += []string{" ", "", "\n"}[random.IntN(3)] + pieces[random.IntN(len(pieces))]
		}
		if text = strings.TrimLeft(text, "\n"); text == "" {
			continue
		}
		want := verdict(t, lenient.Engine, carriers["personal"](t, text))
		kinds[strings.Join(want, " ")]++
		for name, carrier := range carriers {
			if got := verdict(t, lenient.Engine, carrier(t, text)); !slices.Equal(got, want) {
				t.Fatalf("%q, %s: %v, want %v", text, name, got, want)
			}
		}
		expected := want
		if !slices.ContainsFunc(want, func(hazard string) bool { return hazard != "message/free-text" && hazard != "message/hash-like" }) {
			expected = nil
		}
		if got := verdict(t, lenient.Engine, note(t, text)); !slices.Equal(got, expected) {
			t.Fatalf("%q beside a payment: %v, want %v", text, got, expected)
		}
	}
	if len(kinds) < 5 {
		t.Errorf("verdicts: %v", kinds)
	}
}

// TestPinnedTexts: a text of a pinned template is signed in every carrier, with its domain; an
// unpinned file says so, two templates of one text are none, and a pinned order stays one.
func TestPinnedTexts(t *testing.T) {
	const file = `{"texts": [{"domain": "shop.example", "text": "Log in to the shop with {nonce} at {time}."}, {"domain": "bad.example", "text": "{{\"verifying_contract\":\"intents.near\",\"intents\":[{number}]}}"}]}`
	text := "Log in to the shop with ab12-cd34 at 2026-11-28T12:00:00Z."
	open := func(files fstest.MapFS, pinned ...string) *descriptors.Folder {
		pins := &descriptors.Pins{}
		for range 2 {
			folder, err := descriptors.Open(files, descriptors.Options{Pins: pins})
			testenv.Must(t, err)
			for _, file := range folder.Files() {
				if slices.Contains(pinned, file.Name) {
					pins.Add(file)
				}
			}
		}
		folder, err := descriptors.Open(files, descriptors.Options{Pins: pins})
		testenv.Must(t, err)
		return folder
	}
	files := fstest.MapFS{"shop.json": {Data: []byte(file)}, "again.json": {Data: []byte(strings.Replace(file, "the shop with", "{nonce} shop with", 1))}}
	for name, test := range map[string]struct {
		pinned          []string
		text            string
		signed          bool
		domain, problem string
	}{
		"pinned":     {[]string{"shop.json"}, text, true, "shop.example", ""},
		"not pinned": {nil, text, false, "", "not trusted: pin it"},
		"two":        {[]string{"shop.json", "again.json"}, strings.Replace(text, "the shop", "theshop shop", 1), true, "shop.example", ""},
		"an order":   {[]string{"shop.json"}, `{"verifying_contract":"intents.near","intents":[7]}`, false, "bad.example", ""},
		"other text": {[]string{"shop.json"}, "Log in to the shop", false, "", ""},
	} {
		f := enginetest.New(t, func(c *countersign.Config) { c.Descriptors = open(files, test.pinned...) })
		for carried, carrier := range carriers {
			prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, carrier(t, test.text))
			if (err == nil) != test.signed {
				t.Errorf("%s, %s: %v", name, carried, err)
			}
			inspection, err := all.InspectIntent(carrier(t, test.text), all.Limits{})
			testenv.Must(t, err)
			inspection = inspection.ReadWith(open(files, test.pinned...))
			problem := ""
			for _, reading := range inspection.Readings {
				problem = reading.Problem
			}
			if of := statement(inspection.Effects).Domain; of != test.domain || problem != test.problem {
				t.Errorf("%s, %s: inspected as of %q, %q", name, carried, of, problem)
			}
			if !test.signed {
				continue
			}
			effects, err := prepared.Effects(t.Context())
			if of := statement(effects).Domain; err != nil || of != test.domain {
				t.Errorf("%s, %s: domain %q, %v", name, carried, of, err)
			}
		}
	}
}
