package walletpolicy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// identify sets p.scripts: for each branch the digest of what its scripts follow from, which is
// their form, their thresholds, and the keys that theirs are children of. Neither the order of
// the keys of a script counts nor that of the parts of a tree, so that policies with a script in
// common have a digest in common.
func (p *Policy) identify() {
	for branch := range p.scripts {
		text := fmt.Sprint(p.template.form)
		if p.template.form == formTR {
			text += p.parent(p.template.internal, branch) + p.treeText(p.template.tree, branch)
		} else {
			text += p.multiText(p.template.multi, branch)
		}
		p.scripts[branch] = sha256.Sum256([]byte(text))
	}
	slices.SortFunc(p.scripts[:], func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
}

// parent returns the key that the keys of an expression are children of, with its chain code.
func (p *Policy) parent(k key, branch int) string {
	node := p.items[k.item].branches[k.branch[branch]]
	public, _ := node.ECPubKey() // it was derived
	return fmt.Sprintf(" %x/%x", public.SerializeCompressed(), node.ChainCode())
}

func (p *Policy) multiText(m *multi, branch int) string {
	keys := make([]string, len(m.keys))
	for i, k := range m.keys {
		keys[i] = p.parent(k, branch)
	}
	slices.Sort(keys)
	return fmt.Sprintf("(%d%s)", m.k, strings.Join(keys, ""))
}

func (p *Policy) treeText(t *tree, branch int) string {
	if t.leaf != nil {
		return p.multiText(t.leaf, branch)
	}
	parts := []string{p.treeText(t.left, branch), p.treeText(t.right, branch)}
	slices.Sort(parts)
	return "{" + strings.Join(parts, "") + "}"
}

// Identity implements keystore.RegisteredWallet.
func (p *Policy) Identity() [32]byte {
	return sha256.Sum256(slices.Concat(p.scripts[0][:], p.scripts[1][:]))
}

// CheckNew refuses a policy that has scripts in common with one of another name: a wallet is its
// scripts, and under two names it would have two rules and two limits.
func CheckNew(policy, other *Policy) error {
	shares := slices.ContainsFunc(policy.scripts[:], func(digest [32]byte) bool { return slices.Contains(other.scripts[:], digest) })
	if shares && policy.name != other.name {
		return fmt.Errorf("%w: it is the registered wallet %q under another name, or with its keys in another order: use that one, or remove it first", ErrPolicy, other.name)
	}
	return nil
}
