package solana

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// program is what is known of a program: how the data of its instructions begins,
// and the layout of each.
type program struct {
	name    string
	tagSize int // of an instruction's number, in bytes: 1, or 4 little-endian
	layouts map[uint32]*layout

	// tagged are the instructions that begin with a discriminator in place of a number.
	tagged map[[discriminatorSize]byte]*layout

	// decode, if it is not nil, decodes in place of decodeLayout.
	decode func(*reader)

	standard    string // of the tokens that it moves; empty if none
	ownAccounts bool   // it takes an account's own signature before it knows who controls it
}

// discriminatorSize is the length in bytes of what begins the instructions of
// Anchor programs and of the token metadata and group interfaces.
const discriminatorSize = 8

// programs are the programs that are decoded, by address. They are filled in by init
// because stored instructions are decoded by all of them.
var programs = map[[keySize]byte]*program{}

// layout is the layout of one instruction, and what it does.
type layout struct {
	name        string
	slots       []accountSlot
	authorities []string // the names of accounts whose signatures authorize the instruction
	arguments   []argument

	// effects is empty only if the instruction changes no account: inert is set then.
	effects []template
	inert   bool

	// anySigner is set if the program takes every signer among the accounts for
	// the authority, whatever its place.
	anySigner bool

	// initializes is the account to which the instruction gives an owner or authorities
	// for the first time; empty for none.
	initializes string

	// nested has the instructions of an extension, by one more byte.
	nested map[uint32]*layout
}

// describe begins the layout of an instruction with its arguments, and its accounts in order,
// separated by ", ".
//
//	?name       optional
//	!name       its signature authorizes the instruction
//	name*       any number of accounts
//	~a+b        a, which is recognized by its address, and then b; or neither
func describe(name, accounts string, arguments ...argument) *layout {
	l := &layout{name: name, slots: slotsOf(accounts), arguments: arguments}
	for _, p := range l.slots {
		if p.authority {
			l.authorities = append(l.authorities, p.name)
		}
	}
	return l
}

// extension is an instruction that is followed by a byte, which selects one of others.
func extension(name string, nested map[uint32]*layout) *layout {
	return &layout{name: name, nested: nested}
}

func (l *layout) does(effects ...template) *layout {
	l.effects = effects
	return l
}

func (l *layout) doesNothing() *layout {
	l.inert = true
	return l
}

func (l *layout) byAnySigner() *layout {
	l.anySigner = true
	return l
}

func (l *layout) initializing(account string) *layout {
	l.initializes = account
	return l
}

// accountSlot is one accountSlot of an instruction's accounts.
type accountSlot struct {
	name      string
	fixed     [][keySize]byte // the only addresses that it has, if it is one of fixedAddresses
	with      []string        // of a branch: the names that follow
	optional  bool
	authority bool
	many      bool
	branch    bool

	// checked is set of an account that the program recognizes by its address, or compares
	// with what it has stored: it decides nothing.
	checked bool
}

func slotsOf(accounts string) (slots []accountSlot) {
	if accounts == "" {
		return nil
	}
	for text := range strings.SplitSeq(accounts, ", ") {
		var p accountSlot
		for ; strings.ContainsAny(text[:1], "?!~"); text = text[1:] {
			p.optional = p.optional || text[0] == '?'
			p.authority = p.authority || text[0] == '!'
			p.branch = p.branch || text[0] == '~'
		}
		text, p.many = strings.CutSuffix(text, "*")
		names := strings.Split(text, "+")
		p.name, p.fixed, p.with = names[0], fixedAddresses[names[0]], names[1:]
		p.checked = p.fixed != nil || strings.Contains(p.name, " program") || strings.HasSuffix(p.name, " sysvar") ||
			p.name == "further account" || p.name == "rules or none"
		slots = append(slots, p)
	}
	return slots
}

// find reads the instruction's number and returns its layout, nil after an error.
func (p *program) find(c *cursor) *layout {
	if len(p.tagged) > 0 && c.left() >= discriminatorSize {
		if tagged, ok := p.tagged[[discriminatorSize]byte(c.raw[c.offset:])]; ok {
			c.offset += discriminatorSize
			return tagged
		}
	}
	tag := uint32(c.uint(p.tagSize, tagField))
	found := p.layouts[tag]
	if found == nil {
		c.fail(fmt.Errorf("instruction %d of the %s program is not known", tag, p.name))
	}
	if c.err != nil || found.nested == nil {
		return found
	}
	sub := uint32(c.uint8(tagField))
	inner := found.nested[sub]
	if inner == nil {
		c.fail(fmt.Errorf("instruction %d of %s is not known", sub, found.name))
	}
	return inner
}

// tagField names an instruction's number in errors.
const tagField = "instruction number"

// reader decodes one instruction: its data and accounts by its program's table,
// then its effects from both.
type reader struct {
	cursor // over the instruction's data; its error says why the instruction is not decoded

	id      []byte   // address of the program
	program *program // nil if the program is not known
	layout  *layout  // nil if the instruction is not known, and of a batch

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

// argument reads one argument from the instruction's data, shows it, and keeps its
// value if effects use it. Numbers are little-endian.
type argument func(r *reader)

// template describes one effect of an instruction in the names of its layout. A
// party is an account, by the name of its place, or an argument that is an address.
type template struct {
	kind chains.Kind

	from, to, account string

	asset  string // native, unknownToken, or the mint: an account or an argument
	amount string // an argument, or wholeBalance or unstated; empty for none

	by   string   // what authorizes it, if not the layout's authorities
	args []string // accounts and arguments that become the effect's Args: see complete

	each  string                 // one effect for each account or address of this name
	given string                 // only if this account or argument is given
	when  func(r *reader) bool   // only if this holds
	with  func(*reader, *effect) // completes the effect
}
