package walletpolicy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// ErrPolicy says that something is not a wallet policy, or not one that is taken.
var ErrPolicy = errors.New("wallet policy")

// Policy is a wallet policy. It is immutable and safe for concurrent use.
type Policy struct {
	name     string
	template *template
	items    []item
	digest   [32]byte
	first    [2][]byte // the scripts of the first addresses, sorted
}

var _ keystore.RegisteredWallet = (*Policy)(nil)

// item is a key information item: an extended public key and its origin.
type item struct {
	text        string
	fingerprint [4]byte // of the master key, or of the key itself if it has no origin
	path        wallet.Path
	node        *hdkeychain.ExtendedKey
	public      [33]byte
	test        bool                               // tpub
	branches    map[uint32]*hdkeychain.ExtendedKey // by step
}

// Key describes a key of a policy, for people who compare it.
type Key struct {
	Placeholder string // such as @0
	Text        string // [fingerprint/path]xpub…
	Fingerprint [4]byte
	Path        wallet.Path // from the master key; empty without an origin
	XPub        string
	Public      [33]byte // compressed
	Chain       [32]byte // chain code

	// SpendsAlone is set if the key can spend alone: it is the internal key of tr, and not
	// the point of BIP-341 that has no secret.
	SpendsAlone bool
}

// MaxName is the longest name of a wallet, in bytes.
const MaxName = 64

// New reads a policy: its name, which people give it, its descriptor template, and its keys in
// the order of their placeholders. Errors wrap ErrPolicy.
func New(name, descriptorTemplate string, keys []string) (*Policy, error) {
	p, err := newPolicy(name, descriptorTemplate, keys)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return p, nil
}

func newPolicy(name, descriptorTemplate string, keys []string) (*Policy, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	t, err := parseTemplate(descriptorTemplate)
	if err != nil {
		return nil, fmt.Errorf("descriptor template: %w", err)
	}
	p := &Policy{name: name, template: t}
	for i, text := range keys {
		item, err := parseItem(text, t.form)
		if err != nil {
			return nil, fmt.Errorf("key @%d: %w", i, err)
		}
		for j := range p.items {
			switch other := &p.items[j]; {
			case other.public == item.public:
				return nil, fmt.Errorf("key @%d is key @%d again: the keys must differ", i, j)
			case other.test != item.test:
				return nil, fmt.Errorf("key @%d is of another network than key @%d: all are xpub…, or all tpub…", i, j)
			}
		}
		p.items = append(p.items, *item)
	}
	if err := p.derive(); err != nil {
		return nil, err
	}
	p.digest = sha256.Sum256([]byte(p.Canonical()))
	for i, change := range []bool{false, true} {
		if p.first[i], err = p.Script(change, 0); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.first[:], bytes.Compare)
	return p, nil
}

// checkName refuses names that people could mistake, or that are not a line of text.
func checkName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("the name has %d bytes: it needs 1 to %d", len(name), MaxName)
	}
	for _, r := range name {
		if r < ' ' || r > '~' || strings.ContainsRune("/\\\"'`", r) {
			return fmt.Errorf("the name has the character %q: letters, digits, spaces and most marks of ASCII can "+
				"be in it", r)
		}
	}
	if strings.TrimSpace(name) != name || name[0] == '.' {
		return errors.New("the name begins or ends with a space, or begins with a dot")
	}
	return nil
}

// derive derives the keys that the addresses of each branch are children of.
func (p *Policy) derive() error {
	named := map[int]bool{}
	for _, k := range p.template.keys {
		if k.item >= len(p.items) {
			return fmt.Errorf("the template names @%d, but there are %d keys", k.item, len(p.items))
		}
		named[k.item] = true
		for _, step := range k.branch {
			node, err := p.items[k.item].node.Derive(step)
			if err != nil {
				return fmt.Errorf("key @%d/%d: %w", k.item, step, err)
			}
			p.items[k.item].branches[step] = node
		}
	}
	if len(named) < len(p.items) {
		return fmt.Errorf("the template names %d of %d keys: it must name each", len(named), len(p.items))
	}
	return nil
}

// parseItem reads [fingerprint/path]xpub…. In the origin, hex digits of both cases are read, and H
// as h (BIP-380).
func parseItem(text string, form form) (_ *item, err error) {
	parsed := &item{text: text, branches: map[uint32]*hdkeychain.ExtendedKey{}}
	origin, rest := "", text
	if after, ok := strings.CutPrefix(text, "["); ok {
		if origin, rest, ok = strings.Cut(after, "]"); !ok {
			return nil, errors.New("its origin has no ]")
		}
	}
	if rest, err = plainXPub(rest, form); err != nil {
		return nil, err
	}
	node, err := parseXPub(rest)
	if err != nil {
		return nil, err
	}
	public, err := node.ECPubKey()
	if err != nil {
		return nil, err
	}
	parsed.node, parsed.test = node, node.IsForNet(&chaincfg.TestNet3Params)
	parsed.public = [33]byte(public.SerializeCompressed())
	if origin == "" {
		parsed.fingerprint = [4]byte(address.Hash160(parsed.public[:]))
		parsed.text = rest
		return parsed, nil
	}
	if parsed.fingerprint, parsed.path, err = wallet.ParseOrigin(strings.ToLower(origin)); err != nil {
		return nil, fmt.Errorf("origin: %w", err)
	}
	parsed.text = "[" + hex.EncodeToString(parsed.fingerprint[:]) + strings.TrimPrefix(parsed.path.String(), "m") +
		"]" + rest
	return parsed, nil
}

func parseXPub(text string) (*hdkeychain.ExtendedKey, error) {
	switch {
	case strings.HasPrefix(text, "xprv"), strings.HasPrefix(text, "tprv"):
		return nil, errors.New("it is private: give the public one, xpub… or tpub…")
	case !strings.HasPrefix(text, "xpub") && !strings.HasPrefix(text, "tpub"):
		return nil, errors.New("expected [fingerprint/path]xpub… or tpub…")
	}
	node, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		return nil, fmt.Errorf("not an extended public key: %w", err)
	}
	if node.IsPrivate() || node.String() != text {
		return nil, errors.New("not an extended public key in its only form")
	}
	return node, nil
}

func (p *Policy) Name() string { return p.name }

// Digest implements keystore.RegisteredWallet: the SHA-256 of Canonical.
func (p *Policy) Digest() [32]byte { return p.digest }

// Identity implements keystore.RegisteredWallet: it is of the scripts of the first addresses.
func (p *Policy) Identity() [32]byte { return sha256.Sum256(slices.Concat(p.first[:]...)) }

// CheckNew refuses a policy that has a first address in common with one of another name: a wallet is
// its scripts, and under two names it would have two rules and two limits.
func CheckNew(policy, other *Policy) error {
	shares := slices.ContainsFunc(policy.first[:], func(script []byte) bool {
		return slices.ContainsFunc(other.first[:], func(of []byte) bool { return bytes.Equal(of, script) })
	})
	if shares && policy.name != other.name {
		return fmt.Errorf("%w: it is the registered wallet %q under another name, perhaps with its keys in another "+
			"order: use that one, or remove it first", ErrPolicy, other.name)
	}
	return nil
}

// Template returns the descriptor template.
func (p *Policy) Template() string { return p.template.text }

// TestNetwork reports whether the keys are of a test network.
func (p *Policy) TestNetwork() bool { return p.items[0].test }

// Terms says in words who must sign.
func (p *Policy) Terms() string {
	var parts []string
	if p.template.form == formTR {
		if keys := p.Keys(); keys[p.template.internal.item].SpendsAlone {
			parts = append(parts, fmt.Sprintf("@%d alone", p.template.internal.item))
		}
	}
	for _, m := range p.template.scripts {
		parts = append(parts, fmt.Sprintf("%d of %d keys", m.k, len(m.keys)))
	}
	return strings.Join(parts, ", or ")
}

// Keys returns the keys in the order of their placeholders.
func (p *Policy) Keys() []Key {
	keys := make([]Key, len(p.items))
	for i := range p.items {
		item := &p.items[i]
		keys[i] = Key{
			Placeholder: fmt.Sprintf("@%d", i), Text: item.text, Fingerprint: item.fingerprint,
			Path: slices.Clone(item.path),
			XPub: item.node.String(), Public: item.public, Chain: [32]byte(item.node.ChainCode()),
		}
		keys[i].SpendsAlone = p.template.form == formTR && p.template.internal.item == i &&
			!bytes.Equal(item.public[1:], secp256k1.Unspendable[:])
	}
	return keys
}

func (p *Policy) Holds(hash [20]byte, branch, index uint32) (change, ok bool) {
	for _, k := range p.template.keys {
		at := slices.Index(k.branch[:], branch)
		if at < 0 || index > MaxIndex {
			continue
		}
		public, err := deriver{p, at, index}.public(k)
		if err == nil && bytes.Equal(address.Hash160(public), hash[:]) {
			return at == 1, true
		}
	}
	return false, false
}

func (p *Policy) Place(fingerprint [4]byte, path []uint32) (change bool, index uint32, ok bool) {
	for _, k := range p.template.keys {
		item := &p.items[k.item]
		depth := len(item.path)
		if item.fingerprint != fingerprint || len(path) != depth+2 || !slices.Equal(item.path, path[:depth]) ||
			path[depth+1] > MaxIndex {
			continue
		}
		for branch, step := range k.branch {
			if step == path[depth] {
				return branch == 1, path[depth+1], true
			}
		}
	}
	return false, 0, false
}
