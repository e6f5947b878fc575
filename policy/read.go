package policy

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/source"
)

// Bounds of a file.
const (
	maxRules  = 1000
	maxLimits = 100
	maxNames  = 1000 // lists and assets
	maxTests  = 1000
	minWindow = time.Minute
	maxWindow = 31 * 24 * time.Hour
)

// reader reads the members of a file.
type reader struct {
	definitions
	tests fileTests
}

func newReader(options Options) (*reader, error) {
	words, err := newVocabulary(options.Chains)
	if err != nil {
		return nil, fmt.Errorf("policy: Options.Chains: %w", err)
	}
	language := &language{
		words: words, lists: map[string]*list{}, assets: map[string]*asset{},
		literals: literalFunctions(words), members: objectMembers(words), clauses: map[clauseKey]*clause{},
	}
	draft := &draft{
		language: language, problems: new(source.Report), names: options.Names, limits: map[string]*limit{},
		hazards: append(words.table.HazardNames(), options.Hazards...),
	}
	return &reader{definitions{draft: draft}, fileTests{draft: draft, folder: options.Folder}}, nil
}

const schemaName = "policy.schema.json"

// SchemaLine is the first line of a file that names its JSON Schema to editors.
var SchemaLine = source.SchemaLine(schemaName)

// JSONSchema returns the JSON Schema of files that are read with these options, for editors. It
// takes every file that [Parse] takes.
func JSONSchema(options Options) ([]byte, error) {
	var failed error
	form := source.FormOf(func(root source.Node) {
		if reader, err := newReader(options); err != nil {
			failed = err
		} else {
			reader.read(root)
		}
	})
	if failed != nil {
		return nil, failed
	}
	return form.Schema(schemaName, "Countersign policy, "+Schema)
}

// read reads the file's members, definitions before their uses.
func (f *reader) read(root source.Node) {
	parts := map[string]source.Node{}
	readers := map[string]func(source.Node){}
	for _, name := range []string{"schema", "lists", "assets", "prices", "limits", "rules", "tests"} {
		readers[name] = func(n source.Node) { parts[name] = n }
	}
	root.Fields("the file", readers)
	schema := parts["schema"]
	if schema.Node == nil {
		root.Fail("schema is missing: write 'schema: %s'", Schema)
	} else if text, known := schema.OneOf("schema", Schema); !known {
		schema.Fail("schema %s is not known: this version reads %s; 'countersign policy check --upgrade FILE' "+
			"shows what to change in an earlier one", shorten(text), Schema)
	}
	each(parts["lists"], "lists", f.readList)
	each(parts["assets"], "assets", f.readAsset)
	if f.misnamed {
		return // everything else would complain about missing names
	}
	if len(f.lists)+len(f.assets) > maxNames {
		root.Fail("more than %d lists and assets", maxNames)
		return
	}
	if err := f.complete(); err != nil {
		root.Fail("%v", err)
		return
	}
	if n := parts["prices"]; n.Node != nil {
		f.readPrices(n)
	}
	items(parts["limits"], "limits", maxLimits, f.readLimit)
	items(parts["rules"], "rules", maxRules, f.readRule)
	items(parts["tests"], "tests", maxTests, f.tests.read)
	if parts["rules"].Node == nil {
		root.Fail("rules is missing: without a rule nothing is allowed")
	}
}

func each(n source.Node, what string, read func(source.Entry)) {
	if n.Node == nil {
		return
	}
	for _, member := range n.Pairs(what) {
		if member.Node.IsNull() {
			member.FailName("%s has no value", shorten(member.Name))
			continue
		}
		read(member)
	}
}

func items(n source.Node, what string, most int, read func(source.Node)) {
	if n.Node == nil {
		return
	}
	list := n.Items(what)
	if len(list) > most {
		n.Fail("%d %s, at most %d are allowed", len(list), what, most)
		return
	}
	for _, item := range list {
		read(item)
	}
}

// subjects are the values of per: what a limit is counted for.
var subjects = []string{"key", "account", "wallet", "user", "credential", "to", "organization"}

func (f *reader) readLimit(n source.Node) {
	l, before := &limit{place: n.Place()}, f.problems.Errors()
	var most, replaces source.Node
	var named *asset
	n.Fields("a limit", map[string]func(source.Node){
		"name":     func(n source.Node) { l.name = n.Text("name") },
		"asset":    func(n source.Node) { named = f.asset(n) },
		"currency": func(n source.Node) { f.inCurrency(l, n) },
		"max":      func(n source.Node) { most = n },
		"window":   func(n source.Node) { l.window = n.Duration("window", minWindow, maxWindow) },
		"replaces": func(n source.Node) {
			replaces, l.nonce = n, isOnly(n, "replaces", "nonce", "")
		},
		"per": func(n source.Node) {
			l.per = oneOf(n, "per", "per: %s is none of "+strings.Join(subjects, ", "), subjects)
		},
	})
	both := named != nil && l.currency
	if !l.currency {
		l.asset = named
	}
	_, twice := f.limits[l.name]
	switch {
	case !ruleName.MatchString(l.name):
		n.Fail("a limit needs a name of lower-case letters, digits and -, not %q", shorten(l.name))
		return
	case twice:
		n.Fail("limit %s is defined twice", l.name)
	case f.problems.Errors() > before:
	case both:
		n.Fail("limit %s has an asset or a currency, not both", l.name)
	case l.asset == nil || most.Node == nil || l.window == 0 || l.per == "":
		n.Fail("limit %s needs asset, max, window and per; or currency instead of asset", l.name)
	default:
		value, err := parseUnits(most.Text("max"), max(l.asset.decimals, 0))
		switch {
		case err != nil:
			most.Fail("max: %v", err)
		case value.Sign() == 0:
			most.Fail("max: expected an amount above zero")
		default:
			l.max = value
		}
		if l.per == "account" && !l.currency && f.words.ofNetwork(l.asset.Chain).Account == nil {
			n.Fail("limit %s: per: account is of chains whose accounts hold their assets themselves, "+
				"such as eip155:1: use per: key", l.name)
		}
		if l.nonce {
			l.checkNonce(f.words, replaces)
		}
	}
	f.limits[l.name] = l
}

// checkNonce refuses replaces: nonce for an asset of a network where it would be a hole.
func (l *limit) checkNonce(words *vocabulary, n source.Node) {
	for _, said := range words.chains {
		if of := said.OneNonce; of != nil && of(l.asset.Chain) {
			return
		}
	}
	n.Fail("replaces: nonce needs an asset of a network of which a nonce is one transaction, such as eip155:1: "+
		"%s is none", cmp.Or(l.asset.Chain, l.asset.name))
}

// inCurrency makes a limit one of the value of all assets.
func (f *reader) inCurrency(l *limit, n source.Node) {
	currency := n.Text("currency")
	switch p := f.prices; {
	case p == nil:
		n.Fail("a limit in a currency needs prices: see 'prices' in docs/policies.md")
	case p.currency != "" && p.currency != currency:
		n.Fail("currency: the prices are in %s, not in %s", p.currency, shorten(currency))
	default:
		p.used = true
	}
	l.currency, l.asset = true, &asset{name: currency, decimals: valueDecimals}
}

// readPrices reads which price file there is, and the file.
func (f *reader) readPrices(n source.Node) {
	p := &priceList{place: n.Place()}
	f.prices = p // also if it fails, or each limit in a currency would report another error
	var file, pin, key string
	before := f.problems.Errors()
	n.Fields("prices", map[string]func(source.Node){
		"file":     func(n source.Node) { file = n.Text("file") },
		"currency": func(n source.Node) { p.currency = n.Text("currency") },
		"max_age":  func(n source.Node) { p.maxAge = n.Duration("max_age", minWindow, maxWindow) },
		"key":      func(n source.Node) { key = readHex32(n, "key", "an Ed25519 public key") },
		"sha256":   func(n source.Node) { pin = readHex32(n, "sha256", "a SHA-256 digest") },
	})
	switch {
	case f.problems.Errors() > before:
	case file == "" || p.currency == "" || p.maxAge == 0:
		n.Fail("prices needs file, currency and max_age, after which its prices allow nothing")
	case !currencyName.MatchString(p.currency):
		n.Fail("prices: currency %q: expected lower-case letters, such as usd", shorten(p.currency))
	case (pin == "") == (key == ""):
		n.Fail("prices needs either key, which signs the file, or sha256, if the file never changes")
	default:
		p.from = fmt.Sprintf("%s by %x%x", file, key, pin)
		content, err := f.readPriceFile(file, pin, key)
		if err == nil {
			err = f.parsePrices(p, content)
		}
		if err != nil {
			n.Fail("prices: %v", err)
		}
	}
}

// readHex32 returns 32 bytes that a text has in hex.
func readHex32(n source.Node, what, meant string) string {
	value, err := hex.DecodeString(n.Text(what))
	if err != nil || len(value) != sha256.Size {
		n.Fail("%s: expected %s, 64 hex digits", what, meant)
	}
	return string(value)
}

// readPriceFile returns the bytes of a price file, which have a digest or are signed by a key.
func (f *reader) readPriceFile(file, pin, key string) ([]byte, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.tests.folder, path)
	}
	content, err := f.tests.input(path, maxPriceFile)
	if err != nil || key == "" {
		if digest := sha256.Sum256(content); err == nil && string(digest[:]) != pin {
			err = fmt.Errorf("%s has the sha256 %x", path, digest)
		}
		return content, err
	}
	signature, err := f.tests.input(path+".sig", ed25519.SignatureSize)
	if err == nil && !ed25519.Verify(ed25519.PublicKey(key), content, signature) {
		err = fmt.Errorf("%s.sig has no signature of %s by key, which is 64 bytes", path, path)
	}
	return content, err
}
