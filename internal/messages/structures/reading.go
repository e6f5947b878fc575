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
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Verifier is a chain whose contracts verify typed data.
type Verifier struct {
	Chain chains.MessageSigner

	// Contracts returns the network of the contracts of a domain's chain id, which is nil if
	// the domain has none.
	Contracts func(chainID *big.Int) *evm.Network

	// MaxFee bounds the fee of a message, in whole units of the native asset; 0 is the bound
	// of the network.
	MaxFee float64
}

// Parse reads typed data from JSON text. The error is a *chains.ParseError, which wraps
// chains.ErrUnsupported if contracts of another chain verify the data.
func Parse(text chains.Message, by Verifier) (chains.Transaction, error) {
	data, err := eip712.Parse(text.Bytes)
	if err != nil {
		return nil, err
	}
	if data.Chain != by.Chain.Name() {
		return nil, &chains.ParseError{Kind: chains.ErrUnsupported, Chain: eip712.Name, Field: "domain.chainId", Offset: -1,
			Problem: fmt.Sprintf("the domain is one of %s, and this engine does not sign for %s", data.Chain, data.Chain)}
	}
	r := &reading{data: data, message: &data.Message, now: text.Now, maxFee: by.MaxFee}
	r.readDomain()
	r.network = by.Contracts(r.domain.chainID)
	if r.read(); r.err != nil {
		return nil, r.err
	}
	return &statement.Message{Chain: by.Chain, Content: r, Digest: data.Digest()}, nil
}

// reading is a message whose effects are being derived.
type reading struct {
	data    *eip712.TypedData
	message *eip712.Value
	now     time.Time
	domain  domain
	network *evm.Network // of the contracts to which the message is addressed

	effects []chains.Effect
	args    []chains.Arg          // of the message, once asked for
	shown   func() []chains.Field // the decoded calls; nil if there are none
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
	return len(r.network.Prefix) == 0 && r.domain.contract != nil && slices.Contains(contracts, *r.domain.contract)
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
		typed := evm.Typed{Type: encoded, Name: r.domain.name, Version: r.domain.version, Contract: r.domain.contract,
			Members: func() []chains.TypedValue { return typedMembers(r.message) }}
		if signed, ok := r.network.ReadTyped(typed); ok {
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

// Effects implements statement.Content. Those that have no arguments of a call have those of the
// message, which no hazard depends on.
func (r *reading) Effects(signer statement.Signer) []chains.Effect {
	if r.args == nil {
		r.args = r.plainMembers()
	}
	effects := slices.Clone(r.effects)
	for i := range effects {
		if effects[i].Args == nil {
			effects[i].Args = r.args
		}
	}
	return signer.Resolve(effects, r.own)
}

// OwnEffects implements statement.OwnContent.
func (r *reading) OwnEffects() []chains.Effect {
	if r.own == nil {
		return nil
	}
	return r.effects
}

// act adds what the message does as an act that calls of contracts do too.
func (r *reading) act(signed *evm.Signed) {
	r.effects, r.shown, r.own, r.byChain = signed.Effects, signed.Fields, signed.Own, signed.ByChain
	if signed.Problem != nil {
		r.err = statement.Malformed(eip712.Name, "message."+signed.Member, -1, "%v", signed.Problem)
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
		r.danger(HazardHiddenContents, effect, "%q is 32 bytes, like a hash or a root: the message does not contain what was hashed",
			r.data.PrimaryType+"."+m[0].Name)
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

// plainMembers returns what a policy sees of a message: the members of the domain and the
// message that are neither structs nor arrays.
func (r *reading) plainMembers() []chains.Arg {
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
