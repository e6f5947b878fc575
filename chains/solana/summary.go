package solana

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

func (*Transaction) Chain() string { return Name }

// Summary implements chains.Transaction. It depends on the bytes alone: accounts from
// lookup tables are shown as entries of their tables even if WithTables resolved them.
func (t *Transaction) Summary() chains.Summary {
	if t.fromTables != nil {
		plain := *t
		plain.fromTables = nil
		t = &plain
	}
	signers, tables := chains.List("signers"), chains.List("address lookup tables")
	for i := range t.header.required {
		note := t.slotState(i)
		if !t.isWritable(i) {
			note += ", read-only"
		}
		signer := chains.AddressField(fmt.Sprintf("signer %d", i), encode58(t.key(i))).WithNote(note)
		signers.Fields = append(signers.Fields, signer)
	}
	for i, l := range t.lookups {
		tables.Fields = append(tables.Fields, chains.List(fmt.Sprintf("table %d", i),
			chains.AddressField("table", encode58(t.table(l))),
			chains.Text("writable entries", joinNumbers(t.writableIndexes(l))),
			chains.Text("read-only entries", joinNumbers(t.readonlyIndexes(l))),
		))
	}
	fields := []chains.Field{
		chains.Text("version", t.version.String()),
		chains.AddressField("fee payer", encode58(t.key(0))),
		signers,
		t.lifetimeField(),
		t.feeField(),
	}
	if len(t.lookups) > 0 {
		fields = append(fields, tables)
	}
	instructions := chains.List("instructions")
	for i := range t.instructions {
		instruction := chains.List(fmt.Sprintf("instruction %d", i), t.instructionFields(i)...)
		instructions.Fields = append(instructions.Fields, instruction)
	}
	fields = append(fields, instructions)
	if unused := t.unusedField(); len(unused.Fields) > 0 {
		fields = append(fields, unused)
	}
	return chains.Summary{Chain: Name, Effects: t.Effects(), Fields: fields}
}

// lifetimeField shows how long the transaction can be sent: while its blockhash is
// recent, or, if the first instruction advances a nonce, until the nonce is advanced.
func (t *accountTable) lifetimeField() chains.Field {
	hash := encode58(t.blockhash())
	nonce, ok := t.nonceAccounts()
	if !ok {
		field := chains.Text("recent blockhash", hash)
		if allZero(t.blockhash()) {
			field.Note = "zero: a placeholder"
		}
		return field
	}
	list := chains.List("durable nonce",
		chains.Text("nonce", hash),
		chains.Text("expires", "never: it can be sent until the nonce is advanced"),
		t.accountAt(int(nonce[0])).field("nonce account"))
	if len(nonce) > 2 {
		list.Fields = append(list.Fields, t.accountAt(int(nonce[2])).field("nonce authority"))
	}
	return list
}

func joinNumbers(numbers []byte) string {
	if len(numbers) == 0 {
		return "none"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// unusedField shows the message's keys that neither sign nor are used by an
// instruction. The network locks those accounts too.
func (t *accountTable) unusedField() chains.Field {
	var used [maxAccounts]bool
	for _, in := range t.instructions {
		used[t.program(in)] = true
		for _, account := range t.accounts(in) {
			used[account] = true
		}
	}
	list := chains.List("accounts of no instruction")
	for i := t.header.required; i < t.keys; i++ {
		if !used[i] {
			list.Fields = append(list.Fields, t.accountAt(i).field(fmt.Sprintf("account %d", i)))
		}
	}
	return list
}

func (t *accountTable) instructionFields(index int) []chains.Field {
	r := reader{shown: true}
	t.decodeInstruction(&r, index)
	in := t.instructions[index]
	fields := r.shownFields(t.data(in))
	if access := t.accountAt(t.program(in)).access(); access != "" {
		fields[0].Note += ", " + access
	}
	if r.program == computeProgram && t.version == Version1 {
		fields[0].Note += ": it does nothing in a v1 transaction"
	}
	return fields
}
