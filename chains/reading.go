package chains

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Call is a call of a program, as encoded in the bytes, for a Reader to read.
type Call struct {
	// Path is the path of the call's effects.
	Path string

	// Chain is the CAIP-2 id of the chain, or its namespace, as in Asset.
	Chain string

	// From calls To. From is SignerParty where the bytes do not name the signer.
	From, To Party

	// Value is the amount of the native asset that is sent with the call, nil if there is
	// none. It must not be changed.
	Value *big.Int

	// Data is the program's input. It must not be changed.
	Data []byte

	// Typed is the message that the program verifies if this is typed data and not a
	// call. There is no Data then.
	Typed *Typed

	// Text is the text of a message if this is one and not a call.
	Text string

	// Accounts are those of a Solana instruction, in order. Those that the bytes do not
	// contain are unknown.
	Accounts []Party
}

// Caller is implemented by transactions that call programs.
type Caller interface {
	// Calls returns the calls of the transaction and those in their arguments, at most
	// MaxEffects. Calls that execute one contract's code on the state of another are left
	// out: what is known of either contract does not apply to them.
	Calls() []Call
}

// Reader reads calls with knowledge that is not in the bytes: interfaces of programs, and
// descriptions of what their functions mean. It must be safe for concurrent use.
type Reader interface {
	// Read returns the reading of a call. ok is false if nothing is known of it.
	Read(call Call) (reading Reading, ok bool)

	// LookupTable returns the table at an address of 32 bytes. ok is false if nothing is known
	// of it. The bytes of a transaction do not commit to the contents of its tables: the
	// supplier of a table decides which addresses effects have. A table must come from the
	// operator of the engine, never from a request.
	LookupTable(address []byte) (table LookupTable, ok bool)
}

// Reading is what a Reader says about a call or a lookup table, in addition to the
// summary. It is not part of the summary's digest, and replaces or hides nothing in it.
type Reading struct {
	Path string `json:"path"` // of the call's effects, or of the lookup

	// Source names what the call was read with. Digest is its SHA-256, and Trust says
	// why it is trusted: "pinned".
	Source string `json:"source"`
	Digest string `json:"digest,omitempty"` // lower-case hex
	Trust  string `json:"trust,omitempty"`

	// Domain is whom a text belongs to that the source knows.
	Domain string `json:"domain,omitempty"`

	// Owner and Intent describe the program and the function in the source's words.
	Owner  string `json:"owner,omitempty"`
	Intent string `json:"intent,omitempty"`

	// Function is the function's signature. Args are all of its arguments; those in
	// structures have a path, such as "params.amountIn" and "to.0".
	Function string `json:"function,omitempty"`
	Args     []Arg  `json:"args,omitempty"`

	// Fields are the arguments in the form that the source gives them. Their text is as
	// untrusted as that of the transaction, and a renderer must quote it.
	Fields []Field `json:"fields,omitempty"`

	// Complete is set if every argument of the call was read, or every account that is
	// loaded from the table. A call with a complete reading is not blind.
	Complete bool `json:"complete"`

	// Problem says why the reading is not complete.
	Problem string `json:"problem,omitempty"`

	// Blind is the hazard of data that would be a note to a payment, if the source did not say that
	// its recipient is a contract, or that it begins as a call of a function; empty for none.
	Blind string `json:"-"`
}

// Readings are the readings of a transaction: those of its lookup tables, then those of
// its calls, in order.
type Readings []Reading

// At returns the reading with a path.
func (r Readings) At(path string) (Reading, bool) {
	for _, reading := range r {
		if reading.Path == path {
			return reading, true
		}
	}
	return Reading{}, false
}

// Of returns the reading of the call that an effect comes from. An effect that calls a
// program that the bytes do not name, such as a transfer hook, has none: the reading is of
// the program that makes the call.
func (r Readings) Of(effect *Effect) (Reading, bool) {
	if effect.Kind == KindCall && effect.To.IsUnknown() {
		return Reading{}, false
	}
	return r.At(effect.Path)
}

// Sighted returns the hazards without blind calls (<chain>/blind-call) and unknown texts
// ([HazardFreeText]) that have a complete reading, and with those that a reading finds.
func (r Readings) Sighted(hazards []Hazard, effects []Effect) []Hazard {
	if len(r) == 0 {
		return hazards
	}
	hazards = slices.DeleteFunc(slices.Clone(hazards), func(hazard Hazard) bool { return r.sights(hazard, effects) })
	for i := range effects {
		if reading, ok := r.At(effects[i].Path); ok && reading.Blind != "" {
			hazards = append(hazards, Hazard{Name: reading.Blind, Detail: reading.Problem}.OnEffect(i))
		}
	}
	return hazards
}

func (r Readings) sights(hazard Hazard, effects []Effect) bool {
	index, ok := hazard.Effect()
	if !ok || index >= len(effects) {
		return false
	}
	effect := &effects[index]
	reading, ok := r.Of(effect)
	switch {
	case !ok || !reading.Complete:
		return false
	case reading.Domain != "":
		return hazard.Name == HazardFreeText || strings.HasSuffix(hazard.Name, "/raw-message")
	}
	return effect.Kind == KindCall && effect.Undecoded && strings.HasSuffix(hazard.Name, "/blind-call")
}

// Name sets the Domain of texts that a reading knows, in place.
func (r Readings) Name(effects []Effect) {
	for i := range effects {
		if reading, ok := r.Of(&effects[i]); ok && reading.Complete && reading.Domain != "" {
			effects[i].Domain = reading.Domain
		}
	}
}

// Digest returns the SHA-256 of the readings in JSON, zero if there are none.
func (r Readings) Digest() [32]byte {
	if len(r) == 0 {
		return [32]byte{}
	}
	text, err := strictjson.Marshal(r)
	if err != nil {
		panic("chains: a reading always marshals: " + err.Error())
	}
	return sha256.Sum256(text)
}

// DigestText returns Digest in lower-case hex, empty if there are no readings.
func (r Readings) DigestText() string {
	if len(r) == 0 {
		return ""
	}
	digest := r.Digest()
	return hex.EncodeToString(digest[:])
}

// Sources returns the digests of what the readings were read with, each once, in order.
func (r Readings) Sources() (digests []string) {
	for _, reading := range r {
		if reading.Digest != "" && !slices.Contains(digests, reading.Digest) {
			digests = append(digests, reading.Digest)
		}
	}
	return digests
}

// Show returns the readings as fields to be displayed.
func (r Readings) Show() []Field {
	fields := make([]Field, 0, len(r))
	for _, reading := range r {
		fields = append(fields, List("reading of "+reading.Path, reading.show()...))
	}
	return fields
}

func (r *Reading) show() []Field {
	source := r.Source
	if r.Trust != "" {
		source += " (" + r.Trust + ", sha256 " + r.Digest[:min(16, len(r.Digest))] + "…)"
	}
	fields := []Field{Text("read with", source)}
	for _, field := range []Field{Text("not read", r.Problem), Text("domain", r.Domain), Text("owner", r.Owner),
		Text("intent", r.Intent), Text("function", r.Function)} {
		if field.Value != "" {
			fields = append(fields, field)
		}
	}
	if len(r.Fields) > 0 {
		fields = append(fields, List("says", r.Fields...))
	}
	if len(r.Args) > 0 {
		args := make([]Field, len(r.Args))
		for i, arg := range r.Args {
			args[i] = Text(arg.Name, arg.Value)
		}
		fields = append(fields, List("all arguments", args...))
	}
	return fields
}

// LookupTable is what is known of an address lookup table: a Solana account with a list
// of addresses, to which transactions refer by index.
type LookupTable struct {
	// Source, Digest and Trust are those of Reading.
	Source, Digest, Trust string

	// Addresses are the table's entries, 32 bytes each. They must not be changed. Entries
	// are only ever added to a table, so it may have more by now.
	Addresses [][]byte

	// Problem says why the table is not used. There are no Addresses then.
	Problem string
}

// TableUser is implemented by transactions that may load accounts from lookup tables.
type TableUser interface {
	// WithTables returns the transaction with the accounts that the tables hold in its effects,
	// hazards and calls. The Summary and the signed bytes do not change. The readings, one for each
	// table of which something is known, list the accounts that were taken from it.
	WithTables(reader Reader) (Transaction, Readings)
}

// ReadWith reads a transaction with what is known in addition to its bytes: its accounts
// in lookup tables, and then its calls. Without a reader
// it returns the transaction unchanged and no readings.
func ReadWith(tx Transaction, reader Reader) (Transaction, Readings) {
	if reader == nil {
		return tx, nil
	}
	var readings Readings
	if user, ok := tx.(TableUser); ok {
		tx, readings = user.WithTables(reader)
	}
	if caller, ok := tx.(Caller); ok {
		for _, call := range caller.Calls() {
			if reading, ok := reader.Read(call); ok {
				reading.Path = call.Path
				readings = append(readings, reading)
			}
		}
	}
	return tx, readings
}
