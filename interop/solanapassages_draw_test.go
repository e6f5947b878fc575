package interop

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// passage is an account that a run makes, funds and empties, as far as the run knows it.
type passage struct {
	name    string
	kind    string // none, system, stake, nonce, token
	ready   bool   // initialized
	owner   string // who controls it; its own key if it is not initialized
	native  bool   // of a token account: of wrapped SOL
	balance uint64 // lamports
	tokens  uint64
}

// passageRun draws a transaction of several signers in which accounts are made, funded by
// several and emptied.
type passageRun struct {
	*world
	passages []*passage
	list     []sdk.Instruction
	last     *passage // that something was done with
}

// parties are who can get something. Only we are the organization's.
var parties = []string{"bob", "carol", "drop", "us", "bob", "carol"}

// newPassageRun returns a run of nothing.
func newPassageRun(random *rand.Rand, number int, us sdk.PublicKey) *passageRun {
	return &passageRun{world: newWorldOf(random, number, map[string]sdk.PublicKey{"us": us}), passages: []*passage{
		{name: "new0", kind: "none"}, {name: "new1", kind: "none"}, {name: "new2", kind: "none"},
		{name: "newstake", kind: "stake", owner: "newstake", balance: rentExempt(stakeSize) + sol},
		{name: "newnonce", kind: "nonce", owner: "newnonce", balance: rentExempt(80) + sol},
		{name: "token.newaccount", kind: "token", owner: "token.newaccount", balance: rentExempt(165)},
	}}
}

func drawPassages(t *testing.T, random *rand.Rand, number int, us sdk.PublicKey) *solanaRun {
	t.Helper()
	r := newPassageRun(random, number, us)
	for want := 3 + random.IntN(5); len(r.list) < want; {
		r.act()
	}
	payer := "us"
	if random.IntN(5) == 0 {
		payer = "bob"
	}
	if random.IntN(4) != 0 { // something of ours is in it
		r.list = slices.Insert(r.list, random.IntN(len(r.list)+1), r.pay("us", r.at(parties[random.IntN(3)])))
	}
	return r.build(t, payer)
}

// build returns the run with its transaction.
func (r *passageRun) build(t *testing.T, payer string) *solanaRun {
	t.Helper()
	tx, err := sdk.NewTransaction(r.list, sdk.Hash(r.at("blockhash")), sdk.TransactionPayer(r.at(payer)))
	testenv.Must(t, err)
	tx.Signatures = make([]sdk.Signature, tx.Message.Header.NumRequiredSignatures)
	run := &solanaRun{}
	if run.raw, err = tx.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bob", "carol", "drop", "token.bobs"} {
		run.holders = append(run.holders, r.at(name).String())
	}
	for _, p := range r.passages {
		if p.kind == "system" {
			run.holders = append(run.holders, r.at(p.name).String())
		}
	}
	run.Accounts, run.Transaction = r.accounts, hex.EncodeToString(run.raw)
	for _, key := range tx.Message.AccountKeys {
		run.Watch = append(run.Watch, key.String())
	}
	return run
}

// act appends one action, or none if it does not fit.
func (r *passageRun) act() {
	p, q := r.passages[r.IntN(len(r.passages))], r.passages[r.IntN(3)]
	if r.last != nil && r.IntN(2) == 0 {
		p = r.last
	}
	r.last = p
	to := parties[r.IntN(len(parties))]
	funder := "us"
	if r.IntN(4) == 0 {
		funder = "bob"
	}
	switch {
	case p.kind == "none":
		r.create(p, funder)
	case r.IntN(4) == 0 && p.kind != "none":
		amount := uint64(1+r.IntN(1000)) * sol / 1000
		r.add(sdk.SystemProgramID, slicesConcat(u32le(2), u64le(amount)), r.signed(funder), r.writable(p.name))
		p.balance += amount
	case p.kind == "token" && r.IntN(3) == 0 && p.ready && !p.native:
		amount := uint64(1 + r.IntN(1000))
		r.add(sdk.TokenProgramID, r.transfer(amount), r.mintBetween(amount, "token.ours", p.name, "us")...)
		p.tokens += amount
	case !p.ready && r.IntN(2) == 0:
		r.initialize(p)
	default:
		r.empty(p, q, r.at(to))
	}
}

func (r *passageRun) create(p *passage, funder string) {
	kinds := []struct {
		kind  string
		owner sdk.PublicKey
		size  int
	}{{"stake", sdk.StakeProgramID, stakeSize}, {"nonce", sdk.SystemProgramID, 80}, {"token", sdk.TokenProgramID, 165}, {"system", sdk.SystemProgramID, 0}}
	kind := kinds[r.IntN(len(kinds))]
	amount := rentExempt(kind.size) + uint64(r.IntN(3000))*sol/1000
	for _, other := range r.passages {
		if other.kind == "system" && other.balance > amount+sol && r.IntN(2) == 0 {
			funder = other.name
			other.balance -= amount
			break
		}
	}
	r.add(sdk.SystemProgramID, slicesConcat(u32le(0), u64le(amount), u64le(uint64(kind.size)), kind.owner[:]), r.signed(funder), r.signed(p.name))
	p.kind, p.owner, p.balance = kind.kind, p.name, amount
}

func (r *passageRun) initialize(p *passage) {
	owner := parties[r.IntN(len(parties))]
	if r.IntN(2) == 0 {
		owner = "us"
	}
	key := r.bytes(owner)
	switch p.kind {
	case "stake":
		r.add(sdk.StakeProgramID, slicesConcat(u32le(0), key, key, make([]byte, 48)), r.writable(p.name), r.readable("rent"))
	case "nonce":
		r.add(sdk.SystemProgramID, slicesConcat(u32le(6), key), r.writable(p.name), r.readable("blockhashes"), r.readable("rent"))
	case "token":
		mint := "token.mint"
		if p.native = r.IntN(2) == 0; p.native {
			mint = "nativemint"
		}
		r.add(sdk.TokenProgramID, slicesConcat([]byte{18}, key), r.writable(p.name), r.readable(mint))
	case "system": // becomes a stake account
		r.add(sdk.SystemProgramID, slicesConcat(u32le(8), u64le(stakeSize)), r.signed(p.name))
		r.add(sdk.SystemProgramID, slicesConcat(u32le(1), sdk.StakeProgramID[:]), r.signed(p.name))
		p.kind = "stake"
		return
	}
	p.ready, p.owner = true, owner
}

// empty takes something out of an account, by the account that controls it, or gives it away.
func (r *passageRun) empty(p, q *passage, to sdk.PublicKey) {
	least := map[string]int{"stake": stakeSize, "nonce": 80, "token": 165}[p.kind]
	amount := p.balance
	if amount -= min(amount, rentExempt(least)); r.IntN(3) == 0 && amount > 2 {
		amount = 1 + r.Uint64N(amount-1)
	} else if r.IntN(3) == 0 && !p.ready {
		amount = p.balance
	}
	if amount == 0 {
		return
	}
	recipient := sdk.Meta(to).WRITE()
	switch {
	case p.kind == "stake" && r.IntN(5) == 0 && q.kind == "stake" && !q.ready && q != p:
		r.add(sdk.StakeProgramID, slicesConcat(u32le(3), u64le(amount)), r.writable(p.name), r.writable(q.name), r.signed(p.owner))
		q.balance += amount
	case p.kind == "stake":
		r.add(sdk.StakeProgramID, slicesConcat(u32le(4), u64le(amount)), r.writable(p.name), recipient, r.readable("clock"), r.readable("history"), r.signed(p.owner))
	case p.kind == "nonce":
		r.add(sdk.SystemProgramID, slicesConcat(u32le(5), u64le(amount)), r.writable(p.name), recipient, r.readable("blockhashes"), r.readable("rent"), r.signed(p.owner))
	case p.kind == "system":
		r.add(sdk.SystemProgramID, slicesConcat(u32le(2), u64le(amount)), r.signed(p.name), recipient)
	case p.kind == "token" && p.ready:
		r.emptyToken(p, recipient)
		return
	default:
		return
	}
	p.balance -= amount
}

func (r *passageRun) emptyToken(p *passage, to *sdk.AccountMeta) {
	switch choice := r.IntN(4); {
	case choice == 0:
		owner := parties[r.IntN(len(parties))]
		r.add(sdk.TokenProgramID, slicesConcat([]byte{6, 2, 1}, r.bytes(owner)), r.writable(p.name), r.signed(p.owner))
		p.owner = owner
	case choice == 1 && p.native:
		r.add(sdk.TokenProgramID, []byte{17}, r.writable(p.name))
	case p.tokens > 0:
		r.add(sdk.TokenProgramID, r.transfer(p.tokens), r.mintBetween(p.tokens, p.name, "token.bobs", p.owner)...)
		p.tokens = 0
	default:
		r.add(sdk.TokenProgramID, []byte{9}, r.writable(p.name), to, r.signed(p.owner))
		p.kind, p.ready, p.balance = "none", false, 0
	}
}

// transfer is the data of a transfer of tokens, with the mint or without.
func (r *passageRun) transfer(amount uint64) []byte {
	if amount%2 == 0 {
		return slicesConcat([]byte{3}, u64le(amount))
	}
	return slicesConcat([]byte{12}, u64le(amount), []byte{decimals})
}

func (r *passageRun) mintBetween(amount uint64, from, to, by string) []*sdk.AccountMeta {
	if amount%2 == 0 {
		return []*sdk.AccountMeta{r.writable(from), r.writable(to), r.signed(by)}
	}
	return []*sdk.AccountMeta{r.writable(from), r.readable("token.mint"), r.writable(to), r.signed(by)}
}

// pay is a payment of SOL.
func (r *passageRun) pay(from string, to sdk.PublicKey) sdk.Instruction {
	data := slicesConcat(u32le(2), u64le(uint64(1+r.IntN(1000))*sol/1000))
	return sdk.NewInstruction(sdk.SystemProgramID, sdk.AccountMetaSlice{r.signed(from), sdk.Meta(to).WRITE()}, data)
}

func (r *passageRun) add(program sdk.PublicKey, data []byte, accounts ...*sdk.AccountMeta) {
	r.list = append(r.list, sdk.NewInstruction(program, accounts, data))
}

func (r *passageRun) signed(name string) *sdk.AccountMeta {
	return sdk.Meta(r.at(name)).WRITE().SIGNER()
}
func (r *passageRun) writable(name string) *sdk.AccountMeta { return sdk.Meta(r.at(name)).WRITE() }
func (r *passageRun) readable(name string) *sdk.AccountMeta { return sdk.Meta(r.at(name)) }
