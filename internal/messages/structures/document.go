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
	message *eip712.Value
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
	for i := range d.data.Domain.Members {
		name, value := d.data.Domain.Members[i].Name, &d.data.Domain.Members[i].Value
		if value.Kind() == eip712.KindString && name != "name" && name != "version" {
			d.domain.text = cmp.Or(d.domain.text, name)
			continue
		}
		switch name {
		case "name":
			d.domain.name = value.Text
		case "version":
			d.domain.version = value.Text
		case "chainId":
			d.domain.chainID = value.Int
		case "verifyingContract":
			contract := evm.Address(value.Bytes)
			d.domain.contract = &contract
		case "salt":
			d.domain.salt = value.Bytes
		}
	}
	d.domain.chainID = d.domain.saltedChain(d.isMetaTransaction())
}

// saltedTokens are tokens of Polygon's bridge, whose domain has the chain id as its salt
// (maticnetwork/pos-portal, EIP712Base.sol and UChildDAI.sol): USDC.e, DAI, WETH and WBTC.
var saltedTokens = []evm.Address{
	contract("2791Bca1f2de4661ED88A30C99A7a9449Aa84174"), contract("8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063"),
	contract("7ceB23fD6bC0adD59E62ac25578270cFf1b9f619"), contract("1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"),
}

// isMetaTransaction reports whether the message is a call for pos-portal's NativeMetaTransaction.
func (d *document) isMetaTransaction() bool {
	const name = "MetaTransaction"
	return d.data.PrimaryType == name &&
		d.data.EncodeType(name) == name+"(uint256 nonce,address from,bytes functionSignature)"
}

// saltedChain returns the chain id, which of some tokens on Polygon is the salt, and of every
// contract that takes MetaTransaction as pos-portal's EIP712Base does.
func (d *domain) saltedChain(meta bool) *big.Int {
	if d.chainID != nil || d.contract == nil || len(d.salt) == 0 {
		return d.chainID
	}
	salt := new(big.Int).SetBytes(d.salt)
	if slices.Contains(saltedTokens, *d.contract) && salt.Cmp(big.NewInt(polygon)) == 0 || meta && salt.IsUint64() &&
		salt.Sign() > 0 {
		return salt
	}
	return nil
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

func (d *document) field(path ...string) *eip712.Value { return at(d.message, path...) }

// party returns the party at an address in the message.
func (d *document) party(v *eip712.Value) chains.Party { return d.network.Party(evm.Address(v.Bytes)) }

// token returns a token on the domain's chain.
func (d *document) token(v *eip712.Value, standard string) chains.Asset {
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

func (d *document) membersOf(v *eip712.Value) []chains.Field {
	fields := make([]chains.Field, 0, len(v.Members))
	for i := range v.Members {
		fields = append(fields, d.fieldOf(v.Members[i].Name, &v.Members[i].Value))
	}
	return fields
}

func (d *document) fieldOf(label string, v *eip712.Value) chains.Field {
	if field, ok := d.plainField(label, v); ok {
		return field
	}
	if v.Members != nil || v.List == nil {
		return chains.List(label, d.membersOf(v)...)
	}
	elements := make([]chains.Field, len(v.List))
	for i := range v.List {
		elements[i] = d.fieldOf(strconv.Itoa(i), &v.List[i])
	}
	return chains.List(label, elements...)
}

// plainField returns a field for a value of a built-in type; ok is false for structs
// and arrays.
func (d *document) plainField(label string, v *eip712.Value) (field chains.Field, ok bool) {
	switch v.Kind() {
	case eip712.KindBool:
		return chains.Text(label, strconv.FormatBool(v.Bool)), true
	case eip712.KindString:
		return chains.Text(label, v.Text), true
	case eip712.KindAddress:
		return chains.AddressField(label, d.party(v).String()), true
	case eip712.KindBytes, eip712.KindFixedBytes:
		return chains.Bytes(label, v.Bytes), true
	case eip712.KindUint, eip712.KindInt:
		return chains.BigInteger(label, v.Int), true
	}
	return field, false
}

// maxArg is the length of the longest value that a policy sees, in bytes.
const maxArg = 256

// plainMembers returns what a policy sees of a message: the members of the domain and the
// message that are neither structs nor arrays.
func (d *document) plainMembers() []chains.Arg {
	args := []chains.Arg{}
	for i := range d.data.Domain.Members {
		m := &d.data.Domain.Members[i]
		args = d.appendArg(args, "domain."+m.Name, &m.Value)
	}
	for i := range d.message.Members {
		m := &d.message.Members[i]
		args = d.appendArg(args, m.Name, &m.Value)
	}
	return args
}

func (d *document) appendArg(args []chains.Arg, name string, v *eip712.Value) []chains.Arg {
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
