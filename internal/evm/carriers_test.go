package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// carriers wrap a call of a contract into a call of another one that makes it.
func carriers(t *testing.T) map[string]func(to Address, data []byte) (Address, []byte) {
	exec, _, _ := standardOf(t, "execTransaction(")
	safe, account := Address{0x5a, 0xfe}, Address{0xac}
	execute := func(to Address, data []byte, operation uint8) (Address, []byte) {
		zero := new(big.Int)
		return safe, pack(t, exec, common.Address(to), zero, data, operation, zero, zero, zero, common.Address{}, common.Address{}, []byte{})
	}
	type call struct {
		M0 common.Address
		M1 *big.Int
		M2 []byte
	}
	return map[string]func(to Address, data []byte) (Address, []byte){
		"execTransaction": func(to Address, data []byte) (Address, []byte) { return execute(to, data, 0) },
		"a Safe's multiSend": func(to Address, data []byte) (Address, []byte) {
			return execute(callOnlyAt, batch(t, inBatch{to: stranger}, inBatch{to: to, data: data}), 1)
		},
		"MultiSendCallOnly": func(to Address, data []byte) (Address, []byte) {
			return callOnlyAt, batch(t, inBatch{to: to, data: data})
		},
		"Multicall3": func(to Address, data []byte) (Address, []byte) {
			return multicallAt, aggregate(t, inBatch{to: to, data: data})
		},
		"Multicall3, may fail": func(to Address, data []byte) (Address, []byte) {
			return multicallAt, try(t, false, inBatch{to: stranger}, inBatch{to: to, data: data})
		},
		"execute": func(to Address, data []byte) (Address, []byte) {
			return account, pack(t, "execute(address,uint256,bytes)", common.Address(to), new(big.Int), data)
		},
		"executeBatch": func(to Address, data []byte) (Address, []byte) {
			return account, pack(t, "executeBatch((address,uint256,bytes)[])", []call{{common.Address(to), new(big.Int), data}})
		},
		"ERC-7821": func(to Address, data []byte) (Address, []byte) {
			calls, err := arguments(t, batchTypes).Pack([]call{{common.Address(to), new(big.Int), data}})
			testenv.Must(t, err)
			return account, pack(t, "execute(bytes32,bytes)", [32]byte{1}, calls)
		},
	}
}

// readings returns the effects of a call by each of the signatures that can authorize it.
func readings(t testing.TB, to Address, data []byte) map[string][]chains.Effect {
	all := map[string][]chains.Effect{"a transaction": mainnet.Pass().Read(Transaction{To: to, Data: data}).Effects()}
	all["a Safe's message"] = signedSafe(t, mainnet, Address{0xa1}, to, data, safeRefund{})
	from := Address{0xa2}
	all["a request to a forwarder"] = typedOf(t, mainnet, forwardRequest+"bytes", Address{0xf0}, map[string]any{"from": from, "to": to, "call": data}).Effects
	all["a MetaTransaction"] = typedOf(t, mainnet, "MetaTransaction(", to, map[string]any{"from": from, "call": data}).Effects
	all["a transaction of the ZK Stack"] = typedOf(t, mainnet, zkSyncTransaction, Address{}, map[string]any{"txType": big.NewInt(zkSyncType),
		"from": new(big.Int).SetBytes(from[:]), "to": new(big.Int).SetBytes(to[:]), "call": data}).Effects
	for at := range entryPoints {
		o := operation{EntryPoint: at, Sender: to, CallData: data}
		for _, gas := range []**big.Int{&o.CallGas, &o.VerificationGas, &o.PreVerificationGas, &o.MaxFeePerGas} {
			*gas = big.NewInt(1)
		}
		all["an operation of "+contracts()[at].name] = signedOperation(t, mainnet, &o)
	}
	return all
}

// TestDangerInCarriers draws calls in calls, and checks that a refund, a fee, a leftover and
// an allowance at the bottom have their hazards, whichever signature authorizes the whole.
func TestDangerInCarriers(t *testing.T) {
	random, signer := rand.New(rand.NewPCG(39, 1)), Address{0xaa}
	party, number := mainnet.Party(signer), big.NewInt
	exec, _, _ := standardOf(t, "execTransaction(")
	refunding := func(receiver common.Address) []byte {
		return pack(t, exec, common.Address{1}, new(big.Int), []byte{}, uint8(0), number(1), number(2), number(3), common.Address(usdcAt), receiver, []byte{})
	}
	operation := func(sender Address, paymaster []byte) []byte {
		o := operationOf(pointOf(t, 7), nil, paymaster)
		o.Sender, o.CallData, o.PreVerificationGas, o.MaxFeePerGas = sender, nil, number(1e15), number(1e12)
		return handleOpsOf(t, 7, &o)
	}
	point := pointOf(t, 7)
	dangers := []struct {
		name, hazard string
		to           Address
		data         []byte
	}{
		{"a refund", hazardRefund, Address{0x77}, refunding(common.Address{9})},
		{"a refund to the submitter", hazardRefund, Address{0x77}, refunding(common.Address{})},
		{"a refund to a shared contract", hazardBurn, Address{0x77}, refunding(common.Address(routerAt))},
		{"a refund to a contract that keeps it", hazardBurn, Address{0x77}, refunding(common.Address(wethAt))},
		{"value of an EntryPoint for WETH", hazardBurn, point,
			pack(t, "withdrawTo(address,uint256)", common.Address(wethAt), number(5))},
		{"value unwrapped for WETH", hazardBurn, routerAt, plan(t, false, []step{do(0x0c, wethAt, 5)})},
		{"value swept to an EntryPoint", hazardBurn, routerAt, plan(t, false, []step{do(0x04, Address{}, point, 5)})},
		{"wrapped for the token itself", hazardBurn, routerAt, plan(t, false, []step{do(0x0b, wethAt, 5)})},
		{"a fee of the signer's operation", hazardHighFee, point, operation(signer, nil)},
		{"a fee that the signer pays for another", hazardHighFee, point, operation(Address{0x66}, append(signer[:20:20], make([]byte, 32)...))},
		{"left in a router", hazardBurn, usdcAt, pack(t, "transfer(address,uint256)", common.Address(routerAt), number(5))},
		{"an allowance for anyone", hazardBurn, usdcAt, pack(t, "approve(address,uint256)", common.Address(multicallAt), number(5))},
		{"an allowance without end", UnlimitedApproval, usdcAt, pack(t, "approve(address,uint256)", common.Address{9}, new(big.Int).Lsh(number(1), 200))},
		{"control", AuthorityChange, Address{0x77}, pack(t, "transferOwnership(address)", common.Address{9})},
		{"a stored transaction", BlindCall, Address{0x77}, pack(t, "approveHash(bytes32)", [32]byte{5})},
	}
	wraps := carriers(t)
	names := make([]string, 0, len(wraps))
	for name := range wraps {
		names = append(names, name)
	}
	slices.Sort(names)
	for range 300 {
		for _, danger := range dangers {
			to, data, route := danger.to, danger.data, []string{danger.name}
			for range random.IntN(4) {
				name := names[random.IntN(len(names))]
				to, data = wraps[name](to, data)
				route = append(route, name)
			}
			for by, effects := range readings(t, to, data) {
				effects = chains.ResolveSigner(effects, party)
				claimFees(effects, chains.Parties(nil).With(party))
				hazards := append(Hazards("c", effects, party), FeeHazards("c", effects, party, 0)...)
				if !slices.ContainsFunc(hazards, func(h chains.Hazard) bool { return h.Name == "c/"+danger.hazard }) {
					t.Fatalf("%s, by %s: no %s among %v", strings.Join(route, " in "), by, danger.hazard, hazards)
				}
			}
		}
	}
}

// TestRefundAfterCalls: a plan that sweeps the router does not take what the Safe pays it
// afterwards.
func TestRefundAfterCalls(t *testing.T) {
	sweep := plan(t, false, []step{do(0x04, usdcAt, caller, 0)})
	number := big.NewInt
	_, called := refundedFor(t, mainnet, routerAt, sweep, number(1), number(2), number(3), common.Address(usdcAt), common.Address(routerAt))
	if got := leftIn(t, called); !slices.Equal(got, []string{"0 USDC"}) {
		t.Errorf("%q is left", got)
	}
	_, called = refundedFor(t, mainnet, routerAt, plan(t, false, nil), number(1), number(2), number(0), common.Address(usdcAt), common.Address(routerAt))
	if got := leftIn(t, called); len(got) != 0 {
		t.Errorf("without a refund %q is left", got)
	}
}

// TestNothingOperated: an operation without calldata makes no call, and is a transfer of
// nothing to itself.
func TestNothingOperated(t *testing.T) {
	for at, version := range entryPoints {
		o := operationOf(at, nil, nil)
		o.CallData = nil
		effects := signedOperation(t, mainnet, &o)
		if len(effects) != 2 || !effects[0].ToItself() || effects[0].Amount.Value.Sign() != 0 || !effects[0].From.Equal(mainnet.Party(o.Sender)) {
			t.Errorf("EntryPoint 0.%d: %+v", version, effects)
		}
	}
}
