package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// draft is what was read of a file so far.
type draft struct {
	*language
	problems *source.Report
	names    *Names
	hazards  []string // that rules and tests can list
	limits   map[string]*limit
	rules    []*rule
}

// definitions are the lists and assets that a file names.
type definitions struct {
	*draft
	assetNames map[string]string // by chain and token
	skeletons  map[string]string // names by what they look like
	misnamed   bool              // a list or an asset has an invalid name
}

// checkName refuses names of lists and assets that expressions cannot use, or that
// people can mistake for another name.
func (d *definitions) checkName(entry source.Entry, what string) bool {
	_, variable := d.variables()[entry.Name]
	_, listed := d.lists[entry.Name]
	_, isUnit := d.words.units[entry.Name]
	_, isLiteral := d.literals[entry.Name]
	like, confusable := d.confusable(entry.Name)
	refuse := func(message string, args ...any) bool {
		entry.FailName("%s %s: %s", what, shorten(entry.Name), fmt.Sprintf(message, args...))
		d.misnamed = true
		return false
	}
	switch {
	case !valueName.MatchString(entry.Name):
		return refuse("a name is a lower-case letter, then letters, digits and _")
	case isUnit:
		return refuse("this name is a unit, as in %s('1'): choose another, such as my_%s", entry.Name, entry.Name)
	case variable || isLiteral || slices.Contains(reservedWords, entry.Name):
		return refuse("this name has another meaning in conditions: choose another, such as my_%s", entry.Name)
	case listed:
		return refuse("a list has this name")
	case confusable:
		return refuse("it looks like %s: choose a name that cannot be mistaken for another", like)
	}
	return true
}

// lookAlikes replaces letters by those that they can be mistaken for.
var lookAlikes = strings.NewReplacer("1", "l", "0", "o", "rn", "m", "vv", "w")

// confusable returns the unit, variable, list or asset that a name can be mistaken for.
// If there is none, it remembers the name.
func (d *definitions) confusable(name string) (like string, ok bool) {
	if d.skeletons == nil {
		d.skeletons = map[string]string{}
		for _, known := range append(sortedKeys(d.words.units), sortedKeys(d.variables())...) {
			d.skeletons[lookAlikes.Replace(known)] = known
		}
	}
	skeleton := lookAlikes.Replace(name)
	if like, ok = d.skeletons[skeleton]; ok {
		return like, like != name
	}
	d.skeletons[skeleton] = name
	return "", false
}

// reservedWords are keywords of CEL, its types, and functions of expressions.
var reservedWords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	"has", "all", "exists", "filter", "size", "contains", "total",
	"bool", "bytes", "double", "dyn", "int", "list", "string", "type", "uint", "duration",
}

func (d *definitions) readList(entry source.Entry) {
	if !d.checkName(entry, "list") {
		return
	}
	l, before := &list{place: entry.NameAt}, d.problems.Errors()
	seen, anyChain, wallets := map[addressKey]bool{}, false, 0
	addresses := entry.Node
	if addresses.IsMapping() {
		entry.Fields("list "+entry.Name, map[string]func(source.Node){
			"addresses": func(n source.Node) { addresses = n },
			"any_chain": func(n source.Node) { anyChain = n.Boolean("any_chain") },
			"shared":    func(n source.Node) { l.shared = n.Boolean("shared") },
		})
	}
	for _, item := range addresses.Items("list " + entry.Name) {
		read, err := d.words.readAddress(item.Text("address"))
		switch {
		case err != nil:
			item.Fail("%v", err)
			continue
		case seen[read.key()]:
			item.Fail("%s is in this list twice", read)
		}
		if read.words.TokenAccounts != nil {
			wallets++
		}
		seen[read.key()] = true
		l.addresses = append(l.addresses, read)
	}
	if wallets > maxWallets {
		entry.Fail("%d Solana addresses, a list has at most %d", wallets, maxWallets)
	}
	if len(l.addresses) == 0 && d.problems.Errors() == before {
		entry.Fail("list %s is empty", entry.Name)
	}
	l.value = newAddressList(l.addresses, anyChain)
	d.lists[entry.Name] = l
}

func (d *definitions) readAsset(entry source.Entry) {
	if !d.checkName(entry, "asset") {
		return
	}
	a, before := &asset{name: entry.Name, decimals: -1, place: entry.NameAt}, d.problems.Errors()
	var token, id string
	entry.Fields("asset "+entry.Name, map[string]func(source.Node){
		"chain":    func(n source.Node) { a.Chain = d.words.readNetwork(n) },
		"token":    func(n source.Node) { token = n.Text("token") },
		"id":       func(n source.Node) { id = n.Text("id") },
		"decimals": func(n source.Node) { a.decimals = n.Integer("decimals", 0, maxDecimals) },
		"standard": func(n source.Node) { a.Standard = n.Text("standard") },
	})
	d.assets[entry.Name] = a
	if d.problems.Errors() > before {
		a.decimals = maxDecimals // no second error for each amount of it
		return
	}
	if err := d.identify(a, token, id); err != nil {
		a.decimals = maxDecimals
		entry.FailName("asset %s: %v", entry.Name, err)
		return
	}
	// Two names for one asset could have different decimals.
	key := identity(a.Asset)
	if other, twice := d.assetNames[key]; twice {
		entry.FailName("asset %s: %s is already this asset", entry.Name, other)
	}
	if d.assetNames == nil {
		d.assetNames = map[string]string{}
	}
	d.assetNames[key] = entry.Name
}

// identify sets the token of an asset, or its id, or the decimals of a native asset.
func (d *definitions) identify(a *asset, token, id string) error {
	said, known := d.words.namespaces[namespaceOf(a.Chain)]
	switch {
	case a.Chain == "":
		return errors.New("chain is missing, such as eip155:1 or solana")
	case token == "" && id == "":
		return errors.New("token is missing: an address, or native")
	case token != "" && id != "":
		return errors.New("it has a token or an id, not both: id is for assets without a contract, such as TRC-10")
	case id != "":
		a.TokenID = id
		return nil
	case token != "native":
		return d.readToken(a, token)
	case known && a.decimals >= 0 && a.decimals != said.Decimals:
		return fmt.Errorf("the native asset of %s has %d decimals", a.Chain, said.Decimals)
	}
	if known {
		a.decimals = said.Decimals
	}
	return nil
}

func (v *vocabulary) readNetwork(n source.Node) string {
	text := n.Text("chain")
	if !v.networks.MatchString(text) {
		n.Fail("chain %q: expected %s", shorten(text), v.examples())
		return ""
	}
	return text
}

func (d *definitions) readToken(a *asset, text string) error {
	token, err := d.words.readAddress(text)
	switch {
	case err != nil:
		return err
	case token.words.Namespace != namespaceOf(a.Chain):
		return fmt.Errorf("%s is an address of %s, not of %s", shorten(text), token.words.Namespace, a.Chain)
	case a.decimals < 0:
		return errors.New("decimals is missing: it is not looked up")
	}
	a.Token = token.party()
	return nil
}

// asset returns the asset of the file that n names.
func (d *definitions) asset(n source.Node) *asset {
	name := n.Text("asset")
	named, ok := d.assets[name]
	if !ok {
		n.Fail("%s", source.Meant("there is no asset "+shorten(name), name, sortedKeys(d.assets)))
		return nil
	}
	named.used = true
	return named
}

func (f *draft) limit(name string) (*limit, error) {
	l, ok := f.limits[name]
	if !ok {
		return nil, errors.New(source.Meant("there is no limit "+shorten(name), name, sortedKeys(f.limits)))
	}
	return l, nil
}

var (
	ruleName  = plaintext.NewPattern(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	valueName = plaintext.NewPattern(`^[a-z][a-z0-9_]{0,63}$`)
)

// parsePrices reads a price file:
//
//	{"schema": "countersign.prices/1", "currency": "usd", "time": "2026-11-23T09:00:00Z", "prices": [
//	  {"chain": "eip155:1", "token": "native", "decimals": 18, "price": "3012.25"}]}
func (d *definitions) parsePrices(p *priceList, content []byte) error {
	p.digest, p.quotes = sha256.Sum256(content), map[string]*quote{}
	var schema, currency, at string
	if err := strictjson.Read(content, "the price file",
		strictjson.Required("schema", &schema).AtMost(64),
		strictjson.Required("currency", &currency).AtMost(16),
		strictjson.Required("time", &at).AtMost(64),
		strictjson.Required("prices", func(r *strictjson.Reader) error {
			return r.Array(func(r *strictjson.Reader) error { return d.readQuote(p, r) })
		}),
	); err != nil {
		return err
	}
	var err error
	switch p.at, err = time.Parse(time.RFC3339, at); {
	case schema != pricesSchema:
		return fmt.Errorf("the price file has the schema %s: this version reads %s", shorten(schema), pricesSchema)
	case currency != p.currency: // with prices in another, each limit and condition is of another size
		return fmt.Errorf("the price file is in %q, not in %s", currency, p.currency)
	case err != nil:
		return fmt.Errorf("the price file has the time %q: expected one such as 2026-11-23T09:00:00Z", shorten(at))
	}
	return nil
}

func (d *definitions) readQuote(p *priceList, r *strictjson.Reader) error {
	a, token, id, price := &asset{}, "", "", ""
	err := r.Object(
		strictjson.Required("chain", &a.Chain).AtMost(64),
		strictjson.Optional("token", &token).AtMost(128),
		strictjson.Optional("id", &id).AtMost(128),
		strictjson.Required("decimals", &a.decimals),
		strictjson.Required("price", &price).AtMost(96),
	)
	if err != nil {
		return err
	}
	fail := func(err error) error { return fmt.Errorf("price %d: %w", len(p.quotes), err) }
	switch {
	case len(p.quotes) == maxPrices:
		return fmt.Errorf("more than %d prices", maxPrices)
	case !d.words.networks.MatchString(a.Chain):
		return fail(fmt.Errorf("chain %q: expected %s", shorten(a.Chain), d.words.examples()))
	case a.decimals < 0 || a.decimals > maxDecimals:
		return fail(fmt.Errorf("decimals: expected 0 to %d", maxDecimals))
	}
	if err := d.identify(a, token, id); err != nil {
		return fail(err)
	}
	of := &quote{Asset: a.Asset, decimals: a.decimals}
	if of.price, err = parsePrice(price); err != nil {
		return fail(err)
	}
	key := identity(a.Asset)
	if p.quotes[key] != nil {
		return fail(fmt.Errorf("%s has two prices", a))
	}
	p.quotes[key] = of
	return d.checkDecimals(of)
}

// checkDecimals refuses decimals of an asset that are not those of the policy, or of the chain:
// with other decimals, a value is a power of ten too low.
func (d *definitions) checkDecimals(of *quote) error {
	_, decimals, known := chains.TokenOf(of.Asset, nil)
	if name, named := d.assetNames[identity(of.Asset)]; named && d.assets[name].decimals >= 0 {
		decimals, known = d.assets[name].decimals, true
	}
	if known && decimals != of.decimals {
		return fmt.Errorf("the price of %s has %d decimals, and it has %d", assetText(of.Asset), of.decimals, decimals)
	}
	return nil
}
