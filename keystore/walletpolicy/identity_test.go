package walletpolicy_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/wallet"
	"github.com/countersign-dev/countersign/keystore/walletpolicy"
)

// accounts returns account keys with their origins, and the same without.
func accounts(t *testing.T, count int) (texts, bare []string) {
	t.Helper()
	path, err := wallet.ParsePath("m/48'/0'/0'/2'")
	testenv.Must(t, err)
	for i := range count {
		seed := sha256.Sum256([]byte{byte(i)})
		root, err := wallet.FromSeed(seed[:])
		testenv.Must(t, err)
		text, err := root.XPub(path)
		testenv.Must(t, err)
		texts, bare = append(texts, text), append(bare, text[strings.Index(text, "]")+1:])
	}
	return texts, bare
}

// TestIdentity: of every two policies, those that have a first address in common cannot both be
// registered, and those that have all in common have one identity, whatever their names, the order
// of their keys and what is said about the origins of these.
func TestIdentity(t *testing.T) {
	keys, bare := accounts(t, 3)
	policies, scripts := map[string]*walletpolicy.Policy{}, map[string][]string{}
	for _, form := range []string{
		"wsh(sortedmulti(2,@0/**,@1/**,@2/**))", "wsh(multi(2,@0/**,@1/**,@2/**))", "wsh(sortedmulti(1,@0/**,@1/**,@2/**))",
		"sh(wsh(sortedmulti(2,@0/**,@1/**,@2/**)))", "sh(sortedmulti(2,@0/**,@1/**,@2/**))",
		"wsh(sortedmulti(2,@0/<1;0>/*,@1/<1;0>/*,@2/<1;0>/*))", "wsh(sortedmulti(2,@0/<0;2>/*,@1/<0;2>/*,@2/<0;2>/*))",
		"wsh(sortedmulti(2,@0/<2;3>/*,@1/<2;3>/*,@2/<2;3>/*))",
		"tr(@0/**,sortedmulti_a(2,@1/**,@2/**))", "tr(@0/**,multi_a(2,@1/**,@2/**))",
		"tr(@0/**,{multi_a(1,@1/**),multi_a(1,@2/**)})", "tr(@0/**,{multi_a(1,@1/**),{multi_a(1,@2/**),multi_a(2,@1/<2;3>/*,@2/<2;3>/*)}})",
	} {
		for order, at := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}} {
			for origin, from := range [][]string{keys, bare} {
				name := fmt.Sprintf("%s in order %d, %d", form, order, origin)
				policy := newPolicy(t, fmt.Sprintf("w%d", len(policies)), form, []string{from[at[0]], from[at[1]], from[at[2]]})
				policies[name], scripts[name] = policy, firstScripts(t, policy)
			}
		}
	}
	same, apart := 0, 0
	for name, one := range policies {
		for otherName, other := range policies {
			if name >= otherName {
				continue
			}
			common, _ := overlap(scripts[name][:2], scripts[otherName][:2])
			_, all := overlap(scripts[name], scripts[otherName])
			if all && one.Identity() != other.Identity() {
				t.Errorf("%s and %s have the same scripts, and two identities", name, otherName)
			}
			switch err := walletpolicy.CheckNew(one, other); {
			case common && !errors.Is(err, walletpolicy.ErrPolicy):
				t.Errorf("%s and %s have a first address in common: %v", name, otherName, err)
			case err != nil:
				same++
			default:
				apart++
			}
		}
	}
	if t.Logf("%d pairs refused, %d taken", same, apart); same == 0 || apart < 3*same {
		t.Error("the test shows nothing, or refuses too much")
	}
}

// firstScripts returns the first scripts of a policy.
func firstScripts(t *testing.T, p *walletpolicy.Policy) (scripts []string) {
	t.Helper()
	for n := range uint32(8) {
		script, err := p.Script(n%2 == 1, n/2)
		testenv.Must(t, err)
		scripts = append(scripts, string(script))
	}
	return scripts
}

// overlap compares the first scripts of two policies.
func overlap(one, other []string) (common, all bool) {
	all = true
	for _, script := range one {
		found := slices.Contains(other, script)
		common, all = common || found, all && found
	}
	return common, all
}
