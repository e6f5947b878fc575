package texts

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// knownTexts is what is known of public texts. Its log-ins are templates, each with where it is
// published; none of them makes a key or orders anything. Its keys and orders only say why a
// text is worse than unknown.
//
//go:embed known.json
var knownTexts []byte

type knownFile struct {
	Logins []Template `json:"logins"`

	// Keys are texts whose signature an application makes a private key from, Types typed
	// data that is the same, and Orders texts that their signature carries out.
	Keys   []worse           `json:"keys"`
	Types  map[string]string `json:"types"`
	Orders []worse           `json:"orders"`
}

// worse is a text of an application, with all of some words as plainWords returns them. ^ and $ in
// front of words and behind them stand for the text's ends.
type worse struct {
	Of     string   `json:"of"`
	Words  []string `json:"words"`
	Source string   `json:"source"`
}

// whose returns the application that a text is of, empty if it is of none. Its words are between ^ and $.
func whose(list []worse, words string) string {
	for i := range list {
		if !slices.ContainsFunc(list[i].Words, func(part string) bool { return !strings.Contains(words, part) }) {
			return list[i].Of
		}
	}
	return ""
}

// known returns what is known, which is read at the first text.
var known = sync.OnceValue(func() *knownFile {
	var file knownFile
	if err := json.Unmarshal(knownTexts, &file); err != nil {
		panic("texts: known.json: " + err.Error())
	}
	for i := range file.Logins {
		if err := file.Logins[i].Compile(); err != nil {
			panic("texts: known.json: " + file.Logins[i].Domain + ": " + err.Error())
		}
	}
	return &file
})

// domainOf returns the domain of the one log-in that a text is, empty if there is none or if it
// is of two domains.
func (f *knownFile) domainOf(text string) (domain string) {
	for i := range f.Logins {
		if _, ok := f.Logins[i].Match(text); ok && domain != "" && domain != f.Logins[i].Domain {
			return ""
		} else if ok {
			domain = f.Logins[i].Domain
		}
	}
	return domain
}
