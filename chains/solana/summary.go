package solana

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Summary implements chains.Transaction.
func (t *Transaction) Summary() chains.Summary {
	fields := []chains.Field{
		chains.Text("version", t.version.String()),
		chains.AddressField("fee payer", encode58(t.key(0))),
		t.signersField(),
		t.lifetimeField(),
	}
	if t.version == Version1 {
		fields = append(fields, t.configField())
	} else if budget, ok := t.budgetField(); ok {
		fields = append(fields, budget)
	}
	if len(t.lookups) > 0 {
		fields = append(fields, t.lookupsField())
	}
	fields = append(fields, t.instructionsField())
	if unused := t.unusedField(); len(unused.Fields) > 0 {
		fields = append(fields, unused)
	}
	return chains.Summary{Chain: Name, Fields: fields}
}

// SignerView implements chains.Transaction: what the key is in this transaction.
func (t *Transaction) SignerView(signer keystore.PublicKey) []chains.Field {
	if signer.Curve() != keystore.CurveEd25519 {
		return nil
	}
	raw := signer.Ed25519()
	ours := chains.AddressField("ours", encode58(raw[:]))
	slot := t.slotOf(raw)
	if slot < 0 {
		return []chains.Field{ours.WithNote("not a signer of this transaction")}
	}
	role := fmt.Sprintf("signer %d, %s", slot, t.slotState(slot))
	if slot == 0 {
		role += ", pays the fee"
	}
	fields := []chains.Field{ours.WithNote(role)}
	if used := t.instructionsWith(slot); len(used) > 0 {
		fields = append(fields, chains.Text("ours is an account of", strings.Join(used, ", ")))
	}
	return fields
}

// instructionsWith names the instructions that are given an account.
func (t *Transaction) instructionsWith(account int) (names []string) {
	for i, in := range t.instructions {
		if strings.IndexByte(string(t.accounts(in)), byte(account)) >= 0 {
			names = append(names, fmt.Sprintf("instruction %d", i))
		}
	}
	return names
}

func (t *Transaction) signersField() chains.Field {
	signers := chains.List("signers")
	for i := range t.header.required {
		field := chains.AddressField(fmt.Sprintf("signer %d", i), encode58(t.key(i)))
		note := t.slotState(i)
		if !t.isWritable(i) {
			note += ", read-only"
		}
		signers.Fields = append(signers.Fields, field.WithNote(note))
	}
	return signers
}

// lifetimeField shows how long the transaction can be sent: as long as its
// blockhash is recent, or, if the first instruction advances a nonce, until
// somebody advances it.
func (t *Transaction) lifetimeField() chains.Field {
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
		t.accountField("nonce account", int(nonce[0])))
	if len(nonce) > 2 {
		list.Fields = append(list.Fields, t.accountField("nonce authority", int(nonce[2])))
	}
	return list
}

// nonceAccounts returns the accounts of AdvanceNonceAccount if the transaction
// lives by a durable nonce: the nonce account first, its authority third. As the
// network does, it looks at the number of the first instruction alone, not at
// what may be behind it.
func (t *Transaction) nonceAccounts() (accounts []byte, ok bool) {
	if len(t.instructions) == 0 {
		return nil, false
	}
	first := t.instructions[0]
	data, accounts := t.data(first), t.accounts(first)
	return accounts, t.programID(first) == systemID && len(accounts) > 0 && t.isWritable(int(accounts[0])) &&
		len(data) >= 4 && data[0] == advanceNonce && allZero(data[1:4])
}

func (t *Transaction) programID(in instruction) [keySize]byte {
	return [keySize]byte(t.key(t.program(in)))
}

func (t *Transaction) lookupsField() chains.Field {
	tables := chains.List("address lookup tables")
	for i, l := range t.lookups {
		tables.Fields = append(tables.Fields, chains.List(fmt.Sprintf("table %d", i),
			chains.AddressField("table", encode58(t.table(l))),
			chains.Text("writable entries", joinNumbers(t.writableIndexes(l))),
			chains.Text("read-only entries", joinNumbers(t.readonlyIndexes(l))),
		))
	}
	return tables
}

func joinNumbers(numbers []byte) string {
	if len(numbers) == 0 {
		return "none"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

func (t *Transaction) instructionsField() chains.Field {
	list := chains.List("instructions")
	for i, in := range t.instructions {
		list.Fields = append(list.Fields, chains.List(fmt.Sprintf("instruction %d", i), t.instructionFields(in)...))
	}
	return list
}

// unusedField shows the message's keys that are neither signers nor used by an
// instruction: the network locks those accounts all the same.
func (t *Transaction) unusedField() chains.Field {
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
			list.Fields = append(list.Fields, t.accountField(fmt.Sprintf("account %d", i), i))
		}
	}
	return list
}

// instructionFields shows one instruction: decoded if it can be, or whole.
func (t *Transaction) instructionFields(in instruction) []chains.Field {
	id := t.programID(in)
	field := chains.AddressField("program", encode58(id[:]))
	known, ok := findProgram(id)
	field.Note = "not a program that is decoded"
	if ok {
		field.Note = known.name + " program"
	}
	if access := t.access(t.program(in)); access != "" {
		field.Note += ", " + access
	}
	if !ok {
		return append([]chains.Field{field}, t.undecoded(in)...)
	}
	if id == computeID && t.version == Version1 {
		field.Note += ": it does nothing in a v1 transaction"
	}
	result, err := t.decode(known, in)
	if err != nil {
		fields := []chains.Field{field, chains.Text("not decoded", err.Error())}
		return append(fields, t.undecoded(in)...)
	}
	return append([]chains.Field{field}, result.fields()...)
}

func (t *Transaction) decode(known program, in instruction) (decoded, error) {
	data := &cursor{raw: t.raw[:in.dataAt+in.size], at: in.dataAt}
	if known.decode != nil {
		return known.decode(known, t, t.accounts(in), data)
	}
	return known.decodeLayout(t, t.accounts(in), data)
}

// undecoded shows an instruction's accounts and data as they are.
func (t *Transaction) undecoded(in instruction) []chains.Field {
	accounts := chains.List("accounts")
	for i, account := range t.accounts(in) {
		accounts.Fields = append(accounts.Fields, t.accountField(fmt.Sprintf("account %d", i), int(account)))
	}
	fields := []chains.Field{chains.Bytes("data", t.data(in))}
	if len(accounts.Fields) > 0 {
		fields = append(fields, accounts)
	}
	return fields
}
