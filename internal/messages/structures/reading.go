// Package structures reads typed data (EIP-712) and derives the effects of widely used
// structures: permits, orders, transactions of smart accounts.
//
// A structure is recognized by its whole encoded type and, if its meaning depends on
// one contract, by the address of that contract. Everything else is an undecoded
// message.
package structures

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Message is parsed typed data.
type Message struct {
	*statement.Message
	read *reading
}

var _ chains.Caller = (*Message)(nil)

// Calls implements chains.Caller. It returns the message as a call of its verifying
// contract, if the domain names one.
func (m *Message) Calls() []chains.Call {
	r := m.read
	if r.domain.contract == nil {
		return nil
	}
	return []chains.Call{{Path: "message", Chain: r.network.ID, From: chains.SignerParty(), To: r.network.Party(*r.domain.contract), Typed: &chains.Typed{
		Type: r.data.EncodeType(r.data.PrimaryType), DomainName: r.domain.name, DomainVersion: r.domain.version, Members: typedMembers(r.message),
	}}}
}

// Parse reads typed data from JSON text with the default limits. Deadlines are compared
// with now. The error is a *chains.ParseError.
func Parse(text []byte, now time.Time) (*Message, error) { return Reader{Now: now}.Parse(text) }

// Reader reads typed data.
type Reader struct {
	Now time.Time // what deadlines are compared with

	// Chain returns the chain of a name, or nil if no message of it is signed. If Chain is
	// nil, the chains have their default limits.
	Chain func(name string) chains.Chain
}

// Verifier is a chain whose contracts verify typed data.
type Verifier interface {
	chains.MessageSigner

	// Contracts returns the network of the contracts of a domain's chain id, which is nil if
	// the domain has none.
	Contracts(chainID *big.Int) *evm.Network

	// MaxFee bounds the fee of a message, in whole units of the native asset; 0 is the bound
	// of the network.
	MaxFee() float64
}

// verifiers have the default limits.
var verifiers = map[string]Verifier{ethereum.Name: ethereum.Chain{}, tron.Name: tron.Chain{}}

// verifier returns the chain of a name: the reader's, or the one with default limits for a
// chain of the embedder's.
func (by Reader) verifier(name string) (Verifier, error) {
	if by.Chain == nil {
		return verifiers[name], nil
	}
	switch chain := by.Chain(name).(type) {
	case Verifier:
		return chain, nil
	case nil:
		return nil, statement.Malformed(eip712.Name, "domain.chainId", -1, "the domain is one of %s, and this engine does not sign for %s", name, name)
	}
	return verifiers[name], nil
}

// Parse reads typed data from JSON text. The error is a *chains.ParseError.
func (by Reader) Parse(text []byte) (*Message, error) {
	data, err := eip712.Parse(text)
	if err != nil {
		return nil, err
	}
	chain, err := by.verifier(data.Chain)
	if err != nil {
		return nil, err
	}
	r := &reading{data: data, message: &data.Message, now: by.Now, maxFee: chain.MaxFee()}
	r.readDomain()
	r.network = chain.Contracts(r.domain.chainID).Pass()
	brief := *r
	brief.network = r.network.Briefly()
	if brief.read(); brief.err != nil {
		return nil, brief.err
	}
	whole := sync.OnceValue(func() *reading { r.read(); r.argue(); return r })
	parts := statement.Parts{Chain: chain, Effects: brief.effects, Hazards: brief.allHazards, Own: brief.own, Digest: data.Digest(),
		Fields: func() []chains.Field { return whole().fields() }, Whole: func() []chains.Effect { return whole().effects }}
	return &Message{parts.Transaction(), r}, nil
}

// reading is a message whose effects are being derived.
type reading struct {
	data    *eip712.TypedData
	message *eip712.Value
	now     time.Time
	domain  domain
	network *evm.Pass // over the contracts to which the message is addressed

	effects []chains.Effect
	shown   []chains.Field // the decoded calls
	hazards []chains.Hazard
	owners  []owner
	maxFee  float64
	order   bool // the order that is being read gives something for a price
	orders  []span
	byChain bool // the chain itself verifies the message, and no contract

	// own changes what depends on which accounts are our own; nil if nothing does.
	own func(effects []chains.Effect, own func(chains.Party) bool)
	err error // why no signature over the message is valid
}

// domain has the members of the domain. Absent ones are nil or empty.
type domain struct {
	name, version string
	chainID       *big.Int
	contract      *evm.Address
	salt          []byte
	text          string // the name of a member that is text where EIP-712 has none
}

// span is where the effects of one order are: from the first to before the last.
type span struct{ first, last int }

// sold ends the reading of an order whose effects begin at an index. Each order has to be worth
// what it gives by itself.
func (r *reading) sold(first int) {
	if r.order {
		r.orders, r.order = append(r.orders, span{first, len(r.effects)}), false
	}
}

// owner is a party whose own signature an effect requires.
type owner struct {
	party  chains.Party
	effect int // index
}

func (r *reading) readDomain() {
	for i := range r.data.Domain.Members {
		name, value := r.data.Domain.Members[i].Name, &r.data.Domain.Members[i].Value
		if value.Kind() == eip712.KindString && name != "name" && name != "version" {
			r.domain.text = cmp.Or(r.domain.text, name)
			continue
		}
		switch name {
		case "name":
			r.domain.name = value.Text
		case "version":
			r.domain.version = value.Text
		case "chainId":
			r.domain.chainID = value.Int
		case "verifyingContract":
			contract := evm.Address(value.Bytes)
			r.domain.contract = &contract
		case "salt":
			r.domain.salt = value.Bytes
		}
	}
	r.domain.chainID = r.domain.saltedChain(r.isMetaTransaction())
}

// saltedTokens are tokens of Polygon's bridge, whose domain has the chain id as its salt
// (maticnetwork/pos-portal, EIP712Base.sol and UChildDAI.sol): USDC.e, DAI, WETH and WBTC.
var saltedTokens = []evm.Address{
	contract("2791Bca1f2de4661ED88A30C99A7a9449Aa84174"), contract("8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063"),
	contract("7ceB23fD6bC0adD59E62ac25578270cFf1b9f619"), contract("1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"),
}

// isMetaTransaction reports whether the message is a call for pos-portal's NativeMetaTransaction.
func (r *reading) isMetaTransaction() bool {
	const name = "MetaTransaction"
	return r.data.PrimaryType == name && r.data.EncodeType(name) == name+"(uint256 nonce,address from,bytes functionSignature)"
}

// saltedChain returns the chain id, which of some tokens on Polygon is the salt, and of every
// contract that takes MetaTransaction as pos-portal's EIP712Base does.
func (d *domain) saltedChain(meta bool) *big.Int {
	if d.chainID != nil || d.contract == nil || len(d.salt) == 0 {
		return d.chainID
	}
	salt := new(big.Int).SetBytes(d.salt)
	if slices.Contains(saltedTokens, *d.contract) && salt.Cmp(big.NewInt(polygon)) == 0 || meta && salt.IsUint64() && salt.Sign() > 0 {
		return salt
	}
	return nil
}

// verifiedBy reports whether one of some contracts verifies the message. They are known by
// their addresses on the chains of EIP-155.
func (r *reading) verifiedBy(contracts ...evm.Address) bool {
	return r.data.Chain == ethereum.Name && r.domain.contract != nil && slices.Contains(contracts, *r.domain.contract)
}

// structure is a known type.
type structure struct {
	encoded string // EncodeType of the primary type
	read    func(r *reading)
}

// read derives the effects and hazards.
func (r *reading) read() {
	encoded := r.data.EncodeType(r.data.PrimaryType)
	if read, ok := byType[leafType(encoded)]; ok {
		read(r)
		r.sold(0)
	}
	if len(r.effects) == 0 {
		if signed, ok := r.network.ReadTyped(evm.Typed{Type: encoded, Name: r.domain.name, Version: r.domain.version, Contract: r.domain.contract, Members: func() []chains.TypedValue { return typedMembers(r.message) }}); ok {
			r.act(signed)
			r.relay()
		}
	}
	if r.data.PrimaryType == "BulkOrder" && len(r.effects) == 0 {
		index := r.undecoded()
		r.danger(HazardHiddenContents, index, "a signature over the root is valid for every order in the tree")
	}
	if len(r.effects) == 0 {
		r.hidden(r.undecoded())
	}
	r.cut()
	for i := range r.effects {
		effect := &r.effects[i]
		if effect.Function == "" {
			effect.Function = r.data.PrimaryType
		}
	}
	r.domainHazards()
	if of := texts.KeyOfType(encoded); of != "" {
		r.danger(texts.HazardKeyDerivation, whole, texts.KeyDerivation, of)
	} else {
		r.keyHazard(r.message)
	}
}

// argue gives the arguments of the message to the effects that have none of a call.
func (r *reading) argue() {
	for i := range r.effects {
		if r.effects[i].Args == nil {
			r.effects[i].Args = r.args()
		}
	}
}

// act adds what the message does as an act that calls of contracts do too.
func (r *reading) act(signed *evm.Signed) {
	r.effects, r.shown, r.own, r.byChain = signed.Effects, signed.Fields, signed.Own, signed.ByChain
	if signed.Problem != nil {
		r.err = &chains.ParseError{Kind: chains.ErrMalformed, Chain: eip712.Name, Field: "message." + signed.Member, Offset: -1, Problem: signed.Problem.Error()}
	}
	for _, claim := range signed.Owners {
		r.owners = append(r.owners, owner{claim.Party, claim.Effect})
	}
	for _, end := range signed.Ends {
		r.ends(end.Until, end.Effect)
	}
	if !signed.Delegate.IsNone() {
		r.danger(HazardDelegatecall, whole, "the code of %s runs as the Safe and may do anything with it", signed.Delegate)
	}
}

// cut replaces the effects beyond those that a transaction may have by one that is not
// decoded, which gets their hazards.
func (r *reading) cut() {
	const last = chains.MaxEffects - 1
	if len(r.effects) <= chains.MaxEffects {
		return
	}
	r.effects = append(r.effects[:last], chains.Effect{Kind: chains.KindCall, From: chains.SignerParty(), By: chains.BySigner,
		To: chains.UnknownParty(), Undecoded: true, Path: "message"})
	for i, hazard := range r.hazards {
		if index, ok := hazard.Effect(); ok {
			r.hazards[i] = hazard.OnEffect(min(index, last))
		}
	}
	for i := range r.owners {
		r.owners[i].effect = min(r.owners[i].effect, last)
	}
}

// undecoded adds the message as an undecoded effect, and returns its index.
func (r *reading) undecoded() int {
	effect := chains.Effect{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, Undecoded: true, Path: "message"}
	if r.domain.contract != nil {
		effect.To = r.network.Party(*r.domain.contract)
	}
	return r.add(effect)
}

// hidden adds the hazard of a struct that has only a hash.
func (r *reading) hidden(effect int) {
	if m := r.message.Members; len(m) == 1 && m[0].Value.Type == "bytes32" {
		r.danger(HazardHiddenContents, effect, "%q is 32 bytes, like a hash or a root: the message does not contain what was hashed", r.data.PrimaryType+"."+m[0].Name)
	}
}

// add adds an effect, caused by the signer unless it says otherwise, and returns its
// index. What is sent where it is lost, or where anyone can take it, is burned.
func (r *reading) add(effect chains.Effect) int {
	if effect.By == "" {
		effect.By = chains.BySigner
	}
	r.effects = append(r.effects, r.network.Settled(effect))
	return len(r.effects) - 1
}

// addFrom adds an effect that requires the signature of its From party.
func (r *reading) addFrom(effect chains.Effect) int {
	index := r.add(effect)
	r.owners = append(r.owners, owner{effect.From, index})
	return index
}

// whole is the effect of a danger that belongs to the message and to no single effect.
const whole = -1

// danger adds a hazard of an effect, or of the whole message.
func (r *reading) danger(name string, effect int, format string, args ...any) {
	hazard := chains.Hazard{Name: name, Detail: fmt.Sprintf(format, args...)}
	if effect != whole {
		hazard = hazard.OnEffect(effect)
	}
	r.hazards = append(r.hazards, hazard)
}

// at returns the value at a path of members, which the recognized type has.
func at(v *eip712.Value, path ...string) *eip712.Value {
	for _, name := range path {
		member, ok := v.Find(name)
		if !ok {
			panic("structures: no member " + name) // tests read each structure
		}
		v = member
	}
	return v
}

func (r *reading) field(path ...string) *eip712.Value { return at(r.message, path...) }

// party returns the party at an address in the message.
func (r *reading) party(v *eip712.Value) chains.Party { return r.network.Party(evm.Address(v.Bytes)) }

// token returns a token on the domain's chain.
func (r *reading) token(v *eip712.Value, standard string) chains.Asset {
	return chains.Token(r.network.ID, r.party(v), standard)
}

// maxArg is the length of the longest value that a policy sees, in bytes.
const maxArg = 256

// args returns what a policy sees of a message: the members of the domain and the
// message that are neither structs nor arrays.
func (r *reading) args() []chains.Arg {
	args := []chains.Arg{}
	for i := range r.data.Domain.Members {
		m := &r.data.Domain.Members[i]
		args = r.appendArg(args, "domain."+m.Name, &m.Value)
	}
	for i := range r.message.Members {
		m := &r.message.Members[i]
		args = r.appendArg(args, m.Name, &m.Value)
	}
	return args
}

func (r *reading) appendArg(args []chains.Arg, name string, v *eip712.Value) []chains.Arg {
	field, ok := r.plainField(name, v)
	if !ok || len(field.Value) > maxArg || field.Length > 0 {
		return args
	}
	if field.Type == chains.TypeBytes {
		field.Value = "0x" + field.Value
	}
	return append(args, chains.Arg{Name: name, Value: field.Value})
}
