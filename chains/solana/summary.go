package solana

import (
	"fmt"
	"math"
	"math/bits"
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
	return chains.Summary{Chain: Name, Fields: append(fields, t.instructionsField())}
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
		signers.Fields = append(signers.Fields, field.WithNote(t.slotState(i)))
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
	list := chains.List("durable nonce", chains.Text("nonce", hash), t.accountField("nonce account", int(nonce[0])))
	if len(nonce) > 2 {
		list.Fields = append(list.Fields, t.accountField("nonce authority", int(nonce[2])))
	}
	return list.WithNote("never expires: it can be sent until the nonce is advanced")
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

// configField shows what a v1 message asks for. What it leaves out is shown as
// the zero that it means.
func (t *Transaction) configField() chains.Field {
	limit := func(label, unit string, bit uint32, value uint32) chains.Field {
		field := chains.Integer(label, uint64(value))
		field.Symbol = unit
		if t.config.mask&bit == 0 {
			field.Note = "not set"
		}
		return field
	}
	heap := limit("heap size", "bytes", maskHeapSize, max(t.config.heapSize, minHeapSize))
	return chains.List("compute budget",
		lamportsField("priority fee", t.config.priorityFee),
		limit("compute unit limit", "", maskComputeUnitLimit, t.config.computeUnitLimit),
		limit("loaded accounts data size limit", "bytes", maskLoadedDataLimit, t.config.loadedDataLimit),
		heap,
	)
}

// maxComputeUnits is the most that a transaction gets, whatever it asks for.
const maxComputeUnits = 1_400_000

// budgetField shows the limit and the price that instructions of the Compute
// Budget program set in a legacy or v0 transaction.
func (t *Transaction) budgetField() (chains.Field, bool) {
	limit, hasLimit := t.budget(setComputeUnitLimit, 4)
	price, hasPrice := t.budget(setComputeUnitPrice, 8)
	budget := chains.List("compute budget")
	if hasLimit {
		budget.Fields = append(budget.Fields, chains.Integer("compute unit limit", limit))
	}
	if hasPrice {
		field := chains.Integer("compute unit price", price)
		field.Symbol = "micro-lamports"
		budget.Fields = append(budget.Fields, field)
	}
	if hasLimit && hasPrice {
		budget.Fields = append(budget.Fields, lamportsField("priority fee", priorityFee(limit, price)))
	}
	return budget, hasLimit || hasPrice
}

// budget returns the value, of size bytes, that an instruction of the Compute
// Budget program sets. There can be one such instruction: the network refuses
// two.
func (t *Transaction) budget(number byte, size int) (value uint64, ok bool) {
	for _, in := range t.instructions {
		data := t.data(in)
		if t.programID(in) != computeID || len(data) < 1+size || data[0] != number {
			continue
		}
		for i := range size {
			value |= uint64(data[1+i]) << (8 * i)
		}
		return value, true
	}
	return 0, false
}

// priorityFee is limit·price, rounded up from micro-lamports to lamports.
func priorityFee(limit, price uint64) uint64 {
	high, low := bits.Mul64(min(limit, maxComputeUnits), price)
	low, carry := bits.Add64(low, 999_999, 0)
	high += carry
	if high >= 1_000_000 {
		return math.MaxUint64
	}
	fee, _ := bits.Div64(high, low, 1_000_000)
	return fee
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
	return tables.WithNote("what they hold is not in the transaction")
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

// instructionFields shows one instruction: decoded if it can be, or whole.
func (t *Transaction) instructionFields(in instruction) []chains.Field {
	id := t.programID(in)
	field := chains.AddressField("program", encode58(id[:]))
	known, ok := findProgram(id)
	if !ok {
		return append([]chains.Field{field.WithNote("not a program that is decoded")}, t.undecoded(in)...)
	}
	field.Note = known.name + " program"
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
