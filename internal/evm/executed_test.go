package evm

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// The tests below keep what execution has found (interop/evm).

func effectsAt(to Address, value int64, data string) []chains.Effect {
	return mainnet.Pass().Read(Transaction{To: to, Value: big.NewInt(value), Data: common.FromHex(data)}).Effects()
}

func kinds(effects []chains.Effect) (all []chains.Kind) {
	for _, e := range effects {
		all = append(all, e.Kind)
	}
	return all
}

// TestDepositByValueCountsOnce checks that a plain payment to an EntryPoint, which it
// holds for the sender, is only a deposit: a transfer in addition would count it twice
// in limits.
func TestDepositByValueCountsOnce(t *testing.T) {
	for at, known := range contracts() {
		if !known.is(atEntryPoint) {
			continue
		}
		got := effectsAt(at, 5, "")
		if len(got) != 1 || got[0].Kind != chains.KindStake || got[0].Amount.Value.Int64() != 5 {
			t.Errorf("%s: %v, want one stake of 5", known.name, kinds(got))
		}
	}
}

// TestSwapsBoundWhatPoolsMayChange checks the bounds of swaps: pools of version 3 take
// less than an exact amount where their liquidity ends, and those of version 2 give
// more than one by rounding.
func TestSwapsBoundWhatPoolsMayChange(t *testing.T) {
	tokens := [2]string{"A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "dAC17F958D2ee523a2206206994597C13D831ec7"}
	path3 := "000000000000000000000000000000000000000000000000000000000000002b" + tokens[0] + "000bb8" + tokens[1] + "000000000000000000000000000000000000000000"
	path2 := "0000000000000000000000000000000000000000000000000000000000000002" + "000000000000000000000000" + tokens[0] + "000000000000000000000000" + tokens[1]
	const head = "0000000000000000000000000000000000000000000000000000000000000001" + // to: the caller
		"0000000000000000000000000000000000000000000000000000000000000007" +
		"0000000000000000000000000000000000000000000000000000000000000003" +
		"00000000000000000000000000000000000000000000000000000000000000a0" +
		"0000000000000000000000000000000000000000000000000000000000000001"
	for _, c := range []struct {
		command   byte
		path      string
		paid, got chains.Bound
	}{
		{0x00, path3, chains.BoundMost, chains.BoundLeast},
		{0x01, path3, chains.BoundMost, chains.BoundExact},
		{0x08, path2, chains.BoundExact, chains.BoundLeast},
		{0x09, path2, chains.BoundMost, chains.BoundLeast},
	} {
		r := reader{left: maxCalls}
		outer := &Call{pass: mainnet.Pass(), caller: account{signer: true}, value: new(big.Int)}
		command := r.commands(outer, []byte{c.command}, []value{{bytes: common.FromHex(head + c.path)}})[0]
		got := command.Effects()
		if len(got) != 2 || got[0].Amount.Bound != c.paid || got[1].Amount.Bound != c.got {
			t.Errorf("command %#x: %+v", c.command, got)
		}
	}
}

// TestBatchOfPairs: a batch whose lists differ in length is not the standard's, whichever is longer.
func TestBatchOfPairs(t *testing.T) {
	for ids, want := range map[int]bool{0: true, 1: true, 2: false, 3: true} {
		data := pack(t, "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)", common.Address{1}, common.Address{2},
			slices.Repeat([]*big.Int{big.NewInt(7)}, ids), slices.Repeat([]*big.Int{big.NewInt(5)}, 2), []byte{})
		effects := effectsAt(Address{0x11}, 0, common.Bytes2Hex(data))
		if got := slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded }); got != want {
			t.Errorf("%d ids of 2 amounts: %+v", ids, effects)
		}
	}
}
