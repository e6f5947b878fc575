package tron

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
)

func (*transaction) Chain() string { return Name }

// Summary implements chains.Transaction: the contract by its table, then what is around it.
func (tx *transaction) Summary() chains.Summary {
	fields := []chains.Field{chains.Text("type", tx.contract.message.name).WithNote(tx.contract.title)}
	fields = append(fields, chains.AddressField("owner", tx.owner.String()))
	contract := summarize(tx.raw, tx.contract.message, tx.values)
	switch tx.contract.number {
	case numberPermissions:
		tx.showPermissionIDs(contract)
	case numberTrigger:
		contract = append(contract, tx.call(network.Pass()).Fields()...)
	}
	fees := []chains.Field{chains.AmountUint("at most", tx.maximumFee(), sunDecimals, "TRX")}
	for _, charged := range tx.fees() {
		fees = append(fees, chains.AmountUint(charged.label, uint64(charged.sun), sunDecimals,
			"TRX").WithNote(charged.note))
	}
	fields = append(append(fields, contract...), chains.List("fee", fees...))
	if tx.contract.number == numberCreate {
		fields = append(fields, chains.AddressField("creates", tx.createdAddress().String()))
	}
	fields = append(fields, tx.frameSummary()...)
	return chains.Summary{Chain: Name, Effects: tx.Effects(), Fields: fields}
}

// showPermissionIDs shows the ids that the network gives to the permissions, whatever
// the transaction says: 0 to the owner's, 1 to the witness's, and from 2 on to the
// active ones in their order.
func (tx *transaction) showPermissionIDs(fields []chains.Field) {
	active := uint64(2)
	for i := range fields {
		id := uint64(permissionOwner)
		switch fields[i].Label {
		case tx.label(updateWitness):
			id = permissionWitness
		case tx.label(updateActives):
			id = active
			active++
		}
		shown := chains.Integer("id", id)
		label := permissionMessage.fields[permissionID].label
		rest := slices.DeleteFunc(fields[i].Fields, func(f chains.Field) bool {
			if f.Label != label {
				return false
			}
			if f.Value != shown.Value {
				shown = shown.WithNote("the transaction says " + f.Value + ": the network numbers permissions itself")
			}
			return true
		})
		fields[i].Fields = slices.Insert(rest, 1, shown)
	}
}

func (tx *transaction) frameSummary() []chains.Field {
	fields := summarize(tx.raw, contractMessage, tx.envelope[:])
	fields = append(fields, summarize(tx.raw, rawMessage, tx.frame[:])...)
	for i, field := range fields {
		if field.Label == contractMessage.fields[contractPermission].label {
			fields[i].Note = "active"
		}
	}
	fields = append(fields, chains.Bytes("transaction id", tx.id[:]))
	for _, signature := range tx.signatures {
		fields = append(fields, chains.AddressField("signed by", signature.signer.String()))
	}
	return fields
}

// summarize shows the fields of a message that was read, except the owner, which is
// shown before them.
func summarize(raw []byte, m *message, v []value) []chains.Field {
	var fields []chains.Field
	for index := range m.fields {
		f := &m.fields[index]
		// Of what is absent, the default of enums, of flags that matter and of percentages is shown.
		shown := v[index].present() || f.kind == kindEnum || f.showUnset || f.unit == "%"
		if f.label == "" || f.kind == kindOwner || !shown {
			continue
		}
		if f.kind == kindMessages {
			for entry := range entries(raw, v[index]) {
				fields = append(fields, f.nested(raw, entry))
			}
			continue
		}
		fields = append(fields, f.summary(raw, v[index]))
	}
	return fields
}

func (f *field) nested(raw []byte, span value) chains.Field {
	inner := f.of.reread(raw, span)
	return chains.List(f.label, summarize(raw, f.of, inner[:])...)
}

func (f *field) summary(raw []byte, v value) chains.Field {
	payload := v.of(raw)
	switch f.kind {
	case kindAddress:
		return chains.AddressField(f.label, readAddress(payload).String())
	case kindText, kindString, kindToken:
		if f.kind == kindToken && string(payload) == trxToken {
			return chains.Text(f.label, trxToken).WithNote("TRX, amounts in sun")
		}
		return textOrBytes(f.label, payload)
	case kindOperations:
		return operationsField(f.label, payload)
	case kindSun:
		return chains.AmountUint(f.label, uint64(v.number), sunDecimals, "TRX").
			WithNote(fmt.Sprintf("%d sun", v.number))
	case kindTime:
		if v.number/1000 > chains.LastSecond {
			return chains.Field{Label: f.label, Type: chains.TypeInteger, Value: strconv.FormatInt(v.number, 10),
				Symbol: "ms since 1970"}
		}
		return chains.Time(f.label, time.UnixMilli(v.number))
	case kindBool, kindEnum:
		return chains.Text(f.label, f.names[v.number])
	case kindMessage:
		if f.opaque {
			return chains.Bytes(f.label, payload)
		}
		return f.nested(raw, v)
	case kindInt, kindInt32:
		return chains.Field{Label: f.label, Type: chains.TypeInteger, Value: strconv.FormatInt(v.number, 10),
			Symbol: f.unit}
	}
	return chains.Bytes(f.label, payload)
}

// textOrBytes shows bytes as text if all of it is printable.
func textOrBytes(label string, payload []byte) chains.Field {
	if !utf8.Valid(payload) || len(payload) > chains.MaxSummaryBytes {
		return chains.Bytes(label, payload)
	}
	for _, r := range string(payload) {
		if !unicode.IsPrint(r) {
			return chains.Bytes(label, payload)
		}
	}
	return chains.Text(label, string(payload))
}

// operationsField lists the contract types that an active permission may sign: bit n,
// from the lowest of the first byte on, is type n.
func operationsField(label string, mask []byte) chains.Field {
	fields := []chains.Field{chains.Text("mask", hex.EncodeToString(mask))}
	for number := range len(mask) * 8 {
		if mask[number/8]>>(number%8)&1 != 0 {
			fields = append(fields, chains.Text("may sign", typeName(number)))
		}
	}
	return chains.List(label, fields...)
}

func typeName(number int) string {
	if number < len(contracts) && contracts[number] != nil {
		return contracts[number].message.name
	}
	if name, _, known := strings.Cut(unexecuted[int64(number)], ":"); known {
		return name
	}
	return fmt.Sprintf("type %d", number)
}
