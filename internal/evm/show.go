package evm

import (
	"cmp"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Fields returns the fields that show the call: the function and its arguments for the
// common standards, or else the bytes.
func (c *Call) Fields() []chains.Field { return view{c}.fields("call") }

type view struct{ *Call }

func (c view) fields(label string) []chains.Field {
	switch {
	case c.function != nil:
		return []chains.Field{c.decodedField(label)}
	case len(c.data) == 0:
		return nil
	case c.note && plaintext.Problem(c.data) == "":
		return []chains.Field{chains.Text("data", string(c.data)).WithNote("a text, and no function that is known")}
	case c.note:
		return []chains.Field{chains.Bytes("data", c.data).WithNote("an attribution (ERC-8021), and no function " +
			"that is known")}
	case c.pass.hasPlainInput(c.code) && c.problem == "":
		return []chains.Field{c.rawField(label)}
	case len(c.data) < 4 || c.problem != "unknown function":
		return []chains.Field{chains.Bytes(label, c.data).WithNote(c.problem)}
	}
	fields := []chains.Field{chains.Bytes("selector", c.data[:4]).WithNote(c.problem)}
	if len(c.data) > 4 {
		fields = append(fields, chains.Bytes("arguments", c.data[4:]))
	}
	return []chains.Field{chains.List(label, fields...)}
}

func (c view) decodedField(label string) chains.Field {
	note := cmp.Or(c.pass.Standards[c.function.standard], c.function.standard)
	if c.dirty {
		note += "; not in its canonical encoding: read as contracts read it that ignore what is too wide"
	}
	fields := []chains.Field{chains.Text("function", c.function.signature).WithNote(note)}
	fields = append(fields, c.valuesFields(c.args)...)
	if len(c.rest) > 0 {
		fields = append(fields, chains.Bytes("after the arguments", c.rest))
	}
	return chains.List(label, fields...)
}

func (c view) valueFields(v *value, label string) []chains.Field {
	switch hasCalls := v.calls != nil && v.kind != kindArray; {
	case !hasCalls:
	case v.role == rolePacked, v.role == roleExecutions, v.role == roleCommands:
		return []chains.Field{c.onwardField(v, label)}
	case len(v.bytes) == 0:
		return []chains.Field{chains.Bytes(label, nil).WithNote("empty")}
	default:
		return view{v.calls[0]}.fields(label)
	}
	switch v.kind {
	case kindTuple:
		return []chains.Field{chains.List(label, c.valuesFields(v.list)...)}
	case kindArray:
		return []chains.Field{c.arrayField(v, label)}
	case kindAddress:
		return []chains.Field{c.addressField(label, v)}
	case kindBool:
		return []chains.Field{boolField(label, v)}
	case kindBytes, kindString:
		if v.kind == kindString && len(v.bytes) <= chains.MaxSummaryBytes && utf8.Valid(v.bytes) {
			return []chains.Field{chains.Text(label, string(v.bytes))}
		}
		return []chains.Field{chains.Bytes(label, v.bytes)}
	case kindFixed:
		return []chains.Field{chains.Bytes(label, v.fixed())}
	}
	return []chains.Field{c.integerField(label, v)}
}

func (c view) valuesFields(values []value) (fields []chains.Field) {
	for i := range values {
		fields = append(fields, c.valueFields(&values[i], values[i].name)...)
	}
	return fields
}

// arrayField shows the elements of an array: of a long one the first, and the encoding of all.
func (c view) arrayField(v *value, label string) chains.Field {
	element, most := "%d", maxShown
	if v.members[0].kind == kindBytes && v.role != "" {
		element, most = "call %d", maxCalls
	} else if v.members[0].kind == kindTuple {
		most = maxCalls
	}
	var fields []chains.Field
	for i := range v.list {
		if i == most {
			fields = append(fields, notShown(len(v.list)-most, v.raw))
			break
		}
		fields = append(fields, c.valueFields(&v.list[i], fmt.Sprintf(element, i+1))...)
	}
	return chains.List(label, fields...)
}

// notShown stands for the elements of a long list that are not shown.
func notShown(more int, all []byte) chains.Field {
	return chains.Bytes(fmt.Sprintf("%d more", more), all).WithNote("not shown: the encoding of all")
}

// onwardField shows the calls of a packed list, each with its target.
func (c view) onwardField(v *value, label string) chains.Field {
	var fields []chains.Field
	for i, call := range v.calls {
		if i == maxCalls {
			fields = append(fields, notShown(len(v.calls)-maxCalls, v.bytes))
			break
		}
		if v.role == roleCommands {
			fields = append(fields, view{call}.fields(fmt.Sprintf("command %d", i+1))...)
			continue
		}
		fields = append(fields, chains.List(fmt.Sprintf("transaction %d", i+1), view{call}.onwardFields(c.Call)...))
	}
	return chains.List(label, fields...)
}

// onwardFields shows a call that the contract makes: how, where to, and with what.
func (c view) onwardFields(from *Call) []chains.Field {
	if c.unread {
		return c.fields("bytes")
	}
	to := chains.AddressField("to", c.pass.text(c.code)).WithNote(c.pass.KnownName(c.code))
	switch {
	case c.zero:
		to = chains.AddressField("to", c.pass.text(Address{})).
			WithNote("zero stands for the calling account itself, " + c.pass.text(from.self))
	case c.code == from.self:
		to = to.WithNote("the calling account itself")
	}
	operation := byte(0)
	if c.delegate {
		operation = 1
	}
	fields := []chains.Field{operationField("operation", operation), to, chains.Amount("value", c.value,
		c.pass.Decimals, c.pass.Symbol)}
	return append(fields, c.fields("call")...)
}

// rawField shows the input of a contract without a selector.
func (c view) rawField(label string) chains.Field {
	switch n := c.pass; {
	case n.isKnown(c.code, atWithdrawals) && len(c.data) == 56:
		amount := chains.Amount("amount", new(big.Int).SetBytes(c.data[48:]), 9, "ETH")
		if zeros(c.data[48:]) {
			amount = amount.WithNote("full exit of the validator")
		}
		return chains.List(label, chains.Text("function", "withdrawal request").WithNote("EIP-7002"),
			chains.Bytes("validator key", c.data[:48]), amount)
	case n.isKnown(c.code, atConsolidations) && len(c.data) == 96:
		return chains.List(label, chains.Text("function", "consolidation request").WithNote("EIP-7251"),
			chains.Bytes("source validator key", c.data[:48]), chains.Bytes("target validator key", c.data[48:]))
	case n.isKnown(c.code, atCreate2Factory) && len(c.data) >= word:
		return chains.List(label, chains.Text("function", "create a contract").WithNote("CREATE2 factory"),
			chains.Bytes("salt", c.data[:word]), chains.Bytes("init code", c.data[word:]),
			chains.AddressField("creates", n.text(create2Address(c.code, c.data[:word], c.data[word:]))))
	}
	return chains.Bytes(label, c.data).WithNote("not an input of this contract: not decoded")
}

func (c view) addressField(label string, v *value) chains.Field {
	field := chains.AddressField(label, c.pass.text(v.address()))
	switch {
	case !v.canonical(c.pass.Tag):
		return field.WithNote(fmt.Sprintf("what stands in front of it is ignored: 0x%x", v.word[:word-20]))
	case v.role == roleTarget:
		return field.WithNote(c.pass.KnownName(v.address()))
	}
	return field
}

// integerField shows a number. A token's decimals are not in the transaction, so its
// amounts are shown unscaled.
func (c view) integerField(label string, v *value) chains.Field {
	number := v.big()
	switch {
	case c.function.at == atTIP20 && (v.role == roleAllowance || v.role == roleAmount):
		field := chains.Amount(label, number, 6, "") // as every TIP-20 token has decimals
		if v.role == roleAllowance && number.Cmp(maxTIP20) > 0 {
			field = field.WithNote("UNLIMITED: all of this token, now and later")
		}
		return field
	case v.role == roleOperation:
		return operationField(label, v.word[word-1])
	case v.role == roleAllowance && isUnlimited(c.token(erc20), number):
		return chains.BigInteger(label, number).WithNote("UNLIMITED: all of this token, now and later")
	case v.role == roleAllowance && v.name == "amount or token id":
		return chains.BigInteger(label, number).WithNote("in the token's smallest unit, or one token by its id")
	case v.role == roleAllowance || v.role == roleAmount:
		return chains.BigInteger(label, number).WithNote("in the token's smallest unit")
	case v.role == roleNative:
		return chains.Amount(label, number, c.pass.Decimals, c.pass.Symbol)
	case v.role != roleTime || number.Sign() == 0:
		return chains.BigInteger(label, number)
	case number.IsInt64() && number.Int64() <= chains.LastSecond:
		return chains.Time(label, time.Unix(number.Int64(), 0))
	}
	return chains.BigInteger(label, number).WithNote("never")
}

func boolField(label string, v *value) chains.Field {
	switch {
	case !v.yes():
		return chains.Text(label, "no")
	case v.role == roleApproval:
		return chains.Text(label, "yes").WithNote("UNLIMITED: all tokens of this contract, now and later")
	}
	return chains.Text(label, "yes")
}

func operationField(label string, operation byte) chains.Field {
	switch operation {
	case 0:
		return chains.Text(label, "call")
	case 1:
		return chains.Text(label, "DELEGATECALL").WithNote("the target's code runs as the calling account itself")
	default:
		return chains.Integer(label, uint64(operation)).WithNote("unknown operation")
	}
}
