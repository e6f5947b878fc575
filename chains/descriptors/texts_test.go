package descriptors_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestTexts: a file of templates lists their domains; what is wrong with one is said with its
// index. A text of one pinned template is read with its domain and fields.
func TestTexts(t *testing.T) {
	const shop = `{"texts":[{"domain":"shop.example","text":"Log in to the shop with {nonce}, {number} of {number}","source":"its page"},{"domain":"bank.example","text":"Log in to the bank"}]}`
	for file, problem := range map[string]string{
		shop: "not trusted: pin it", `{"texts":[]}`: "texts: 0, expected 1 to 1000", `{"texts":[{"domain":"a.example","text":"Log in to the shop {name}"}]}`: "texts[0]: text: {name}: expected {address}",
		`{"texts":[{"domain":"a.example","text":"Log in to the shop"},{"domain":"https://b.example","text":"Log in to the shop"}]}`: `texts[1]: domain "https://b.example"`,
		`{"texts":[{"domain":"a.example","text":"Log in to the shop","chain":"eip155:1"}]}`:                                         `unknown member "/texts/0/chain"`,
		`{"texts":[{"domain":"a.example","text":"{nonce}{number}"}]}`:                                                               "what follows {nonce}", `{"texts":{}}`: "not allowed",
	} {
		folder, err := descriptors.Open(fstest.MapFS{"a.json": {Data: []byte(file)}}, descriptors.Options{})
		testenv.Must(t, err)
		if got := folder.Files(); len(got) != 1 || !strings.Contains(got[0].Problem, problem) {
			t.Errorf("%s: %+v, want %s", file, got[0], problem)
		}
	}
	files, pins := fstest.MapFS{"shop.json": {Data: []byte(shop)}}, new(descriptors.Pins)
	folder, err := descriptors.Open(files, descriptors.Options{})
	testenv.Must(t, err)
	if got, want := folder.Files()[0].Targets, []string{"shop.example", "bank.example"}; !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
	pins.Add(folder.Files()[0])
	if folder, err = descriptors.Open(files, descriptors.Options{Pins: pins}); err != nil {
		t.Fatal(err)
	}
	read, ok := folder.Read(chains.Call{Path: "message", Text: "Log in to the shop with abcd, 1 of 2"})
	if want := []chains.Arg{{Name: "nonce", Value: "abcd"}, {Name: "number", Value: "1"}, {Name: "number 2", Value: "2"}}; !ok || read.Domain != "shop.example" || !read.Complete || !slices.Equal(read.Args, want) {
		t.Errorf("%v %+v", ok, read)
	}
	if read, ok := folder.Read(chains.Call{Path: "message", Text: "Log in to the shop with abcd, 1 of two"}); ok {
		t.Errorf("%+v", read)
	}
}
