package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// checkName refuses a name of a list or asset that expressions cannot use, or that a
// reader takes for another.
func (c *compiler) checkName(one entry, what string) bool {
	_, variable := variables()[one.name]
	_, listed := c.lists[one.name]
	_, isUnit := unitNames[one.name]
	like, looks := c.looksLike(one.name)
	refuse := func(message string, args ...any) bool {
		c.problems.add(one.at, "", "%s %s: %s", what, shorten(one.name), fmt.Sprintf(message, args...))
		c.misnamed = true
		return false
	}
	switch {
	case !valueName.MatchString(one.name):
		return refuse("a name is a lower-case letter, then letters, digits and _")
	case isUnit:
		return refuse("this name is a unit, as in %s('1'): give it another, such as my_%s", one.name, one.name)
	case variable || literalFunctions[one.name] || slices.Contains(reservedWords, one.name):
		return refuse("this name means something else in conditions: give it another, such as my_%s", one.name)
	case listed:
		return refuse("a list has this name")
	case looks:
		return refuse("it looks like %s: give it a name that cannot be taken for another", like)
	}
	return true
}

// lookAlikes are letters that a reader takes for others.
var lookAlikes = strings.NewReplacer("1", "l", "0", "o", "rn", "m", "vv", "w")

// looksLike returns the unit, variable, list or asset that a name can be taken for. It
// notes a name that looks like none.
func (c *compiler) looksLike(name string) (like string, looks bool) {
	if c.seen == nil {
		c.seen = map[string]string{}
		for _, known := range append(sortedKeys(unitNames), sortedKeys(variables())...) {
			c.seen[lookAlikes.Replace(known)] = known
		}
	}
	seen := lookAlikes.Replace(name)
	if like, looks = c.seen[seen]; looks {
		return like, like != name
	}
	c.seen[seen] = name
	return "", false
}

// reservedWords cannot be names in CEL, or are functions here.
var reservedWords = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	"has", "all", "exists", "filter", "size", "contains", "total",
	"bool", "bytes", "double", "dyn", "int", "list", "string", "type", "uint", "duration"}

func (c *compiler) readList(one entry) {
	if !c.checkName(one, "list") {
		return
	}
	made := &list{at: one.at}
	seen := map[string]bool{}
	wallets := 0
	for _, item := range one.items("list " + one.name) {
		read, err := parseAddress(item.text("address"))
		switch {
		case err != nil:
			item.fail("%v", err)
			continue
		case seen[read.key()]:
			item.fail("%s is in this list twice", read)
		}
		if read.namespace == "solana" {
			wallets++
		}
		seen[read.key()] = true
		made.addresses = append(made.addresses, read)
	}
	if wallets > MaxSolanaWallets {
		one.fail("%d addresses of Solana, a list has at most %d", wallets, MaxSolanaWallets)
	}
	if len(made.addresses) == 0 {
		one.fail("list %s is empty: nothing is in it", one.name)
	}
	made.value = newAddressList(made.addresses)
	c.lists[one.name] = made
}

func (c *compiler) readAsset(one entry) {
	if !c.checkName(one, "asset") {
		return
	}
	made := &asset{decimals: -1}
	var token, id string
	one.fields("asset "+one.name, map[string]func(node){
		"chain":    func(n node) { made.Chain = c.readChainID(n) },
		"token":    func(n node) { token = n.text("token") },
		"id":       func(n node) { id = n.text("id") },
		"decimals": func(n node) { made.decimals = n.integer("decimals", 0, maxDecimals) },
		"standard": func(n node) { made.Standard = n.text("standard") },
	})
	c.assets[one.name], c.assetAt[one.name] = made, one.at
	found := len(c.problems.list)
	c.identify(one, made, token, id)
	if len(c.problems.list) == found {
		c.checkTwice(one, made)
	}
}

// identify says of what an asset is.
func (c *compiler) identify(one entry, made *asset, token, id string) {
	switch native, known := nativeDecimals[namespaceOf(made.Chain)]; {
	case made.Chain == "":
		c.problems.add(one.at, "", "asset %s: chain is missing, such as eip155:1, solana, tron or bip122", one.name)
	case token == "" && id == "":
		c.problems.add(one.at, "", "asset %s: token is missing: an address, or native", one.name)
	case token != "" && id != "":
		c.problems.add(one.at, "", "asset %s: it has a token or an id, not both: id is of assets without a contract, such as TRC-10", one.name)
	case token == "native" && known && made.decimals >= 0 && made.decimals != native:
		c.problems.add(one.at, "", "asset %s: the native asset of %s has %d decimals", one.name, made.Chain, native)
	case token == "native":
		made.decimals = native
	case id != "" && token == "":
		made.TokenID = id
	default:
		c.readToken(one, made, token)
	}
}

// checkTwice refuses an asset that has a name already: amounts of both, perhaps with
// other decimals, would be of one thing.
func (c *compiler) checkTwice(one entry, made *asset) {
	identity := made.Chain + "\x00" + made.TokenID
	if !made.Token.IsNone() {
		identity += "\x00" + string(made.Token.Address())
	}
	if other, twice := c.assetNames[identity]; twice {
		c.problems.add(one.at, "", "asset %s: %s is this asset already", one.name, other)
	}
	c.assetNames[identity] = one.name
}

// nativeDecimals are those of the native assets of the namespaces.
var nativeDecimals = map[string]int{"eip155": 18, "solana": 9, "tron": 6, "bip122": 8}

var chainID = regexp.MustCompile(`^(eip155:[1-9][0-9]{0,19}|solana|tron|bip122)$`)

func (c *compiler) readChainID(n node) string {
	text := n.text("chain")
	if !chainID.MatchString(text) {
		n.fail("chain %q: eip155: and a chain id, solana, tron or bip122 is expected", shorten(text))
		return ""
	}
	return text
}

func (c *compiler) readToken(one entry, made *asset, text string) {
	read, err := parseAddress(text)
	if err == nil && read.namespace != namespaceOf(made.Chain) {
		err = fmt.Errorf("%s is an address of %s, not of %s", shorten(text), read.namespace, made.Chain)
	}
	if err == nil && made.decimals < 0 {
		err = errors.New("decimals is missing: no node is asked")
	}
	if err != nil {
		c.problems.add(one.at, "", "asset %s: %v", one.name, err)
		return
	}
	made.Token = chains.PartyWritten([]byte(read.bytes), read.text)
}

// asset returns an asset of the file by its name.
func (c *compiler) asset(n node) *asset {
	name := n.text("asset")
	found, ok := c.assets[name]
	if !ok {
		n.fail("%s", meant("there is no asset "+shorten(name), name, sortedKeys(c.assets)))
		return nil
	}
	c.usedAssets[name] = true
	return found
}
