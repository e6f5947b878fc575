package solanamsg_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// v0 returns an off-chain message of version 0.
// signingDomain begins every off-chain message.
const signingDomain = "\xffsolana offchain"

func v0(format byte, text string, signers ...string) string {
	return signingDomain + "\x00" + strings.Repeat("a", 32) + string([]byte{format, byte(len(signers))}) + strings.Join(signers, "") +
		string([]byte{byte(len(text)), byte(len(text) >> 8)}) + text
}

// v1 returns an off-chain message of version 1.
func v1(text string, signers ...string) string {
	return signingDomain + "\x01" + string([]byte{byte(len(signers))}) + strings.Join(signers, "") + text
}

// legacy returns an off-chain message with the header of 20 bytes.
func legacy(format byte, text string) string {
	return signingDomain + "\x00" + string([]byte{format, byte(len(text)), byte(len(text) >> 8)}) + text
}

// TestParseOffchain has messages at and beyond the bounds of the format.
func TestParseOffchain(t *testing.T) {
	one, two, three := strings.Repeat("1", 32), strings.Repeat("2", 32), strings.Repeat("3", 32)
	const short = 1232 - 16 - 1 - 32 - 2 - 32 - 2 // the longest text of formats 0 and 1 with one signer
	cut := v0(0, "x", one)
	for name, test := range map[string]struct{ raw, want string }{
		"format 0":                    {v0(0, "hello", one), ""},
		"format 1":                    {v0(1, "größer", one), ""},
		"format 2":                    {v0(2, "größer", one), ""},
		"version 1":                   {v1("größer", one), ""},
		"two signers":                 {v0(0, "hello", two, one), ""},
		"two signers, version 1":      {v1("hello", one, two), ""},
		"three, the last descends":    {v1("hello", one, three, two), "signer 2 is not greater than the one before"},
		"three signers, version 1":    {v1("hello", one, two, three), ""},
		"the longest of format 0":     {v0(0, strings.Repeat("x", short), one), ""},
		"the longest of format 1":     {v0(1, strings.Repeat("x", short), one), ""},
		"longer, in format 2":         {v0(2, strings.Repeat("x", short+1), one), ""},
		"the first and last of ASCII": {v0(0, " ~", one), ""},
		"the domain alone":            {signingDomain, `expected ff "solana offchain" and a version`},
		"version 2":                   {signingDomain + "\x02\x01" + one + "hello", "unsupported version 2: expected 0 or 1"},
		"cut in the application":      {cut[:16+1+31], "the header of version 0 is truncated"},
		"cut behind the format":       {cut[:16+1+33], "the header of version 0 is truncated"},
		"cut behind the signers":      {cut[:16+1+34], "truncated: expected 1 signers of 32 bytes"},
		"cut in a signer":             {cut[:16+1+34+31], "truncated: expected 1 signers of 32 bytes"},
		"cut in the length":           {cut[:16+1+34+32+1], "does not match the text that follows"},
		"cut in the text":             {cut[:len(cut)-1], "does not match the text that follows"},
		"a byte more":                 {cut + "x", "does not match the text that follows"},
		"format 3":                    {v0(3, "hello", one), "unknown format 3: expected 0, 1 or 2"},
		"no signer":                   {v0(0, "hello"), "expected at least one signer"},
		"no signer, version 1":        {v1("hello"), "expected at least one signer"},
		"no count, version 1":         {signingDomain + "\x01", "expected at least one signer"},
		"a signer twice":              {v0(0, "hello", one, two, one), "signers 0 and 2 are the same"},
		"a signer twice, version 1":   {v1("hello", one, one), "signers 0 and 1 are the same"},
		"signers that descend":        {v1("hello", two, one), "signer 1 is not greater than the one before"},
		"format 0, too long":          {v0(0, strings.Repeat("x", short+1), one), "format 0 allows at most 1232, use format 2"},
		"format 1, too long":          {v0(1, strings.Repeat("x", short+1), one), "format 1 allows at most 1232, use format 2"},
		"format 0, not ASCII":         {v0(0, "größer", one), "format 0 allows only printable ASCII"},
		"format 0, a line break":      {v0(0, "a\nb", one), "format 0 allows only printable ASCII"},
		"format 0, DEL":               {v0(0, "a\x7f", one), "format 0 allows only printable ASCII"},
		"legacy, format 0":            {legacy(0, "hello"), ""},
		"legacy, format 2":            {legacy(2, "größer\n"), ""},
		"legacy, the longest":         {legacy(1, strings.Repeat("x", 1212)), ""},
		"legacy, too long":            {legacy(1, strings.Repeat("x", 1213)), "format 1 allows at most 1232, use format 2"},
		"legacy, not ASCII":           {legacy(0, "größer"), "format 0 allows only printable ASCII"},
		"legacy, unreadable":          {legacy(2, "a\x1bb"), "so it cannot be shown"},
		"legacy, no text":             {legacy(0, ""), "empty"},
		"legacy, cut":                 {legacy(0, "hello")[:24], "the header of version 0 is truncated"},
		"legacy, a byte more":         {legacy(0, "hello") + "x", "the header of version 0 is truncated"},
		"no text":                     {v0(2, "", one), "empty"},
		"no text, version 1":          {v1("", one), "empty"},
		"not UTF-8":                   {v0(2, "a\xff", one), "so it cannot be shown"},
		"a control character":         {v1("a\x1bb", one), "so it cannot be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := solanamsg.Parse([]byte(test.raw), solana.Chain{})
			refused, ok := errors.AsType[*chains.ParseError](err)
			switch {
			case test.want == "":
				if err != nil {
					t.Error(err)
				}
			case read != nil || !ok || !errors.Is(err, chains.ErrMalformed) || !strings.Contains(refused.Problem, test.want):
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	for _, other := range []string{"", "\xfesolana offchain\x01\x01" + one + "hello"} {
		if read, err := solanamsg.Parse([]byte(other), solana.Chain{}); read != nil || !errors.Is(err, chains.ErrUnsupported) {
			t.Errorf("%q: %v, want that it is no such message", other, err)
		}
	}
}

// TestSignersAreShown checks that each signer is shown, in order.
func TestSignersAreShown(t *testing.T) {
	one, two := strings.Repeat("1", 32), strings.Repeat("2", 32)
	for _, raw := range []string{v0(0, "hello", one, two), v1("hello", one, two)} {
		read, err := solanamsg.Parse([]byte(raw), solana.Chain{})
		testenv.Must(t, err)
		var signers []string
		for _, field := range read.Summary().Fields {
			if field.Label == "signer" {
				signers = append(signers, field.Value)
			}
		}
		if want := []string{base58.Encode([]byte(one)), base58.Encode([]byte(two))}; !slices.Equal(signers, want) {
			t.Errorf("%v, want %v", signers, want)
		}
	}
}

// TestLegacyOfTheSolanaCommand: what 'solana sign-offchain-message' of Agave writes
// (agave#3340) is named, and no other header is read as it.
func TestLegacyOfTheSolanaCommand(t *testing.T) {
	read, err := solanamsg.Parse([]byte(legacy(0, "Hello from the Solana CLI")), solana.Chain{})
	testenv.Must(t, err)
	fields := read.Summary().Fields
	if len(fields) != 2 || !strings.Contains(fields[0].Value, "20 bytes") || fields[1].Value != "Hello from the Solana CLI" {
		t.Errorf("%+v", fields)
	}
	// A message of version 0 whose application domain begins like the legacy header.
	text := strings.Repeat("x", 300)
	raw := []byte(v0(1, text, strings.Repeat("1", 32)))
	rest := len(raw) - 20
	raw[17], raw[18], raw[19] = 1, byte(rest), byte(rest>>8)
	if read, err = solanamsg.Parse(raw, solana.Chain{}); err != nil || read.Summary().Fields[0].Value != "off-chain message, version 0" {
		t.Errorf("%+v, %v", read, err)
	}
}
