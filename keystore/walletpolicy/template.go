package walletpolicy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a policy.
const (
	maxKeys   = 16      // in a policy, and in one of its scripts
	maxText   = 1 << 13 // bytes of a template
	maxLeaves = 16      // of a tree
	maxDepth  = 8       // of a tree

	// MaxIndex is the highest index of an address: beyond it, a wallet would not find its
	// money again by searching.
	MaxIndex = 1_000_000
)

// form is how the script of a wallet is wrapped.
type form uint8

const (
	formWSH   form = iota + 1 // wsh(M)
	formShWSH                 // sh(wsh(M))
	formSH                    // sh(M)
	formTR                    // tr(KEY,TREE)
)

// key is a KEY expression: the child keys of a key information item.
type key struct {
	item   int       // index of the item
	branch [2]uint32 // the steps for receiving and for change
}

// multi is k of some keys, in their order or sorted.
type multi struct {
	k      int
	keys   []key
	sorted bool
}

type tree struct {
	leaf        *multi
	left, right *tree
}

type template struct {
	text     string // in its only form
	form     form
	keys     []key    // of all scripts, in their order
	scripts  []*multi // all of them
	multi    *multi   // unless it is tr
	internal key      // of tr
	tree     *tree    // of tr
}

// parser reads a template from left to right, up to its first error.
type parser struct {
	text   string // what is left; empty after an error
	whole  string
	next   int // the placeholder that has not appeared yet
	leaves int
	err    error

	keys    []key // so far
	scripts []*multi
}

func parseTemplate(text string) (*template, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(text), maxText)
	}
	p := &parser{text: text, whole: text}
	t := p.template()
	if p.text != "" {
		p.failf("nothing more is expected after the closing parenthesis")
	}
	if p.err != nil {
		return nil, p.err
	}
	// Everything else has one form.
	t.text, t.keys, t.scripts = strings.ReplaceAll(text, "/<0;1>/*", "/**"), p.keys, p.scripts
	return t, nil
}

func (p *parser) fail(err error) {
	p.err = cmp.Or(p.err, err)
	p.text = ""
}

func (p *parser) failf(format string, args ...any) {
	p.fail(fmt.Errorf("at byte %d: %s", len(p.whole)-len(p.text), fmt.Sprintf(format, args...)))
}

func (p *parser) take(prefix string) (ok bool) {
	p.text, ok = strings.CutPrefix(p.text, prefix)
	return ok
}

func (p *parser) expect(token string) {
	if !p.take(token) {
		p.failf("expected %q", token)
	}
}

func (p *parser) template() *template {
	switch {
	case p.take("wsh("):
		return p.wrapped(formWSH, ")")
	case p.take("sh(wsh("):
		return p.wrapped(formShWSH, "))")
	case p.take("sh(wpkh("), p.take("pkh("), p.take("wpkh("):
		p.fail(errOneKey)
	case p.take("sh("):
		return p.wrapped(formSH, ")")
	case p.take("tr("):
		return p.taproot()
	default:
		p.refuse()
	}
	return nil
}

var errOneKey = fmt.Errorf("a wallet of one key is not registered: its addresses follow from the key, see " +
	"'countersign keys show --xpub'")

// wrapped reads the multisig script within wsh or sh.
func (p *parser) wrapped(form form, closing string) *template {
	m := p.multi("multi(", "sortedmulti(")
	if form == formSH && len(m.keys) > 15 {
		p.failf("%d keys in sh: a redeem script has room for 15", len(m.keys))
	}
	p.expect(closing)
	return &template{form: form, multi: m}
}

func (p *parser) taproot() *template {
	t := &template{form: formTR, internal: p.key()}
	if p.take(")") {
		p.fail(errOneKey)
	}
	p.expect(",")
	t.tree = p.tree(0)
	p.expect(")")
	return t
}

func (p *parser) tree(depth int) *tree {
	if depth > maxDepth {
		p.failf("a tree of more than %d levels", maxDepth)
	}
	if !p.take("{") {
		if p.leaves++; p.leaves > maxLeaves {
			p.failf("more than %d leaves", maxLeaves)
		}
		return &tree{leaf: p.multi("multi_a(", "sortedmulti_a(")}
	}
	t := &tree{left: p.tree(depth + 1)}
	p.expect(",")
	t.right = p.tree(depth + 1)
	p.expect("}")
	return t
}

func (p *parser) multi(plain, sorted string) *multi {
	m := &multi{}
	if m.sorted = p.take(sorted); !m.sorted && !p.take(plain) {
		p.refuse()
	}
	m.k = int(p.number(maxKeys))
	for p.take(",") {
		if m.keys = append(m.keys, p.key()); len(m.keys) > maxKeys {
			p.failf("more than %d keys", maxKeys)
		}
	}
	if m.k < 1 || m.k > len(m.keys) {
		p.failf("%d of %d keys: the threshold is from 1 to the number of keys", m.k, len(m.keys))
	}
	p.scripts = append(p.scripts, m)
	p.expect(")")
	return m
}

// key reads @i/** or @i/<m;n>/*.
func (p *parser) key() (k key) {
	if strings.HasPrefix(p.text, "musig(") {
		p.refuse()
	}
	if !p.take("@") {
		p.failf("expected a key placeholder such as @0/**, or in a descriptor an extended public key, " +
			"xpub… or tpub…")
	}
	if k.item = int(p.number(maxKeys - 1)); k.item > p.next {
		p.failf("@%d appears before @%d", k.item, p.next)
	}
	p.next = max(p.next, k.item+1)
	k.branch = p.branches()
	for _, other := range p.keys {
		for _, step := range k.branch {
			if other.item == k.item && (step == other.branch[0] || step == other.branch[1]) {
				p.failf("@%d/%d appears twice: a key must not", k.item, step)
			}
		}
	}
	p.keys = append(p.keys, k)
	return k
}

func (p *parser) branches() (branch [2]uint32) {
	if p.take("/**") {
		return [2]uint32{0, 1}
	}
	if !p.take("/<") {
		p.failf("expected /** or /<0;1>/* after the key")
	}
	branch[0] = p.number(1<<31 - 1)
	p.expect(";")
	if branch[1] = p.number(1<<31 - 1); branch[0] == branch[1] {
		p.failf("the branches of receiving and of change are the same")
	}
	p.expect(">/*")
	return branch
}

// number reads a decimal number without leading zeros.
func (p *parser) number(most uint32) uint32 {
	end := 0
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	value, err := strconv.ParseUint(p.text[:end], 10, 32)
	if err != nil || value > uint64(most) || end > 1 && p.text[0] == '0' {
		p.failf("expected a number of at most %d, without leading zeros", most)
		return 0
	}
	p.text = p.text[end:]
	return uint32(value)
}

// refuse fails on a fragment that is not taken, by its name.
func (p *parser) refuse() {
	name, _, found := strings.Cut(p.text, "(")
	switch {
	case !found || strings.ContainsAny(name, ",)@/{}") || len(name) > 32:
		p.failf("expected wsh, sh or tr with multi, sortedmulti, multi_a or sortedmulti_a")
	case name == "musig":
		p.failf("musig is not taken: MuSig2 signatures are not made here")
	default:
		p.failf("%s is not taken here: of scripts, only multi and sortedmulti in wsh and sh, and multi_a and "+
			"sortedmulti_a in tr are; miniscript is not", name)
	}
}
