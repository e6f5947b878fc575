package solana

import (
	"fmt"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// reader decodes one instruction: its data and accounts by its program's table,
// then its effects from both.
type reader struct {
	cursor // over the instruction's data

	id      []byte   // address of the program
	program *program // nil if the program is not known
	layout  *layout  // nil if the instruction is not known, and of a batch
	problem error    // why the instruction is not decoded; nil if it is

	path   string    // of its effects
	shown  bool      // whether fields are wanted, which only a summary does
	depth  int       // number of instructions that it is nested in
	stored bool      // whether the transaction only stores it, for others to execute
	given  []account // every account that it is given

	operation      string
	argumentFields []chains.Field
	accountFields  []chains.Field

	values  []value   // arguments by name, for effects
	roles   []role    // accounts by name
	further []account // accounts that the layout has no name for
	inner   []*reader // the instructions of a batch, or those that are stored
}

// role is an account with the name that the layout gives to its place.
type role struct {
	name string
	account
	checked, authority bool // as of accountSlot
}

// value is an argument that effects use: a number, an address, a text or bytes.
type value struct {
	label  string
	number uint64
	key    []byte // nil if it is a number, or none
	none   bool   // an optional argument that is absent

	field func(number uint64) chains.Field // how it is shown; nil if that is not known, or none
}

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

// decode decodes the instruction by its program's table, and sets problem if it
// cannot.
func (r *reader) decode() {
	r.program = programs[[keySize]byte(r.id)]
	switch {
	case r.program == nil:
		r.problem = errNotDecoded
	case r.program.decode != nil:
		r.problem = r.program.decode(r)
	default:
		r.problem = r.decodeLayout()
	}
}

// decodeLayout decodes the instruction by the layout that its number selects.
func (r *reader) decodeLayout() error {
	layout, err := r.program.find(&r.cursor)
	if err != nil {
		return err
	}
	return r.decodeAs(layout)
}

// decodeAs decodes what follows the instruction's number by a layout.
func (r *reader) decodeAs(l *layout) error {
	r.layout, r.operation = l, l.name
	if err := sequence(l.arguments...)(r); err != nil {
		return err
	}
	if rest := r.raw[r.cursor.offset:]; len(rest) > 0 {
		r.show(func() chains.Field {
			return chains.Bytes("trailing data", rest).WithNote("not part of the instruction; most programs ignore it")
		})
	}
	return r.nameAccounts()
}

// show adds an argument's field, if fields are wanted.
func (r *reader) show(field func() chains.Field) {
	if r.shown {
		r.argumentFields = append(r.argumentFields, field())
	}
}

func (r *reader) set(v value) { r.values = append(r.values, v) }

// number returns a numeric argument. ok is false if it is absent.
func (r *reader) number(label string) (number uint64, ok bool) {
	for _, v := range r.values {
		if v.label == label {
			return v.number, !v.none
		}
	}
	return 0, false
}

// keep is set and show.
func (r *reader) keep(v value) {
	r.set(v)
	r.show(func() chains.Field { return v.field(v.number) })
}

// text is how effects write the argument: a time in seconds, and an absent one as nothing.
func (v *value) text() string {
	switch {
	case v.key != nil:
		return encode58(v.key)
	case v.field != nil && v.field(v.number).Type != chains.TypeTime:
		return v.field(v.number).Value
	case v.none:
		return ""
	}
	return strconv.FormatUint(v.number, 10)
}

// role returns the account in a role. ok is false if it is not given.
func (r *reader) role(name string) (account, bool) {
	for i := range r.roles {
		if r.roles[i].name == name {
			return r.roles[i].account, true
		}
	}
	return account{}, false
}

// fields shows the operation, its arguments and its accounts.
func (r *reader) fields() []chains.Field {
	fields := []chains.Field{chains.Text("operation", r.operation)}
	fields = append(fields, r.argumentFields...)
	return append(fields, r.accountFields...)
}

// shownFields shows the program first, then what the instruction does, or its
// data and accounts if it is not decoded.
func (r *reader) shownFields(data []byte) []chains.Field {
	fields := []chains.Field{chains.AddressField("program", encode58(r.id)).As("program_key")}
	switch {
	case r.program == nil:
		fields[0].Note = errNotDecoded.Error()
		return append(fields, r.undecodedFields(data)...)
	case r.problem == nil:
		fields[0].Note = r.program.name + " program"
		return append(fields, r.fields()...)
	}
	fields[0].Note = r.program.name + " program"
	fields = append(fields, chains.Text("not decoded", r.problem.Error()))
	return append(fields, r.undecodedFields(data)...)
}

// undecodedFields shows the instruction's data and accounts unchanged.
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
