package evm

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// TestStrangersAreCounted puts a stranger into every address of a random call of every
// function that is decoded, all at once and one by one. Value that reaches the stranger
// is a transfer, or of another kind that limits count, whatever the function is called.
// Only what comes into being by the caller's authority is not spent by anybody.
func TestStrangersAreCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(39, 5))
	stranger, signer := Address{0x66, 0xa9}, Address{0xaa}
	pass := mainnet.Pass()
	pass.signer = &signer
	counted := 0
	for _, f := range allFunctions() {
		for only := -1; only < 8; only++ {
			c := &Call{pass: pass, caller: at(signer), self: Address{0x11}, code: Address{0x11}, value: big.NewInt(7)}
			(&reader{left: maxCalls}).decodeAs(c, f, randomCall(t, random, f)[4:])
			if c.function == nil {
				t.Fatalf("%s: %s", f.signature, c.problem)
			}
			left := only
			estrange(c.args, stranger, &left)
			for _, effect := range c.Effects() {
				if !effect.To.Is(stranger[:]) || effect.From.Is(stranger[:]) || effect.Amount.IsNone() {
					continue
				}
				if effect.By == chains.ByOther {
					if effect.OtherSigner.Is(c.self[:]) { // the caller decides what the contract does
						t.Errorf("%s: the contract sends %+v to a stranger by itself", f.signature, effect.Amount)
					}
					continue
				}
				minted := effect.Kind == chains.KindMint && effect.From.Is(signer[:])
				if counted++; !effect.Kind.Spends() && effect.Kind != chains.KindRevoke && !minted {
					t.Errorf("%s: %s %+v to a stranger", f.signature, effect.Kind, effect.Amount)
				}
			}
		}
	}
	if counted < 100 {
		t.Errorf("only %d effects", counted)
	}
}

// estrange puts a stranger into the address with a number among values, and into all of
// them if it is negative.
func estrange(values []value, stranger Address, number *int) {
	for i := range values {
		v := &values[i]
		switch {
		case v.kind == kindAddress:
			if *number <= 0 {
				v.word = common.LeftPadBytes(stranger[:], word)
			}
			if *number >= 0 {
				if *number--; *number < 0 {
					*number = 1 << 30 // only this one
				}
			}
		case v.kind == kindBytes && v.name == "path":
			v.bytes = make([]byte, 43)
		case v.kind == kindBytes && v.name == "withdrawal credentials":
			v.bytes = append(append([]byte{1}, make([]byte, 11)...), stranger[:]...)
		default:
			estrange(v.list, stranger, number)
		}
	}
}

// TestOwnerKeepsKind checks that what comes back to its owner stays what it is called,
// when the owner is the signer and named by its address, or another account that calls.
func TestOwnerKeepsKind(t *testing.T) {
	owner, stranger, entryPoint := Address{0xaa}, Address{0x66}, Address(common.HexToAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"))
	text, _, _ := standardOf(t, "withdrawTo(")
	weth, withdraw := Address(common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")), pack(t, "withdraw(uint256 amount)", big.NewInt(5))
	pass := mainnet.Pass()
	pass.signer = &owner
	for name, read := range map[string]func(tx Transaction) *Call{
		"signer":          pass.Read,
		"another account": func(tx Transaction) *Call { return mainnet.Pass().ReadFrom(owner, tx, false) },
	} {
		for to, want := range map[Address]chains.Kind{owner: chains.KindUnstake, stranger: chains.KindTransfer} {
			data := pack(t, text, common.Address(to), big.NewInt(500))
			if got := read(Transaction{To: entryPoint, Data: data}).Effects(); len(got) != 1 || got[0].Kind != want {
				t.Errorf("%s, withdrawTo(%x): %+v", name, to[:2], got)
			}
		}
		got := read(Transaction{To: weth, Data: withdraw}).Effects()
		if len(got) != 2 || got[0].Kind != chains.KindBurn || got[0].By != chains.BySigner || got[1].By != chains.ByOther || !got[1].To.Is(owner[:]) {
			t.Errorf("%s, unwrapped: %+v", name, got)
		}
	}
}
