package solana

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// sample is an instruction of a layout, with an address of its own in every place.
type sample struct {
	program *program
	layout  *layout
	given   []account
}

// sampleOf gives every place of a layout an account. Those that authorize it sign, and
// sysvars and programs are at their addresses. Any number of accounts are two.
func sampleOf(p *program, l *layout) sample {
	s := sample{p, l, nil}
	add := func(name string, fixed [][keySize]byte, signer bool) {
		next := account{address: bytes.Repeat([]byte{byte(len(s.given) + 100)}, keySize), signer: signer, slot: -1}
		if len(fixed) > 0 {
			next.address = fixed[0][:]
		}
		if signer {
			next.slot = len(s.given)
		}
		s.given = append(s.given, next)
	}
	for _, p := range l.slots {
		add(p.name, p.fixed, p.authority || p.name == "signer")
		for _, name := range p.with {
			add(name, fixedAddresses[name], false)
		}
		if p.many {
			add(p.name, p.fixed, p.authority || p.name == "signer")
		}
	}
	return s
}

// sampleData is the data of instructions for which zeros will not do: an empty message to be
// stored. The others' numbers and options are zero, and what follows them is ignored.
var sampleData = map[string][]byte{
	"vault_transaction_create": {0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	"batch_add_transaction":    {0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
}

// read decodes the sample.
func (s sample) read() *reader {
	data, ok := sampleData[s.layout.name]
	if !ok {
		data = make([]byte, 1024)
	}
	r := &reader{cursor: cursor{raw: data}, id: mustKeyOf(s.program), program: s.program, path: "instructions/0", given: s.given, shown: true}
	r.decodeAs(s.layout)
	return r
}

func mustKeyOf(p *program) []byte {
	for id, of := range programs {
		if of == p {
			return id[:]
		}
	}
	return nil
}

// eachSample calls check for every instruction of every program that is decoded.
func eachSample(check func(s sample)) {
	var walk func(p *program, l *layout)
	walk = func(p *program, l *layout) {
		for _, nested := range l.nested {
			walk(p, nested)
		}
		if l.nested == nil && !l.inert {
			check(sampleOf(p, l))
		}
	}
	for _, p := range programsByName() {
		for _, l := range slices.Concat(slices.Collect(maps.Values(p.layouts)), slices.Collect(maps.Values(p.tagged))) {
			walk(p, l)
		}
	}
	walk(configProgram, storeLayout)
}

// TestEveryAccountIsNamed checks that every account and every argument with a meaning is a member or an
// argument of an effect, and stands in its sentence. Those without one sign, are recognized by the
// program by their address, or come behind those that have a name.
func TestEveryAccountIsNamed(t *testing.T) {
	named := 0
	eachSample(func(s sample) {
		r := s.read()
		if r.err != nil {
			t.Errorf("%s %s: %v", s.program.name, s.layout.name, r.err)
			return
		}
		checkLabels(t, s, r)
		effects := r.effects(nil)
		var forms, sentences string
		for _, e := range effects {
			form, _ := e.MarshalJSON()
			forms += string(form)
			sentences += chains.Sentence(e.Effect, nil) + "\n"
			for i, arg := range e.Args {
				if slices.ContainsFunc(e.Args[:i], func(other chains.Arg) bool { return other.Name == arg.Name }) {
					t.Errorf("%s %s: two arguments %s", s.program.name, s.layout.name, arg.Name)
				}
			}
		}
		blind := slices.ContainsFunc(effects, func(e effect) bool { return e.Undecoded })
		for i, role := range r.roles {
			if text := role.String(); len(effects) > 0 && !meansNothing(role) && (!strings.Contains(forms, text) || !blind && !strings.Contains(sentences, text)) {
				t.Errorf("%s %s: account %d, %s, is not named:\n%s", s.program.name, s.layout.name, i, role.name, sentences)
			}
			named++
		}
		for _, v := range r.values {
			if v.text() != "" && len(effects) > 0 && !slices.Contains(saysNothing, v.label) && !s.layout.has(v.label) &&
				!strings.Contains(forms, `{"name":"`+v.label+`"`) {
				t.Errorf("%s %s: argument %s is not said:\n%s", s.program.name, s.layout.name, v.label, sentences)
			}
		}
	})
	if named < 1000 {
		t.Errorf("only %d accounts", named)
	}
}

// has reports whether an argument is a member of one of the layout's effects.
func (l *layout) has(argument string) bool {
	return slices.ContainsFunc(l.effects, func(tpl template) bool {
		return slices.Contains([]string{tpl.from, tpl.to, tpl.account, tpl.asset, tpl.amount, tpl.each}, argument)
	})
}

// saysNothing are the arguments that need not be said: decimals, which the program compares, what addresses are
// derived from, proofs of encrypted amounts, and numbers of what is stored.
var saysNothing = []string{"decimals", "base", "seed", "bump seed", "recent slot", "from seed", "from owner",
	"authority seed", "authority owner", "number of sources", "proof instruction offset", "equality proof instruction offset",
	"validity proof instruction offset", "range proof instruction offset", "fee sigma proof instruction offset",
	"fee validity proof instruction offset", "new decryptable balance", "amount for the auditor, low",
	"amount for the auditor, high", "lockup until", "lockup until epoch", // of no lockup, which is 0
	"buffer number", "vault", "final hash", "final size", "transaction number", "draft", "ephemeral signers"}

// checkLabels checks that no field of the instruction has the label of another one: rules would
// see a value that people do not.
func checkLabels(t *testing.T, s sample, r *reader) {
	t.Helper()
	seen := map[string]bool{}
	for _, field := range r.shownFields(nil) {
		if seen[field.Label] && field.Label != "extension type" { // a list of numbers
			t.Errorf("%s %s: two fields %q", s.program.name, s.layout.name, field.Label)
		}
		seen[field.Label] = true
	}
}

// meansNothing says, independently of the package's tables, which accounts need no name.
func meansNothing(r role) bool {
	return r.signer || slices.ContainsFunc([]string{"sysvar", " program", "stake config", "further account", "rules or none"},
		func(part string) bool { return strings.Contains(r.name, part) })
}

// TestEveryAccountIsResolved puts each account of every instruction in a lookup table in turn: the
// instruction is not decoded, or an effect says that the account is unresolved. With the
// table, it says so no more.
func TestEveryAccountIsResolved(t *testing.T) {
	unresolved := 0
	eachSample(func(s sample) {
		whole := s.read()
		if len(whole.effects(nil)) == 0 {
			return
		}
		for i, given := range s.given {
			if given.signer {
				continue // lookup tables have no signers
			}
			hidden := s
			hidden.given = slices.Clone(s.given)
			hidden.given[i] = account{table: make([]byte, keySize), slot: -1}
			effects := hidden.read().effects(nil)
			found := slices.ContainsFunc(effects, func(e effect) bool { return e.Undecoded || len(e.Unresolved) > 0 })
			role := slices.IndexFunc(whole.roles, func(r role) bool { return bytes.Equal(r.address, given.address) })
			if meaning := role >= 0 && !meansNothing(whole.roles[role]); found != meaning && meaning {
				t.Errorf("%s %s: account %d, %s, is not unresolved: %s", s.program.name, s.layout.name, i, whole.roles[role].name, describeEffects(effects))
			}
			if found {
				unresolved++
			}
		}
		for _, e := range whole.effects(nil) {
			if len(e.Unresolved) > 0 {
				t.Errorf("%s %s: %v is unresolved, and nothing is in a table", s.program.name, s.layout.name, e.Unresolved)
			}
		}
	})
	if unresolved < 500 {
		t.Errorf("only %d accounts", unresolved)
	}
}

func describeEffects(effects []effect) (text string) {
	for _, e := range effects {
		form, _ := e.MarshalJSON()
		text += fmt.Sprintf("\n%s", form)
	}
	return text
}
