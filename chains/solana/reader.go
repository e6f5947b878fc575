package solana

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// instructionPaths are the paths of as many instructions as a transaction can have.
var instructionPaths = func() (paths [max(maxInstructions, maxInstructionsV1)]string) {
	for i := range paths {
		paths[i] = "instructions/" + strconv.Itoa(i)
	}
	return paths
}()

// decodeInstruction decodes one of the transaction's instructions. It reuses the
// slices of r, whose former content is lost.
func (t *accountTable) decodeInstruction(r *reader, index int) {
	in := t.instructions[index]
	*r = reader{
		cursor: cursor{raw: t.raw[:in.dataAt+in.size], offset: in.dataAt},
		id:     t.key(t.program(in)), path: instructionPaths[index], shown: r.shown,
		given: t.accountsOf(in, r.given[:0]), values: r.values[:0], roles: r.roles[:0],
	}
	r.decode()
}

// nested returns a reader for the i-th instruction inside another one.
func (r *reader) nested(i int, data cursor, accounts []account) *reader {
	return &reader{
		cursor: data, id: r.id, given: accounts, path: fmt.Sprintf("%s/%d", r.path, i),
		shown: r.shown, stored: r.stored, depth: r.depth + 1,
	}
}

func (r *reader) decode() {
	r.program = programs[[keySize]byte(r.id)]
	switch {
	case r.program == nil:
		r.fail(errNotDecoded)
	case r.program.decode != nil:
		r.program.decode(r)
	default:
		r.decodeLayout()
	}
}

// decodeLayout decodes the instruction by the layout that its number selects.
func (r *reader) decodeLayout() {
	if layout := r.program.find(&r.cursor); r.err == nil {
		r.decodeAs(layout)
	}
}

// decodeAs decodes what follows the instruction's number by a layout.
func (r *reader) decodeAs(l *layout) {
	r.layout, r.operation = l, l.name
	for _, read := range l.arguments {
		if read(r); r.err != nil {
			return
		}
	}
	if rest := r.rest(); len(rest) > 0 {
		r.show(func() chains.Field {
			return chains.Bytes("trailing data", rest).WithNote("not part of the instruction; most programs ignore it")
		})
	}
	r.nameAccounts()
}

func (r *reader) fields() []chains.Field {
	fields := []chains.Field{chains.Text("operation", r.operation)}
	fields = append(fields, r.argumentFields...)
	return append(fields, r.accountFields...)
}

// shownFields shows the program first, then what the instruction does, or its
// data and accounts if it is not decoded.
func (r *reader) shownFields(data []byte) []chains.Field {
	fields := []chains.Field{chains.AddressField("program", encode58(r.id)).As("program_key")}
	if r.program == nil {
		fields[0].Note = r.err.Error()
		return append(fields, r.undecodedFields(data)...)
	}
	fields[0].Note = r.program.name + " program"
	if r.err == nil {
		return append(fields, r.fields()...)
	}
	fields = append(fields, chains.Text("not decoded", r.err.Error()))
	return append(fields, r.undecodedFields(data)...)
}

func (r *reader) undecodedFields(data []byte) []chains.Field {
	accounts := chains.List("accounts")
	for i, given := range r.given {
		accounts.Fields = append(accounts.Fields, given.field(fmt.Sprintf("account %d", i)))
	}
	fields := []chains.Field{chains.Bytes("data", data)}
	if len(accounts.Fields) > 0 {
		fields = append(fields, accounts)
	}
	return fields
}

var errNotDecoded = errors.New("not a program that is decoded")

// decodeLeavingOut decodes an instruction of a program whose own address stands for an
// account that is left out. It refuses the address where the account is not optional.
func (r *reader) decodeLeavingOut(self [keySize]byte, optional func(name string) bool) {
	r.decodeLayout()
	for i := range r.roles {
		switch {
		case !r.roles[i].is(self):
		case !optional(r.roles[i].name):
			r.fail(fmt.Errorf("the %s is the program itself, which stands for none", r.roles[i].name))
		default:
			r.roles[i].name = leftOut
		}
	}
}

// workspace is where the effects of one transaction are found: a reader, room for the
// accounts and arguments of most instructions, and the effects. It is used again, since it
// is most of what finding them would allocate.
type workspace struct {
	reader  reader
	given   [8]account
	values  [4]value
	roles   [8]role
	effects []effect
}

var workspaces = sync.Pool{New: func() any { return &workspace{effects: make([]effect, 0, 8)} }}

// maxKeptEffects bounds a workspace that is kept, to some 45 kB: one effect for each
// instruction of the largest transaction fits.
const maxKeptEffects = 80

// release gives the workspace back, without anything of the transaction. Its effects must
// not be used afterwards.
func (w *workspace) release() {
	clear(w.effects)
	if cap(w.effects) > maxKeptEffects {
		return
	}
	*w = workspace{effects: w.effects[:0]}
	workspaces.Put(w)
}
