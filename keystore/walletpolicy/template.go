package walletpolicy

import (
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

// tree is a leaf, or two trees.
type tree struct {
	leaf        *multi
	left, right *tree
}

// template is a descriptor template.
type template struct {
	text     string // in its only form
	form     form
	keys     []key    // of all scripts, in their order
	scripts  []*multi // all of them
	multi    *multi   // unless it is tr
	internal key      // of tr
	tree     *tree    // of tr
}

// parser reads a template from left to right.
type parser struct {
	text   string // what is left
	whole  string
	next   int // the placeholder that has not appeared yet
	leaves int

	keys    []key // so far
	scripts []*multi
}

func parseTemplate(text string) (*template, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(text), maxText)
	}
	p := &parser{text: text, whole: text}
	t, err := p.template()
	if err == nil && p.text != "" {
		err = p.errorf("nothing more is expected after the closing parenthesis")
	}
	if err != nil {
		return nil, err
	}
	// Everything else has one form.
	t.text, t.keys, t.scripts = strings.ReplaceAll(text, "/<0;1>/*", "/**"), p.keys, p.scripts
	return t, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %s", len(p.whole)-len(p.text), fmt.Sprintf(format, args...))
}

// take drops a prefix if the text has it.
func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.text, prefix)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *parser) expect(token string) error {
	if !p.take(token) {
		return p.errorf("expected %q", token)
	}
	return nil
}

func (p *parser) template() (*template, error) {
	switch {
	case p.take("wsh("):
		return p.wrapped(formWSH, 1)
	case p.take("sh(wsh("):
		return p.wrapped(formShWSH, 2)
	case p.take("sh(wpkh("), p.take("pkh("), p.take("wpkh("):
		return nil, errOneKey
	case p.take("sh("):
		return p.wrapped(formSH, 1)
	case p.take("tr("):
		return p.taproot()
	}
	return nil, p.refuse()
}

var errOneKey = fmt.Errorf("a wallet of one key is not registered: its addresses follow from the key, see " +
	"'countersign keys show --xpub'")

// wrapped reads the multisig script within wsh or sh.
func (p *parser) wrapped(form form, closing int) (*template, error) {
	m, err := p.multi("multi(", "sortedmulti(")
	if err != nil {
		return nil, err
	}
	if form == formSH && len(m.keys) > 15 {
		return nil, p.errorf("%d keys in sh: a redeem script has room for 15", len(m.keys))
	}
	return &template{form: form, multi: m}, p.expect(strings.Repeat(")", closing))
}

func (p *parser) taproot() (t *template, err error) {
	t = &template{form: formTR}
	if t.internal, err = p.key(); err != nil {
		return nil, err
	}
	if p.take(")") {
		return nil, errOneKey
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	if t.tree, err = p.tree(0); err != nil {
		return nil, err
	}
	return t, p.expect(")")
}

func (p *parser) tree(depth int) (t *tree, err error) {
	if depth > maxDepth {
		return nil, p.errorf("a tree of more than %d levels", maxDepth)
	}
	t = &tree{}
	if !p.take("{") {
		if p.leaves++; p.leaves > maxLeaves {
			return nil, p.errorf("more than %d leaves", maxLeaves)
		}
		t.leaf, err = p.multi("multi_a(", "sortedmulti_a(")
		return t, err
	}
	if t.left, err = p.tree(depth + 1); err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	if t.right, err = p.tree(depth + 1); err != nil {
		return nil, err
	}
	return t, p.expect("}")
}

func (p *parser) multi(plain, sorted string) (m *multi, err error) {
	m = &multi{}
	if m.sorted = p.take(sorted); !m.sorted && !p.take(plain) {
		return nil, p.refuse()
	}
	number, err := p.number(maxKeys)
	if err != nil {
		return nil, err
	}
	m.k = int(number)
	for p.take(",") {
		k, err := p.key()
		if err != nil {
			return nil, err
		}
		if m.keys = append(m.keys, k); len(m.keys) > maxKeys {
			return nil, p.errorf("more than %d keys", maxKeys)
		}
	}
	if m.k < 1 || m.k > len(m.keys) {
		return nil, p.errorf("%d of %d keys: the threshold is from 1 to the number of keys", m.k, len(m.keys))
	}
	p.scripts = append(p.scripts, m)
	return m, p.expect(")")
}

// key reads @i/** or @i/<m;n>/*.
func (p *parser) key() (k key, err error) {
	if strings.HasPrefix(p.text, "musig(") {
		return k, p.refuse()
	}
	if !p.take("@") {
		return k, p.errorf("expected a key placeholder such as @0/**, or in a descriptor an extended public key, " +
			"xpub… or tpub…")
	}
	item, err := p.number(maxKeys - 1)
	if err != nil {
		return k, err
	}
	if k.item = int(item); k.item > p.next {
		return k, p.errorf("@%d appears before @%d", k.item, p.next)
	}
	p.next = max(p.next, k.item+1)
	if k.branch, err = p.branches(); err != nil {
		return k, err
	}
	for _, other := range p.keys {
		for _, step := range k.branch {
			if other.item == k.item && (step == other.branch[0] || step == other.branch[1]) {
				return k, p.errorf("@%d/%d appears twice: a key must not", k.item, step)
			}
		}
	}
	p.keys = append(p.keys, k)
	return k, nil
}

func (p *parser) branches() (branch [2]uint32, err error) {
	if p.take("/**") {
		return [2]uint32{0, 1}, nil
	}
	if err := p.expect("/<"); err != nil {
		return branch, p.errorf("expected /** or /<0;1>/* after the key")
	}
	if branch[0], err = p.number(1<<31 - 1); err != nil {
		return branch, err
	}
	if err := p.expect(";"); err != nil {
		return branch, err
	}
	if branch[1], err = p.number(1<<31 - 1); err != nil {
		return branch, err
	}
	if branch[0] == branch[1] {
		return branch, p.errorf("the branches of receiving and of change are the same")
	}
	return branch, p.expect(">/*")
}

// number reads a decimal number without leading zeros.
func (p *parser) number(most uint32) (uint32, error) {
	end := 0
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	value, err := strconv.ParseUint(p.text[:end], 10, 32)
	if err != nil || value > uint64(most) || end > 1 && p.text[0] == '0' {
		return 0, p.errorf("expected a number of at most %d, without leading zeros", most)
	}
	p.text = p.text[end:]
	return uint32(value), nil
}

// refuse returns the error about a fragment that is not taken, by its name.
func (p *parser) refuse() error {
	name, _, found := strings.Cut(p.text, "(")
	switch {
	case !found || strings.ContainsAny(name, ",)@/{}") || len(name) > 32:
		return p.errorf("expected wsh, sh or tr with multi, sortedmulti, multi_a or sortedmulti_a")
	case name == "musig":
		return p.errorf("musig is not taken: MuSig2 signatures are not made here")
	}
	return p.errorf("%s is not taken here: of scripts, only multi and sortedmulti in wsh and sh, and multi_a and "+
		"sortedmulti_a in tr are; miniscript is not", name)
}
