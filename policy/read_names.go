package policy

import (
	"errors"
	"fmt"
	"github.com/countersign-dev/countersign/internal/source"
	"slices"
	"strings"
)

// checkName refuses names of lists and assets that expressions cannot use, or that
// people can mistake for another name.
func (c *compiler) checkName(entry source.Entry, what string) bool {
	_, variable := variables()[entry.Name]
	_, listed := c.lists[entry.Name]
	_, isUnit := words().units[entry.Name]
	_, isLiteral := words().literals[entry.Name]
	like, confusable := c.confusable(entry.Name)
	refuse := func(message string, args ...any) bool {
		entry.FailName("%s %s: %s", what, shorten(entry.Name), fmt.Sprintf(message, args...))
		c.misnamed = true
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
func (c *compiler) confusable(name string) (like string, ok bool) {
	if c.skeletons == nil {
		c.skeletons = map[string]string{}
		for _, known := range append(sortedKeys(words().units), sortedKeys(variables())...) {
			c.skeletons[lookAlikes.Replace(known)] = known
		}
	}
	skeleton := lookAlikes.Replace(name)
	if like, ok = c.skeletons[skeleton]; ok {
		return like, like != name
	}
	c.skeletons[skeleton] = name
	return "", false
}

// reservedWords are keywords of CEL, its types, and functions of expressions.
var reservedWords = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	"has", "all", "exists", "filter", "size", "contains", "total",
	"bool", "bytes", "double", "dyn", "int", "list", "string", "type", "uint", "duration"}

func (c *compiler) readList(entry source.Entry) {
	if !c.checkName(entry, "list") {
		return
	}
	l, before := &list{place: entry.NameAt}, c.problems.Errors()
	seen, anyChain, wallets := map[string]bool{}, false, 0
	addresses := entry.Node
	if addresses.IsMapping() {
		entry.Fields("list "+entry.Name, map[string]func(source.Node){
			"addresses": func(n source.Node) { addresses = n },
			"any_chain": func(n source.Node) { anyChain = n.Boolean("any_chain") },
			"shared":    func(n source.Node) { l.shared = n.Boolean("shared") },
		})
	}
	for _, item := range addresses.Items("list " + entry.Name) {
		read, err := words().readAddress(item.Text("address"))
		switch {
		case err != nil:
			item.Fail("%v", err)
			continue
		case seen[read.key()]:
			item.Fail("%s is in this list twice", read)
		}
		if words().holdsTokensApart(read.namespace) {
			wallets++
		}
		seen[read.key()] = true
		l.addresses = append(l.addresses, read)
	}
	if wallets > maxWallets {
		entry.Fail("%d Solana addresses, a list has at most %d", wallets, maxWallets)
	}
	if len(l.addresses) == 0 && c.problems.Errors() == before {
		entry.Fail("list %s is empty", entry.Name)
	}
	l.value = newAddressList(l.addresses, anyChain)
	c.lists[entry.Name] = l
}

func (c *compiler) readAsset(entry source.Entry) {
	if !c.checkName(entry, "asset") {
		return
	}
	a, before := &asset{name: entry.Name, decimals: -1, place: entry.NameAt}, c.problems.Errors()
	var token, id string
	entry.Fields("asset "+entry.Name, map[string]func(source.Node){
		"chain":    func(n source.Node) { a.Chain = readChainID(n) },
		"token":    func(n source.Node) { token = n.Text("token") },
		"id":       func(n source.Node) { id = n.Text("id") },
		"decimals": func(n source.Node) { a.decimals = n.Integer("decimals", 0, maxDecimals) },
		"standard": func(n source.Node) { a.Standard = n.Text("standard") },
	})
	c.assets[entry.Name] = a
	if c.problems.Errors() > before {
		return
	}
	if err := a.identify(token, id); err != nil {
		entry.FailName("asset %s: %v", entry.Name, err)
		return
	}
	// Two names for one asset could have different decimals.
	identity := a.Chain + "\x00" + a.TokenID
	if !a.Token.IsNone() {
		identity += "\x00" + string(a.Token.Address())
	}
	if other, twice := c.assetNames[identity]; twice {
		entry.FailName("asset %s: %s is already this asset", entry.Name, other)
	}
	c.assetNames[identity] = entry.Name
}

// identify sets the token of an asset, or its id, or the decimals of a native asset.
func (a *asset) identify(token, id string) error {
	said, known := words().namespaces[namespaceOf(a.Chain)]
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
		return a.readToken(token)
	case known && a.decimals >= 0 && a.decimals != said.Decimals:
		return fmt.Errorf("the native asset of %s has %d decimals", a.Chain, said.Decimals)
	}
	a.decimals = said.Decimals
	return nil
}

func readChainID(n source.Node) string {
	text := n.Text("chain")
	if !words().networks.MatchString(text) {
		n.Fail("chain %q: expected %s", shorten(text), words().examples())
		return ""
	}
	return text
}

func (a *asset) readToken(text string) error {
	token, err := words().readAddress(text)
	switch {
	case err != nil:
		return err
	case token.namespace != namespaceOf(a.Chain):
		return fmt.Errorf("%s is an address of %s, not of %s", shorten(text), token.namespace, a.Chain)
	case a.decimals < 0:
		return errors.New("decimals is missing: it is not looked up")
	}
	a.Token = token.party()
	return nil
}

// asset returns the asset of the file that n names.
func (c *compiler) asset(n source.Node) *asset {
	name := n.Text("asset")
	named, ok := c.assets[name]
	if !ok {
		n.Fail("%s", source.Meant("there is no asset "+shorten(name), name, sortedKeys(c.assets)))
		return nil
	}
	named.used = true
	return named
}
