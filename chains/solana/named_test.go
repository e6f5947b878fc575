package solana

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// unnamedSlots are the accounts of instructions that no effect names, with the reason. Those that
// authorize the instruction are its signatures, and sysvars and programs are fixed by the program.
var unnamedSlots = map[string]string{
	"lockup custodian": "signs while the stake is locked", "update authority": "of the metadata, which are named",
	"signer": "of a multisig, which authorizes it", "signer or source": "of a multisig, or a source that is named",
	"base account": "signs for the address that is derived from it", "create key": "signs for the address that is derived from it",
	"batch": "stored content, which is a blind call", "transaction": "stored content, which is a blind call",
	"proposal": "stored content, which is a blind call", "program config": "of the program",
	"multisig":                    "whose stored content is a blind call, or whose vault is named",
	"collection authority record": "proves an authority",
	"collection master edition":   "of the collection, whose metadata are named", "collection mint": "of the collection, whose metadata are named",
	"collection master edition or none": "of the collection", "collection metadata or none": "of the collection", "collection mint or none": "of the collection",
	"delegate record or none": "proves a delegate, who is named", "edition": "of the mint", "edition or none": "of the mint", "master edition or none": "of the mint",
	"master edition mint or none": "of the mint", "master edition token or none": "of the mint", "metadata": "of the mint",
	"token record or none": "of the token account", "rules or none": "may refuse",
	"mint":        "of the token account that is named, or of a setting of the mint's",
	"member mint": "of the group", "further account": "of a proof, or a signer of a multisig",
	"delinquent vote account": "proves that the stake earns nothing", "reference vote account": "proves that the stake earns nothing",
	"destination owner": "of the token account that is named", "token owner": "of the token account that is named", "token owner or none": "of the token account that is named",
	"token": "of the mint", "token or none": "of the mint",
	"owner account": "of the account that is recovered, which is named", "owner mint": "of the account that is recovered, which is named",
	"next version": "of the program, which is finalized", "program": "of the program data that are named",
	"node account": "of the vote account",
}

// TestEveryAccountIsNamed checks that the effects of every instruction name each of its accounts, or
// that there is a reason: a stranger's account in its place could otherwise not be seen.
func TestEveryAccountIsNamed(t *testing.T) {
	seen, checked := map[string]bool{}, 0
	check := func(program string, l *layout) {
		named := map[string]bool{}
		for _, tpl := range l.effects {
			for _, name := range append([]string{tpl.from, tpl.to, tpl.account, tpl.by, tpl.each, tpl.given, tpl.asset}, tpl.args...) {
				named[name] = true
			}
		}
		for _, p := range l.slots {
			switch fixed := strings.Contains(p.name, "sysvar") || strings.Contains(p.name, " program") || strings.HasSuffix(p.name, " registry"); {
			case p.name == "", p.authority, fixed, named[p.name]:
				checked++
			case unnamedSlots[p.name] == "":
				t.Errorf("%s %s: no effect names %q", program, l.name, p.name)
			default:
				seen[p.name] = true
			}
		}
	}
	var walk func(program string, l *layout)
	walk = func(program string, l *layout) {
		for _, nested := range l.nested {
			walk(program, nested)
		}
		if !l.inert && len(l.effects) > 0 {
			check(program, l)
		}
	}
	for _, p := range programsByName() {
		for _, l := range slices.Concat(slices.Collect(maps.Values(p.layouts)), slices.Collect(maps.Values(p.tagged))) {
			walk(p.name, l)
		}
	}
	for name := range unnamedSlots {
		if !seen[name] {
			t.Errorf("%q is named everywhere: remove it from unnamedSlots", name)
		}
	}
	t.Logf("%d accounts", checked)
}
