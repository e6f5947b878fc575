package solana

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const kindsFile = "testdata/kinds.txt"

// TestKindsOfInstructions compares the kinds of every instruction's effects with
// testdata/kinds.txt, which go test -update writes. An instruction has a kind, or is
// marked as inert.
func TestKindsOfInstructions(t *testing.T) {
	var out bytes.Buffer
	for _, p := range programsByName() {
		for _, tag := range slices.Sorted(maps.Keys(p.layouts)) {
			writeKinds(t, &out, p.name, fmt.Sprint(tag), p.layouts[tag])
		}
		for _, tag := range slices.SortedFunc(maps.Keys(p.tagged), func(a, b [discriminatorSize]byte) int { return bytes.Compare(a[:], b[:]) }) {
			writeKinds(t, &out, p.name, fmt.Sprintf("%x", tag), p.tagged[tag])
		}
	}
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		testenv.Write(t, kindsFile, out.Bytes())
	}
	want := testenv.Read(t, kindsFile)
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%s differs (go test -update rewrites it)", kindsFile)
	}
}

func programsByName() []*program {
	programs := slices.Collect(maps.Values(programs))
	slices.SortFunc(programs, func(a, b *program) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(programs)
}

func writeKinds(t *testing.T, out *bytes.Buffer, program, tag string, l *layout) {
	t.Helper()
	if l.nested != nil {
		for _, sub := range slices.Sorted(maps.Keys(l.nested)) {
			writeKinds(t, out, program, fmt.Sprintf("%s.%d", tag, sub), l.nested[sub])
		}
		return
	}
	var kinds []string
	for _, tpl := range l.effects {
		if name := string(tpl.kind); !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
		checkNames(t, program, l, tpl)
		checkRecipient(t, program, l, tpl)
	}
	if (len(kinds) == 0) != l.inert && l.name != "vault_transaction_create" {
		t.Errorf("%s %s: kinds %v, inert %v", program, l.name, kinds, l.inert)
	}
	if l.inert {
		kinds = []string{"none"}
	}
	fmt.Fprintf(out, "%-24s %-16s %-60s %s\n", program, tag, l.name, strings.Join(kinds, " "))
}

// checkRecipient checks that an amount that another party gets is of a kind that limits
// count, or is minted by an authority.
func checkRecipient(t *testing.T, program string, l *layout, tpl template) {
	t.Helper()
	if tpl.to != "" && tpl.to != tpl.from && tpl.amount != "" && !tpl.kind.Spends() && tpl.kind != chains.KindMint {
		t.Errorf("%s %s: %s of an amount to %s", program, l.name, tpl.kind, tpl.to)
	}
}

// checkNames checks that the names in a template are places of its layout, or arguments.
func checkNames(t *testing.T, program string, l *layout, tpl template) {
	t.Helper()
	places := map[string]bool{"": true, native: true, unknownToken: true}
	for _, p := range l.slots {
		places[p.name] = true
	}
	for _, name := range []string{tpl.from, tpl.to, tpl.account, tpl.by, tpl.each, tpl.given, tpl.asset} {
		if !places[name] && !namesArgument(name) {
			t.Errorf("%s %s: %q is neither an account nor an argument", program, l.name, name)
		}
	}
}

// namesArgument reports whether an argument that is an address has this name.
func namesArgument(name string) bool {
	return slices.Contains([]string{"owner", "base", "nonce authority", "new nonce authority", "withdrawer", "staker", "new authority", "lockup custodian",
		"node", "voter", "mint authority", "freeze authority", "close authority", "fee authority", "withdraw authority", "rate authority",
		"permanent delegate", "authority", "pause authority", "burn authority", "new update authority", "update authority", "treasury",
		"config authority", "new config authority", "member", "spender", "mint"}, name)
}
