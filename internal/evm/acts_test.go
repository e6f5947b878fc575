package evm

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// actDraw draws the arguments of an act once for all of its carriers: what has the same name
// is the same.
type actDraw struct {
	random *rand.Rand
	length int              // of every list
	known  map[string]value // by name, behind the place in a list
}

// values draws arguments that begin with a place in a list.
func (d *actDraw) values(parameters []abiType, place string) []value {
	values := make([]value, len(parameters))
	for i := range parameters {
		values[i] = d.value(&parameters[i], place)
	}
	return values
}

func (d *actDraw) value(t *abiType, place string) (v value) {
	v.abiType = t
	switch {
	case t.kind == kindTuple:
		v.list = d.values(t.members, place)
		return v
	case t.name == "operations": // of which typed data has one
		v.list = []value{{abiType: &t.members[0], list: d.values(t.members[0].members, place)}}
		return v
	case t.kind == kindArray:
		for i := range d.length {
			v.list = append(v.list, value{abiType: &t.members[0], list: d.values(t.members[0].members, fmt.Sprintf("%d/", i))})
		}
		return v
	}
	drawn, ok := d.known[place+t.name]
	if !ok {
		drawn = d.leaf(t, place)
		d.known[place+t.name] = drawn
	}
	v.word, v.bytes = drawn.word, drawn.bytes
	return v
}

// leaf draws a value, at the bounds and at addresses that mean something.
func (d *actDraw) leaf(t *abiType, place string) (v value) {
	v.word = make([]byte, word)
	number := func(name string) *big.Int { known := d.known[place+name]; return new(big.Int).SetBytes(known.word) }
	switch {
	case t.name == "requested amount":
		permitted := number("amount")
		new(big.Int).Rsh(permitted, uint(d.random.IntN(3))).FillBytes(v.word)
	case t.name == "account gas limits" && d.known["call gas limit"].word != nil:
		number("verification gas limit").FillBytes(v.word[:16])
		number("call gas limit").FillBytes(v.word[16:])
	case t.name == "gas fees" && d.known["max fee per gas"].word != nil:
		number("max fee per gas").FillBytes(v.word[16:])
	case t.kind == kindAddress:
		at := []Address{{}, routerAt, multicallAt, usdcAt, {0x11, byte(d.random.IntN(4))}, {19: 5}}[d.random.IntN(6)]
		copy(v.word[12:], at[:])
	case t.kind == kindBool, t.role == roleOperation:
		v.word[31] = byte(d.random.IntN(2))
	case t.kind == kindBytes:
		v.bytes = d.bytes(t.name)
	default:
		size := d.random.IntN(t.size + 1)
		for i := range size {
			v.word[len(v.word)-1-i] = byte(d.random.Uint32())
		}
		if d.random.IntN(6) == 0 {
			copy(v.word[word-t.size:], slices.Repeat([]byte{0xff}, t.size))
		}
		if t.kind == kindFixed {
			v.word = append(v.word[word-t.size:], make([]byte, word-t.size)...)
		}
	}
	return v
}

// bytes draws bytes by what they are for.
func (d *actDraw) bytes(name string) []byte {
	transfer := append(append([]byte{0xa9, 0x05, 0x9c, 0xbb}, slices.Concat(make([]byte, 12), routerAt[:])...), make([]byte, word)...)
	switch name {
	case "call":
		return [][]byte{nil, transfer, {1, 2, 3, 4, 5}, {1}}[d.random.IntN(4)]
	case "init code":
		factory := hexAddress("0x91E60e0613810449d098b0b5Ec8b51A0FE8c8985")
		return [][]byte{nil, {1, 2}, append(factory[:], 1, 2), append(slices.Repeat([]byte{0x66}, 20), 1), slices.Repeat([]byte{0x77}, 20)}[d.random.IntN(5)]
	case "paymaster and data":
		return [][]byte{nil, {1}, make([]byte, 52), slices.Repeat([]byte{0x55}, 20), slices.Repeat([]byte{3}, 60)}[d.random.IntN(5)]
	}
	return []byte{1, 2, 3}[:d.random.IntN(4)]
}

// typedMembers returns arguments as the members of typed data.
func typedMembers(values []value) []chains.TypedValue {
	members := make([]chains.TypedValue, len(values))
	for i := range values {
		v, m := &values[i], &members[i]
		m.Name = v.name
		switch v.kind {
		case kindTuple, kindArray:
			m.List = typedMembers(v.list)
		case kindAddress:
			m.Bytes = v.word[12:]
		case kindFixed:
			m.Bytes = v.word[:v.size]
		case kindBytes:
			m.Bytes = v.bytes
		default:
			m.Number = new(big.Int).SetBytes(v.word)
		}
	}
	return members
}

// bothCarriers reads one act as a call and as typed data.
func bothCarriers(random *rand.Rand, row int, c *carrier) (called, typed []chains.Effect) {
	f := parseFunction(standards[row].standard, standards[row].function)
	f.at, f.act = standards[row].at, standards[row].act
	contract := Address{0xc0, 0xde}
	switch f.at {
	case atPermit2:
		contract = hexAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	case atEntryPoint06:
		contract = hexAddress("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789")
	case atEntryPoint07:
		contract = hexAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032")
		if strings.HasPrefix(c.text, "Packed") {
			contract = []Address{hexAddress("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"), hexAddress("0x433709009B8330FDa32311DF1C2AFA402eD8D009")}[random.IntN(2)]
		}
	}
	d := &actDraw{random: random, length: random.IntN(4), known: map[string]value{}}
	point := make([]byte, word)
	copy(point[12:], contract[:])
	d.known["entryPoint"] = value{word: point}
	signed, ok := mainnet.Pass().ReadTyped(Typed{Type: c.encoded(), Contract: &contract, Members: typedMembers(d.values(c.parameters(), ""))})
	if ok {
		typed = signed.Effects
	}
	if hashed := d.known["init code"].bytes; len(hashed) >= 20 && entryPoints[contract] >= 8 && !mainnet.isKnown(Address(hashed), atAccountFactory) {
		d.known["init code"] = value{bytes: append(slices.Clone(delegatedSender[:]), hashed[20:]...)} // what is hashed is the delegate
	}
	call := &Call{pass: mainnet.Pass(), caller: account{signer: true}, self: contract, code: contract, value: new(big.Int), data: []byte{0}, path: "call",
		function: f, args: d.values(f.parameters, "")}
	r := reader{left: maxCalls}
	r.nest(call, call.args)
	return Cut(call.Effects(), chains.MaxEffects), typed
}

// reasoned are the effects of a call that its typed form does not have, with the reason.
var reasoned = []struct {
	why string
	is  func(e *chains.Effect) bool
}{
	{"any contract may claim to be a Safe: the one whose typed data is signed must be one, or the signature is worth nothing",
		func(e *chains.Effect) bool { return e.Undecoded && e.Path == "call" && e.From.IsSigner() }},
	{"the EntryPoint pays the fee on to the relayer, who sends the transaction",
		func(e *chains.Effect) bool {
			return e.By == chains.ByStanding && strings.Contains(e.Function, "handleOps")
		}},
}

// covers reports whether an effect of typed data says at least as much as one of a call.
func covers(typed, called *chains.Effect) bool {
	same := *typed
	if typed.From.IsSigner() {
		same.From = called.From // resolved
	}
	if typed.To.IsUnknown() && called.To.IsSigner() {
		same.To = called.To // the origin
	}
	if called.Undecoded && called.Function == chains.InitCode {
		same.Account = called.Account // the marker does not say which delegate
	}
	plain := func(e chains.Effect) string {
		until := e.Until.String()
		e.By, e.OtherSigner, e.Function, e.Args, e.Path, e.Until = "", chains.Party{}, "", nil, "", chains.Until{}
		amount := fmt.Sprint(e.Amount.Bound, e.Amount.Value)
		e.Amount = chains.Quantity{}
		return fmt.Sprint(e.Kind, e.From, e.To, e.Account, e.Asset, amount, e.Undecoded, until)
	}
	if plain(same) == plain(*called) {
		return true
	}
	// Permit2 moves what is requested, of what the spender was allowed to take.
	allowed := typed.Kind == chains.KindApprove && called.Kind == chains.KindTransfer && called.By == chains.ByOther || typed.Kind == chains.KindApprove && called.Kind == chains.KindBurn
	return allowed && typed.Asset.Equal(called.Asset) && typed.Amount.Value.Cmp(called.Amount.Value) >= 0
}

// TestTypedDataCoversCalls draws the acts that both carry a thousand times: what the call does
// with the signature, the typed data says.
func TestTypedDataCoversCalls(t *testing.T) {
	random, used, acts := rand.New(rand.NewPCG(42, 1)), map[int]int{}, 0
	for row := range standards {
		for i := range standards[row].act.carriers {
			c := &standards[row].act.carriers[i]
			acts++
			for range 1000 {
				called, typed := bothCarriers(random, row, c)
				checkCovered(t, c.encoded(), called, typed, used)
			}
		}
	}
	for i := range reasoned {
		if used[i] == 0 {
			t.Errorf("no call has the difference: %s", reasoned[i].why)
		}
	}
	if acts < 13 {
		t.Errorf("only %d acts have two carriers", acts)
	}
}

func checkCovered(t *testing.T, act string, called, typed []chains.Effect, used map[int]int) {
	t.Helper()
	for i := range called {
		e := &called[i]
		if e.Kind == chains.KindBurn && e.From.Equal(e.To) && !slices.ContainsFunc(typed, func(own chains.Effect) bool { return covers(&own, e) }) && permits(typed) {
			continue // a transfer over an allowance goes to whom the spender says
		}
		if reason := slices.IndexFunc(reasoned, func(difference struct {
			why string
			is  func(e *chains.Effect) bool
		}) bool {
			return difference.is(e)
		}); reason >= 0 {
			used[reason]++
			continue
		}
		if e.Kind == chains.KindCall && e.Function != chains.InitCode && !e.Undecoded {
			t.Fatalf("%s: a call that is accounted for: %s", act, chains.Sentence(*e, nil))
		}
		if !slices.ContainsFunc(typed, func(own chains.Effect) bool { return covers(&own, e) }) {
			t.Fatalf("%s: the call does this, and typed data does not say it: %s\nbut\n%s", act, chains.Sentence(*e, nil), sentencesOf(typed))
		}
	}
}

// permits reports whether typed data only allows a spender to take something.
func permits(typed []chains.Effect) bool {
	return !slices.ContainsFunc(typed, func(e chains.Effect) bool { return e.Kind != chains.KindApprove && e.Kind != chains.KindRevoke })
}

func sentencesOf(effects []chains.Effect) string {
	var all []string
	for i := range effects {
		all = append(all, chains.Sentence(effects[i], nil))
	}
	return strings.Join(all, "\n")
}
