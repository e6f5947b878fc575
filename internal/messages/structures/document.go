package structures

import (
	"cmp"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// document is typed data, as contracts of a network read it.
type document struct {
	data    *eip712.TypedData
	message *chains.TypedValue
	domain  domain
	network *evm.Network // of the contracts to which the message is addressed
}

// domain has the members of the domain. Absent ones are nil or empty.
type domain struct {
	name, version string
	chainID       *big.Int
	contract      *evm.Address
	salt          []byte
	text          string // the name of a member that is text where EIP-712 has none
}

func (d *document) readDomain() {
	for i := range d.data.Domain.List {
		value := &d.data.Domain.List[i]
		name := value.Name
		if value.Kind == chains.TypedText && name != "name" && name != "version" {
			d.domain.text = cmp.Or(d.domain.text, name)
			continue
		}
		switch name {
		case "name":
			d.domain.name = string(value.Bytes)
		case "version":
			d.domain.version = string(value.Bytes)
		case "chainId":
			d.domain.chainID = value.Number
		case "verifyingContract":
			contract := evm.Address(value.Bytes)
			d.domain.contract = &contract
		case "salt":
			d.domain.salt = value.Bytes
		}
	}
	d.domain.chainID = d.saltedChain()
}

// saltedTokens are tokens of Polygon's bridge, whose domain has the chain id as its salt
// (maticnetwork/pos-portal, EIP712Base.sol and UChildDAI.sol): USDC.e, DAI, WETH and WBTC.
var saltedTokens = []evm.Address{
	contract("2791Bca1f2de4661ED88A30C99A7a9449Aa84174"), contract("8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063"),
	contract("7ceB23fD6bC0adD59E62ac25578270cFf1b9f619"), contract("1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"),
}

// saltedChain returns the chain id, which of some tokens on Polygon is the salt, and of every
// contract that takes MetaTransaction as pos-portal's EIP712Base does.
func (d *document) saltedChain() *big.Int {
	if d.domain.chainID != nil || d.domain.contract == nil || len(d.domain.salt) == 0 {
		return d.domain.chainID
	}
	salt := new(big.Int).SetBytes(d.domain.salt)
	const meta = "MetaTransaction(uint256 nonce,address from,bytes functionSignature)"
	isMeta := d.data.PrimaryType == "MetaTransaction" && d.data.EncodeType(d.data.PrimaryType) == meta
	if slices.Contains(saltedTokens, *d.domain.contract) && salt.Cmp(big.NewInt(polygon)) == 0 ||
		isMeta && salt.IsUint64() && salt.Sign() > 0 {
		return salt
	}
	return nil
}

// at returns the value at a path of members, which the recognized type has.
func at(v *chains.TypedValue, path ...string) *chains.TypedValue {
	for _, name := range path {
		member, ok := v.Member(name)
		if !ok {
			panic("structures: no member " + name) // tests read each structure
		}
		v = member
	}
	return v
}

func (d *document) field(path ...string) *chains.TypedValue { return at(d.message, path...) }

func (d *document) text(path ...string) string { return string(d.field(path...).Bytes) }

func (d *document) party(v *chains.TypedValue) chains.Party {
	return d.network.Party(evm.Address(v.Bytes))
}

// token returns a token on the domain's chain.
func (d *document) token(v *chains.TypedValue, standard string) chains.Asset {
	return chains.Token(d.network.ID, d.party(v), standard)
}

// verifiedBy returns whether one of some contracts verifies a document. They are known by their
// addresses on the chains of EIP-155.
func verifiedBy(contracts ...evm.Address) func(*document) bool {
	return func(d *document) bool {
		return len(d.network.Prefix) == 0 && d.domain.contract != nil && slices.Contains(contracts, *d.domain.contract)
	}
}

// named returns whether the domain of a document has a name.
func named(name string) func(*document) bool {
	return func(d *document) bool { return d.domain.name == name }
}

func (d *document) membersOf(v *chains.TypedValue) []chains.Field {
	fields := make([]chains.Field, len(v.List))
	for i := range v.List {
		label := v.List[i].Name
		if v.Kind == chains.TypedList {
			label = strconv.Itoa(i)
		}
		field, ok := d.plainField(label, &v.List[i])
		if !ok {
			field = chains.List(label, d.membersOf(&v.List[i])...)
		}
		fields[i] = field
	}
	return fields
}

// plainField returns a field for a value of a built-in type; ok is false for structs and arrays.
func (d *document) plainField(label string, v *chains.TypedValue) (field chains.Field, ok bool) {
	switch v.Kind {
	case chains.TypedBool:
		return chains.Text(label, strconv.FormatBool(v.Number.Sign() != 0)), true
	case chains.TypedText:
		return chains.Text(label, string(v.Bytes)), true
	case chains.TypedAddress:
		return chains.AddressField(label, d.party(v).String()), true
	case chains.TypedBytes, chains.TypedFixedBytes:
		return chains.Bytes(label, v.Bytes), true
	case chains.TypedNumber:
		return chains.BigInteger(label, v.Number), true
	}
	return field, false
}

// maxArg is the length of the longest value that a policy sees, in bytes.
const maxArg = 256

// plainMembers returns what a policy sees of a message: the members of the domain and the
// message that are neither structs nor arrays.
func (d *document) plainMembers() []chains.Arg {
	args := []chains.Arg{}
	for i := range d.data.Domain.List {
		args = d.appendArg(args, "domain."+d.data.Domain.List[i].Name, &d.data.Domain.List[i])
	}
	for i := range d.message.List {
		args = d.appendArg(args, d.message.List[i].Name, &d.message.List[i])
	}
	return args
}

func (d *document) appendArg(args []chains.Arg, name string, v *chains.TypedValue) []chains.Arg {
	field, ok := d.plainField(name, v)
	if !ok || len(field.Value) > maxArg || field.Length > 0 {
		return args
	}
	if field.Type == chains.TypeBytes {
		field.Value = "0x" + field.Value
	}
	return append(args, chains.Arg{Name: name, Value: field.Value})
}

// contract parses the address of a contract in the tables.
func contract(digits string) evm.Address {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic("structures: " + err.Error())
	}
	return evm.Address(raw)
}
