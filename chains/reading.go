package chains

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
)

// Call is a call of a program, as the bytes have it: what a Reader reads.
type Call struct {
	// Path is that of the effects of the call.
	Path string

	// Chain is the CAIP-2 id of the chain, or its namespace, as in Asset.
	Chain string

	// From calls To: SignerParty where the bytes do not name the signer.
	From, To Party

	// Value is the native value that goes with the call; nil: none. It must not be
	// changed.
	Value *big.Int

	// Data is what the program gets. It must not be changed.
	Data []byte

	// Typed is the message that the program verifies, if it is no call but typed
	// data; there is no Data then.
	Typed *Typed

	// Accounts are those that a Solana instruction names, in order; unknown
	// those that the bytes do not contain.
	Accounts []Party
}

// Caller is implemented by transactions that call programs.
type Caller interface {
	// Calls returns the calls of the transaction and those in their arguments,
	// at most MaxEffects. Calls that run the code of one contract on another
	// are not among them: what is known of the one does not hold of the other.
	Calls() []Call
}

// Reader reads calls with what is known beside the bytes: interfaces of
// programs, and descriptions of what their functions mean. It is safe for
// concurrent use.
type Reader interface {
	// Read returns the reading of a call, ok if there is something to say.
	Read(call Call) (reading Reading, ok bool)
}

// Reading is what a Reader says of a call or of a lookup table: a second list beside the
// summary. It is no part of the summary's digest, replaces nothing in it and hides
// nothing.
type Reading struct {
	Path string `json:"path"` // of the call's effects, or where the table stands

	// Source names what the call was read with; Digest is its SHA-256, and Trust
	// says on whose word: "pinned", "attested by 0x…".
	Source string `json:"source"`
	Digest string `json:"digest,omitempty"` // lower-case hex
	Trust  string `json:"trust,omitempty"`

	// Owner and Intent are the source's words for the program and the function.
	Owner  string `json:"owner,omitempty"`
	Intent string `json:"intent,omitempty"`

	// Function is the function's signature, Args all of its arguments, those in
	// structures under their path, such as "params.amountIn" and "to.0".
	Function string `json:"function,omitempty"`
	Args     []Arg  `json:"args,omitempty"`

	// Fields are what the source shows of the arguments. Their text is not to be
	// trusted more than that of the transaction: a renderer quotes it.
	Fields []Field `json:"fields,omitempty"`

	// Complete reports that every argument was read, or every account that is taken
	// from the table. A call with such a reading is not a blind one.
	Complete bool `json:"complete"`

	// Problem says why the call is not read, or not completely.
	Problem string `json:"problem,omitempty"`
}

// Readings are the readings of a transaction: of its lookup tables, then of its calls, in
// their order.
type Readings []Reading

// At returns the reading of the call whose effects have a path.
func (r Readings) At(path string) (Reading, bool) {
	for _, reading := range r {
		if reading.Path == path {
			return reading, true
		}
	}
	return Reading{}, false
}

// Sighted returns the hazards without those that are a blind call (chain/blind-call)
// of which every argument was read.
func (r Readings) Sighted(hazards []Hazard, effects []Effect) []Hazard {
	if len(r) == 0 {
		return hazards
	}
	var kept []Hazard
	for _, hazard := range hazards {
		if !r.sights(hazard, effects) {
			kept = append(kept, hazard)
		}
	}
	return kept
}

// blindCall is the name of the hazard, behind the chain's name and a slash.
const blindCall = "/blind-call"

func (r Readings) sights(hazard Hazard, effects []Effect) bool {
	index, ok := hazard.Effect()
	if !ok || index >= len(effects) || !bytes.HasSuffix([]byte(hazard.Name), []byte(blindCall)) {
		return false
	}
	effect := effects[index]
	reading, ok := r.At(effect.Path)
	return ok && reading.Complete && effect.Kind == KindCall && effect.Undecoded
}

// Digest is the SHA-256 of the readings in JSON; of no readings, zero.
func (r Readings) Digest() [32]byte {
	if len(r) == 0 {
		return [32]byte{}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		panic("chains: a reading always marshals: " + err.Error())
	}
	return sha256.Sum256(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// DigestText is Digest in lower-case hex; of no readings, empty.
func (r Readings) DigestText() string {
	if len(r) == 0 {
		return ""
	}
	digest := r.Digest()
	return hex.EncodeToString(digest[:])
}

// Sources returns the digests of what the calls were read with, each once, in the order
// of the calls.
func (r Readings) Sources() (digests []string) {
	for _, reading := range r {
		if reading.Digest != "" && !slices.Contains(digests, reading.Digest) {
			digests = append(digests, reading.Digest)
		}
	}
	return digests
}

// Show returns the readings as fields for a person.
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
	for _, field := range []Field{Text("not read", r.Problem), Text("owner", r.Owner), Text("intent", r.Intent), Text("function", r.Function)} {
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
