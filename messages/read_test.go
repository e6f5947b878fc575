package messages_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/messages"
)

var reader = messages.Reader{Now: func() time.Time { return time.Unix(1_763_640_000, 0) }, Chains: all.Chains(all.Limits{})}

const signIn = "example.com wants you to sign in with your Ethereum account:\n0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56\n\nHello\n\n" +
	"URI: https://example.com/login\nVersion: 1\nChain ID: 1\nNonce: 32891756\nIssued At: 2025-11-20T12:00:00Z"

// TestSignIn checks that a sign-in is recognized, and that one naming two sites is a
// hazard.
func TestSignIn(t *testing.T) {
	for text, want := range map[string]string{
		signIn: "", strings.Replace(signIn, "https://example.com", "https://example.org", 1): texts.HazardForeignSignIn,
	} {
		read, err := reader.Read(string(personal.Preimage(personal.EthereumPrefix, []byte(text))), activity.EncodingText, activity.HashKeccak256)
		testenv.Must(t, err)
		var got strings.Builder
		for _, hazard := range read.Hazards() {
			got.WriteString(hazard.Name)
		}
		if read.Effects()[0].Function != "sign in" || got.String() != want {
			t.Errorf("%s, hazards %q, want %q", read.Effects()[0].Function, got.String(), want)
		}
	}
}

// TestMalformedSignIn checks that text that asks to sign in without following the
// standard exactly is a hazard.
func TestMalformedSignIn(t *testing.T) {
	for _, change := range [][2]string{
		{"Version: 1", "Version: 2"}, {"Nonce: 32891756", "Nonce: 1"}, {"\nIssued At: 2025-11-20T12:00:00Z", ""}, {"Hello\n", "Hello\nthere\n"},
		{"0x97cC", "97cC"}, {"\n\nHello", "\nHello"}, {"2025-11-20T12:00:00Z", "today"}, {"example.com wants", " example.com wants"}, {"Nonce", "nonce"},
		{"T12:00:00Z", "T12:00:00Z\n"}, {"account:\n", "account: \n"}, {"with your Ethereum", "WITH YOUR Ethereum"}, {"Ethereum account", "Solana account"},
		{"\n", "\r\n"},
	} {
		text := strings.ReplaceAll(signIn, change[0], change[1])
		for _, payload := range []struct {
			text string
			hash activity.HashFunction
			want []string
		}{
			{string(personal.Preimage(personal.EthereumPrefix, []byte(text))), activity.HashKeccak256, []string{texts.HazardForeignSignIn, texts.HazardFreeText}},
			{text, activity.HashNotApplicable, []string{texts.HazardForeignSignIn, texts.HazardFreeText, solanamsg.HazardRawMessage}},
		} {
			read, err := reader.Read(payload.text, activity.EncodingText, payload.hash)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if read.Effects()[0].Function == "sign in" {
				continue // it is a valid sign-in for Solana
			}
			var got []string
			for _, hazard := range read.Hazards() {
				got = append(got, hazard.Name)
			}
			if !slices.Equal(got, payload.want) {
				t.Errorf("%q: hazards %v, want %v", text, got, payload.want)
			}
		}
	}
}

// TestPersonalRefused checks wrong lengths, and text that cannot be shown.
func TestPersonalRefused(t *testing.T) {
	for _, preimage := range []string{"6hello", "05hello", "5hell", "hello", "", "6a\x00bcde", "3\u202e", "1\xff", "2a\r", "2\x1b["} {
		if _, err := reader.Read(hex.EncodeToString([]byte(personal.EthereumPrefix+preimage)), activity.EncodingHex, activity.HashKeccak256); err == nil {
			t.Errorf("%q: accepted", preimage)
		}
	}
}

// echo is a chains.Reader of typed data that returns its type and domain.
type echo struct{}

func (echo) Read(call chains.Call) (chains.Reading, bool) {
	if call.Typed == nil {
		return chains.Reading{}, false
	}
	return chains.Reading{Function: call.Typed.Type, Owner: call.Chain + " " + call.To.String(), Intent: call.Typed.DomainName}, true
}

func (echo) LookupTable([]byte) (table chains.LookupTable, ok bool) { return table, false }

const ping = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
	`"Ping":[{"name":"to","type":"Pong[]"}],"Pong":[{"name":"n","type":"int8"}]},"primaryType":"Ping",` +
	`"domain":{"name":"Game","chainId":10,"verifyingContract":"0x00000000000000000000000000000000000000aa"},"message":{"to":[{"n":-1}]}}`

// TestReadWith checks that typed data reaches the readers of descriptors, alone or as
// one of several payloads, if its domain names a contract.
func TestReadWith(t *testing.T) {
	parse := func(text string) chains.Transaction {
		read, err := reader.Read(text, activity.EncodingEIP712, activity.HashNone)
		testenv.Must(t, err)
		return read
	}
	_, readings := chains.ReadWith(parse(ping), echo{})
	if len(readings) != 1 || readings[0].Path != "message" || readings[0].Function != "Ping(Pong[] to)Pong(int8 n)" ||
		readings[0].Intent != "Game" || !strings.HasPrefix(readings[0].Owner, "eip155:10 0x") {
		t.Errorf("%+v", readings)
	}
	nowhere := strings.NewReplacer(`,{"name":"verifyingContract","type":"address"}`, "", `,"verifyingContract":"0x00000000000000000000000000000000000000aa"`, "").Replace(ping)
	both, err := messages.ReadAny(activity.SignRawPayloadsIntent{Payloads: []string{nowhere, ping},
		Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone}, reader.Chains, reader.Now)
	testenv.Must(t, err)
	if _, readings = chains.ReadWith(both, echo{}); len(readings) != 1 || readings[0].Path != both.Effects()[1].Path {
		t.Errorf("%+v, effects %+v", readings, both.Effects())
	}
}

// FuzzRead checks that an accepted payload has effects and only known hazards, and that
// a payload whose signature would be that of a transaction is read as that transaction.
func FuzzRead(f *testing.F) {
	encodings := []activity.Encoding{activity.EncodingHex, activity.EncodingText, activity.EncodingEIP712, activity.EncodingAuthorization}
	hashes := []activity.HashFunction{activity.HashNone, activity.HashSHA256, activity.HashKeccak256, activity.HashNotApplicable}
	f.Add(string(personal.Preimage(personal.EthereumPrefix, []byte(signIn))), byte(1), byte(2))
	f.Add(hex.EncodeToString([]byte("\xffsolana offchain\x01\x01"+strings.Repeat("k", 32)+"hello")), byte(0), byte(3))
	f.Add(hex.EncodeToString([]byte("\xffsolana offchain\x00"+strings.Repeat("a", 32)+"\x00\x01"+strings.Repeat("k", 32)+"\x05\x00hello")), byte(0), byte(3))
	f.Add(enginetest.Unsigned, byte(0), byte(2))
	f.Add("80010001036b6b", byte(0), byte(3))
	f.Add("0a02db2c22084c8ae2b3c7d5a0f8", byte(0), byte(1))
	f.Add(`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":0}`, byte(3), byte(0))
	known := map[string]bool{}
	for _, name := range all.HazardNames() {
		known[name] = true
	}
	f.Fuzz(func(t *testing.T, payload string, encoding, hash byte) {
		read, err := reader.Read(payload, encodings[encoding%4], hashes[hash%4])
		if err != nil {
			return
		}
		effects := read.Effects()
		if len(effects) == 0 {
			t.Fatal("no effect")
		}
		for _, hazard := range read.Hazards() {
			if index, ok := hazard.Effect(); !known[hazard.Name] || ok && index >= len(effects) {
				t.Fatalf("hazard %s of effect %d of %d", hazard.Name, index, len(effects))
			}
		}
		if tx := transactionOf(t, payload, encodings[encoding%4], hashes[hash%4]); tx != nil && tx.Summary().Digest() != read.Summary().Digest() {
			t.Fatalf("%q is the transaction %+v but is read as %+v", payload, tx.Summary(), read.Summary())
		}
	})
}

// transactionOf returns the transaction that a signature over the payload would be valid
// for, or nil.
func transactionOf(t *testing.T, payload string, encoding activity.Encoding, hash activity.HashFunction) chains.Transaction {
	t.Helper()
	raw := []byte(payload)
	switch encoding {
	case activity.EncodingHex:
		var err error
		if raw, err = chains.DecodeHex(payload); err != nil {
			t.Fatal(err)
		}
	case activity.EncodingEIP712, activity.EncodingAuthorization:
		return nil
	}
	var tx chains.Transaction
	switch hash {
	case activity.HashNotApplicable:
		tx, _ = solana.Chain{}.ParseMessage(raw)
	case activity.HashSHA256:
		tx, _ = tron.Chain{}.ParseMessage(raw)
	case activity.HashKeccak256:
		if tx, _ = (ethereum.Chain{}).Parse(raw); tx == nil {
			tx, _ = tempo.Chain{}.Parse(raw)
		}
	}
	return tx
}
