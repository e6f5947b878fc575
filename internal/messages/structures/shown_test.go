package structures_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

const everyKind = `{
"types": {
  "EIP712Domain": [{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],
  "Every": [{"name":"yes","type":"bool"},{"name":"no","type":"bool"},{"name":"text","type":"string"},{"name":"account","type":"address"},{"name":"bytes","type":"bytes"},
    {"name":"hash","type":"bytes32"},{"name":"count","type":"uint64"},{"name":"change","type":"int64"},{"name":"inner","type":"Inner"},{"name":"inners","type":"Inner[]"},
    {"name":"numbers","type":"uint8[]"},{"name":"none","type":"uint8[]"},{"name":"long","type":"string"},{"name":"longer","type":"string"}],
  "Inner": [{"name":"a","type":"uint8"},{"name":"b","type":"string"}]
},
"primaryType": "Every",
"domain": {"name":"Name","version":"7","chainId":1,"verifyingContract":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"},
"message": {"yes":true,"no":false,"text":"hello","account":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56","bytes":"0x0102","hash":"0xHASH","count":"5","change":"-5",
  "inner":{"a":1,"b":"x"},"inners":[{"a":2,"b":"y"},{"a":3,"b":"z"}],"numbers":[4,5],"none":[],"long":"LONG","longer":"LONGx"}
}`

// TestShown: the summary, the arguments that a policy sees, and the values that descriptors
// read, for a message with a member of every kind.
func TestShown(t *testing.T) {
	hash, long := strings.Repeat("ab", 32), strings.Repeat("l", 256)
	text := strings.NewReplacer("HASH", hash, "LONG", long).Replace(everyKind)
	read := read(t, []byte(text), now)
	var shown []string
	var flatten func(at string, fields []chains.Field)
	flatten = func(at string, fields []chains.Field) {
		for _, field := range fields {
			shown = append(shown, strings.TrimSpace(fmt.Sprintf("%s%s %s %s", at, field.Label, field.Type, field.Value)))
			flatten(at+field.Label+".", field.Fields)
		}
	}
	flatten("", read.Summary().Fields)
	if want := []string{
		"kind text typed data (EIP-712)", "type text Every",
		"domain list", "domain.name text Name", "domain.version text 7", "domain.chainId integer 1", "domain.verifyingContract address 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7",
		"message list", "message.yes text true", "message.no text false", "message.text text hello", "message.account address 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",
		"message.bytes bytes 0102", "message.hash bytes " + hash, "message.count integer 5", "message.change integer -5",
		"message.inner list", "message.inner.a integer 1", "message.inner.b text x",
		"message.inners list", "message.inners.0 list", "message.inners.0.a integer 2", "message.inners.0.b text y", "message.inners.1 list", "message.inners.1.a integer 3", "message.inners.1.b text z",
		"message.numbers list", "message.numbers.0 integer 4", "message.numbers.1 integer 5", "message.none list", "message.long text " + long, "message.longer text " + long + "x",
	}; !slices.Equal(shown, want) {
		t.Errorf("shown:\n%s\nwant:\n%s", strings.Join(shown, "\n"), strings.Join(want, "\n"))
	}
	var args []string
	for _, arg := range read.Effects()[0].Args {
		args = append(args, arg.Name+" "+arg.Value)
	}
	if want := []string{
		"domain.name Name", "domain.version 7", "domain.chainId 1", "domain.verifyingContract 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7",
		"yes true", "no false", "text hello", "account 0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", "bytes 0x0102", "hash 0x" + hash, "count 5", "change -5", "long " + long,
	}; !slices.Equal(args, want) {
		t.Errorf("arguments:\n%s\nwant:\n%s", strings.Join(args, "\n"), strings.Join(want, "\n"))
	}
	calls := read.(chains.Caller).Calls()
	if len(calls) != 1 {
		t.Fatalf("descriptors can read %d calls, want 1", len(calls))
	}
	typed := calls[0].Typed
	if typed.DomainName != "Name" || typed.DomainVersion != "7" || !strings.HasPrefix(typed.Type, "Every(bool yes,") {
		t.Errorf("%+v", typed)
	}
	var values []string
	var walk func(at string, list []chains.TypedValue)
	walk = func(at string, list []chains.TypedValue) {
		for _, value := range list {
			number := ""
			if value.Number != nil {
				number = value.Number.String()
			}
			values = append(values, fmt.Sprintf("%s%s %d %s%x", at, value.Name, value.Kind, number, value.Bytes))
			walk(at+value.Name+".", value.List)
		}
	}
	walk("", typed.Members[:12])
	if want := []string{
		fmt.Sprintf("yes %d 1", chains.TypedBool), fmt.Sprintf("no %d 0", chains.TypedBool), fmt.Sprintf("text %d %x", chains.TypedText, "hello"),
		fmt.Sprintf("account %d 97cc56300c36f60c7fb7c50babc6c5cdf59d5c56", chains.TypedAddress), fmt.Sprintf("bytes %d 0102", chains.TypedBytes),
		fmt.Sprintf("hash %d %s", chains.TypedFixedBytes, hash), fmt.Sprintf("count %d 5", chains.TypedNumber), fmt.Sprintf("change %d -5", chains.TypedNumber),
		fmt.Sprintf("inner %d ", chains.TypedStruct), fmt.Sprintf("inner.a %d 1", chains.TypedNumber), fmt.Sprintf("inner.b %d 78", chains.TypedText),
		fmt.Sprintf("inners %d ", chains.TypedList), fmt.Sprintf("inners. %d ", chains.TypedStruct), fmt.Sprintf("inners..a %d 2", chains.TypedNumber), fmt.Sprintf("inners..b %d 79", chains.TypedText),
		fmt.Sprintf("inners. %d ", chains.TypedStruct), fmt.Sprintf("inners..a %d 3", chains.TypedNumber), fmt.Sprintf("inners..b %d 7a", chains.TypedText),
		fmt.Sprintf("numbers %d ", chains.TypedList), fmt.Sprintf("numbers. %d 4", chains.TypedNumber), fmt.Sprintf("numbers. %d 5", chains.TypedNumber), fmt.Sprintf("none %d ", chains.TypedList),
	}; !slices.Equal(values, want) {
		t.Errorf("typed:\n%s\nwant:\n%s", strings.Join(values, "\n"), strings.Join(want, "\n"))
	}
}

// TestBulkOrder: a signature over the root of a tree of orders is valid for orders that the
// message does not contain.
func TestBulkOrder(t *testing.T) {
	text := strings.NewReplacer("Every", "BulkOrder", "HASH", strings.Repeat("ab", 32), "LONG", "l").Replace(everyKind)
	read := read(t, []byte(text), now)
	effects := read.Effects()
	if got, want := chaintest.Names(read.Hazards()), []string{structures.HazardUnknownType, structures.HazardHiddenContents}; len(effects) != 1 || !effects[0].Undecoded || effects[0].By != chains.BySigner || !slices.Equal(got, want) {
		t.Errorf("%+v with %v, want %v", effects, got, want)
	}
}
