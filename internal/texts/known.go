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

// worse is a text of an application, with all of some words as plainWords returns them.
type worse struct {
	Of     string    `json:"of"`
	Words  []wording `json:"words"`
	Source string    `json:"source"`
}

// wording is words that a text has. In the file, ^ and $ stand for the text's ends.
type wording struct {
	words       string
	first, last bool
}

// UnmarshalText reads the words.
func (w *wording) UnmarshalText(text []byte) error {
	w.words, w.first = strings.CutPrefix(string(text), "^")
	w.words, w.last = strings.CutSuffix(w.words, "$")
	return nil
}

// whose returns the application that a text is of, empty if it is of none.
func whose(list []worse, words string) string {
	for i := range list {
		if !slices.ContainsFunc(list[i].Words, func(w wording) bool { return !w.in(words) }) {
			return list[i].Of
		}
	}
	return ""
}

func (w wording) in(text string) bool {
	switch {
	case w.first && w.last:
		return text == w.words
	case w.first:
		return strings.HasPrefix(text, w.words)
	case w.last:
		return strings.HasSuffix(text, w.words)
	}
	return strings.Contains(text, w.words)
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
		if _, ok := f.Logins[i].Match(text); !ok {
			continue
		}
		if domain != "" && domain != f.Logins[i].Domain {
			return ""
		}
		domain = f.Logins[i].Domain
	}
	return domain
}
