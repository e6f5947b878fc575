package evm

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// executions is how many successful runs TestEffectsAgainstExecution makes;
// COUNTERSIGN_PROVE names another number.
const executions = 1000

// machine runs transactions on go-ethereum's EVM over the published contracts,
// and notes what they write.
type machine struct {
	state     *state.StateDB
	preimages map[common.Hash][]byte // of 64 bytes: key ‖ slot of a mapping
	written   map[common.Address]map[common.Hash]bool
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		t.Fatal(err)
	}
	return &machine{state: db, preimages: map[common.Hash][]byte{}, written: map[common.Address]map[common.Hash]bool{}}
}

func (m *machine) config(from common.Address, value *big.Int) *runtime.Config {
	return &runtime.Config{State: m.state, Origin: from, Value: value, GasLimit: 10_000_000, Time: 1_800_000_000,
		EVMConfig: vm.Config{Tracer: &tracing.Hooks{OnOpcode: m.opcode}}}
}

// opcode notes the preimages of mapping slots, and the slots that are written.
func (m *machine) opcode(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
	stack := scope.StackData()
	top := func(n int) *uint256.Int { return &stack[len(stack)-1-n] }
	switch vm.OpCode(op) {
	case vm.KECCAK256:
		at, size := top(0).Uint64(), top(1).Uint64()
		if memory := scope.MemoryData(); size == 64 && at+size <= uint64(len(memory)) {
			m.preimages[crypto.Keccak256Hash(memory[at:at+size])] = bytes.Clone(memory[at : at+size])
		}
	case vm.SSTORE:
		slots := m.written[scope.Address()]
		if slots == nil {
			slots = map[common.Hash]bool{}
			m.written[scope.Address()] = slots
		}
		slots[top(0).Bytes32()] = true
	}
}

// keys are the keys of the mappings that a slot stands in, the outermost first.
func (m *machine) keys(slot common.Hash) (keys []common.Hash) {
	for preimage := m.preimages[slot]; preimage != nil; preimage = m.preimages[slot] {
		keys = append([]common.Hash{common.Hash(preimage[:32])}, keys...)
		slot = common.Hash(preimage[32:])
	}
	return keys
}

// artifact is a contract as an npm package publishes it.
type artifact struct {
	ABI      abi.ABI
	Bytecode string
}

func readArtifact(t *testing.T, path ...string) (a artifact) {
	t.Helper()
	text, err := os.ReadFile(testenv.NodeModule(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (m *machine) deploy(t *testing.T, a artifact, from common.Address, args ...any) common.Address {
	t.Helper()
	packed, err := a.ABI.Pack("", args...)
	if err != nil {
		t.Fatal(err)
	}
	_, at, _, err := runtime.Create(append(common.FromHex(a.Bytecode), packed...), m.config(from, new(big.Int)))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (m *machine) must(t *testing.T, a artifact, from, to common.Address, method string, args ...any) {
	t.Helper()
	if _, _, err := runtime.Call(to, pack(t, a, method, args...), m.config(from, new(big.Int))); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func pack(t *testing.T, a artifact, method string, args ...any) []byte {
	t.Helper()
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// execution is a call that is made and accounted for.
type execution struct {
	function string
	to       common.Address
	value    *big.Int
	data     []byte
}

// world is the published tokens with two accounts that use them.
type world struct {
	*machine
	signer, other          common.Address
	erc20, erc721, erc1155 common.Address
	abi20, abi721, abi1155 artifact
}

func newWorld(t *testing.T) *world {
	build := []string{"@openzeppelin", "contracts", "build", "contracts"}
	open := func(name string) artifact { return readArtifact(t, append(build[:4:4], name)...) }
	w := &world{machine: newMachine(t), signer: common.HexToAddress("0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"), other: common.Address{0x22},
		abi20: open("ERC20PresetFixedSupply.json"), abi721: open("ERC721PresetMinterPauserAutoId.json"), abi1155: open("ERC1155PresetMinterPauser.json")}
	w.state.AddBalance(w.signer, uint256.NewInt(1e18), tracing.BalanceChangeUnspecified)
	w.erc20 = w.deploy(t, w.abi20, w.signer, "Token", "TOK", big.NewInt(1e18), w.signer)
	w.erc721 = w.deploy(t, w.abi721, w.signer, "NFT", "NFT", "")
	w.erc1155 = w.deploy(t, w.abi1155, w.signer, "")
	w.must(t, w.abi20, w.signer, w.erc20, "transfer", w.other, big.NewInt(1e17))
	w.must(t, w.abi20, w.other, w.erc20, "approve", w.signer, big.NewInt(1e16))
	for range 4 {
		w.must(t, w.abi721, w.signer, w.erc721, "mint", w.signer)
	}
	for id := range int64(3) {
		w.must(t, w.abi1155, w.signer, w.erc1155, "mint", w.signer, big.NewInt(id), big.NewInt(1e9), []byte{})
	}
	return w
}

// draw makes a call of one of the functions, with arguments at random.
func (w *world) draw(t *testing.T, random *rand.Rand) execution {
	party := func() common.Address {
		return []common.Address{w.other, w.signer, {byte(1 + random.IntN(200)), 1}}[random.IntN(3)]
	}
	number := func(most int64) *big.Int { return big.NewInt(random.Int64N(most)) }
	limit := func() *big.Int {
		return new(big.Int).Rsh(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)), uint(random.IntN(256)))
	}
	of := func(function string, to common.Address, a artifact, method string, args ...any) execution {
		return execution{function, to, new(big.Int), pack(t, a, method, args...)}
	}
	switch random.IntN(13) {
	case 0:
		return execution{"value", party(), number(1e9), nil}
	case 1:
		return of("ERC-20 transfer", w.erc20, w.abi20, "transfer", party(), number(1e9))
	case 2:
		return of("ERC-20 approve", w.erc20, w.abi20, "approve", party(), limit())
	case 3:
		return of("ERC-20 transferFrom", w.erc20, w.abi20, "transferFrom", w.other, party(), number(1e9))
	case 4:
		return of("increaseAllowance", w.erc20, w.abi20, "increaseAllowance", party(), number(1e9))
	case 5:
		return of("decreaseAllowance", w.erc20, w.abi20, "decreaseAllowance", party(), number(1e3))
	case 6:
		return of("ERC-721 approve", w.erc721, w.abi721, "approve", party(), number(4))
	case 7:
		return of("ERC-721 transferFrom", w.erc721, w.abi721, "transferFrom", w.signer, party(), number(4))
	case 8:
		return of("ERC-721 safeTransferFrom", w.erc721, w.abi721, "safeTransferFrom", w.signer, party(), number(4))
	case 9:
		return of("ERC-721 setApprovalForAll", w.erc721, w.abi721, "setApprovalForAll", party(), random.IntN(2) == 0)
	case 10:
		return of("ERC-1155 safeTransferFrom", w.erc1155, w.abi1155, "safeTransferFrom", w.signer, party(), number(3), number(1e3), []byte{})
	case 11:
		return of("ERC-1155 safeBatchTransferFrom", w.erc1155, w.abi1155, "safeBatchTransferFrom", w.signer, party(),
			[]*big.Int{number(3), number(3)}, []*big.Int{number(1e3), number(1e3)}, []byte{})
	default:
		return of("ERC-1155 setApprovalForAll", w.erc1155, w.abi1155, "setApprovalForAll", party(), random.IntN(2) == 0)
	}
}

// TestEffectsAgainstExecution runs transactions on go-ethereum's EVM with the
// contracts that OpenZeppelin publishes: every slot that changes and every
// balance that falls belongs to an effect, within its amount. Nonces and the fee
// are not executed.
func TestEffectsAgainstExecution(t *testing.T) {
	wanted := executions
	if text := os.Getenv("COUNTERSIGN_PROVE"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("COUNTERSIGN_PROVE: %v", err)
		}
		wanted = number
	}
	w, random := newWorld(t), rand.New(rand.NewPCG(20, 20))
	runs := map[string]int{}
	for done := 0; done < wanted; {
		e := w.draw(t, random)
		effects := effectsOf(t, e, w.signer)
		snapshot, before := w.state.Snapshot(), w.state.Copy()
		clear(w.written)
		if _, _, err := runtime.Call(e.to, e.data, w.config(w.signer, e.value)); err != nil {
			w.state.RevertToSnapshot(snapshot)
			continue
		}
		w.check(t, e, effects, before)
		runs[e.function]++
		if done++; e.to == w.erc721 || random.IntN(4) > 0 { // or the signer soon has no token left
			w.state.RevertToSnapshot(snapshot)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d successful runs, 0 uncovered: %v", wanted, runs)
	for function, number := range runs {
		if number < wanted/200 {
			t.Errorf("%s ran %d times only", function, number)
		}
	}
}

// effectsOf are the effects of a transaction on mainnet, resolved for the signer.
func effectsOf(t *testing.T, e execution, signer common.Address) []chains.Effect {
	t.Helper()
	items, err := rlp.EncodeToBytes([]any{uint64(1), uint64(0), uint64(1), uint64(1), uint64(1_000_000), e.to, e.value, e.data, []any{}})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := ethereum.Chain{}.Parse(append([]byte{2}, items...))
	if err != nil {
		t.Fatal(err)
	}
	effects := tx.Effects()
	for i := range effects {
		if effects[i].From.IsSigner() {
			effects[i].From = chains.PartyWritten(signer[:], signer.Hex())
		}
		if effects[i].Undecoded {
			t.Fatalf("%s: %s", e.function, chains.Sentence(effects[i], nil))
		}
	}
	return effects
}

// check requires that all changes of an execution belong to effects.
func (w *world) check(t *testing.T, e execution, effects []chains.Effect, before *state.StateDB) {
	t.Helper()
	for _, at := range []common.Address{w.signer, w.other, e.to} {
		if was, is := before.GetBalance(at), w.state.GetBalance(at); is.Lt(was) {
			w.checkFall(t, e, effects, nil, at, new(big.Int).Sub(was.ToBig(), is.ToBig()))
		}
	}
	for contract, slots := range w.written {
		for slot := range slots {
			was, is := before.GetState(contract, slot), w.state.GetState(contract, slot)
			if was != is {
				w.checkSlot(t, e, effects, contract, slot, was.Big(), is.Big())
			}
		}
	}
}

// checkSlot requires that the parties and token ids that a slot stands for are
// those of an effect on the contract.
func (w *world) checkSlot(t *testing.T, e execution, effects []chains.Effect, contract common.Address, slot common.Hash, was, is *big.Int) {
	t.Helper()
	keys := w.keys(slot)
	for _, key := range keys {
		if isAddress := key.Big().BitLen() > 64; isAddress && !concerns(effects, contract, common.BytesToAddress(key[12:])) {
			t.Errorf("%s %x: slot of %v in %v changes, and no effect names it", e.function, e.data, key, contract)
		}
	}
	if len(effects) < 2 {
		t.Errorf("%s: a slot changes, and there is no effect but the fee", e.function)
	}
	if contract == w.erc20 && len(keys) == 1 && is.Cmp(was) < 0 {
		w.checkFall(t, e, effects, &contract, common.BytesToAddress(keys[0][12:]), new(big.Int).Sub(was, is))
	}
	if contract == w.erc20 && len(keys) == 2 && is.Cmp(was) > 0 {
		w.checkAllowance(t, e, effects, keys, was, is)
	}
}

// concerns reports whether an effect on a contract names a party.
func concerns(effects []chains.Effect, contract, party common.Address) bool {
	for _, effect := range effects {
		on := effect.Asset.Token.Is(contract[:])
		// transferFrom spends the allowance of the account that calls.
		if on && (effect.From.Is(party[:]) || effect.To.Is(party[:]) || effect.By == chains.ByStanding) {
			return true
		}
	}
	return false
}

// checkFall requires effects by which at least that much leaves an account.
func (w *world) checkFall(t *testing.T, e execution, effects []chains.Effect, token *common.Address, account common.Address, fall *big.Int) {
	t.Helper()
	sum := new(big.Int)
	for _, effect := range effects {
		same := token == nil && effect.Asset.IsNative() || token != nil && effect.Asset.Token.Is(token[:])
		if same && effect.Kind != chains.KindFee && effect.From.Is(account[:]) && effect.Amount.Value != nil {
			sum.Add(sum, effect.Amount.Value)
		}
	}
	if sum.Cmp(fall) < 0 {
		t.Errorf("%s %x: %v loses %v, the effects say %v", e.function, e.data, account, fall, sum)
	}
}

// checkAllowance requires an approval of what an allowance rises to.
func (w *world) checkAllowance(t *testing.T, e execution, effects []chains.Effect, keys []common.Hash, was, is *big.Int) {
	t.Helper()
	for _, effect := range effects {
		if effect.Kind != chains.KindApprove || !effect.From.Is(keys[0][12:]) || !effect.To.Is(keys[1][12:]) {
			continue
		}
		most := new(big.Int)
		if effect.Amount.Value != nil {
			most.Set(effect.Amount.Value)
		}
		if effect.Amount.Bound == chains.BoundAdded {
			most.Add(most, was)
		}
		if is.Cmp(most) <= 0 || effect.Amount.Bound == chains.BoundUnlimited && effect.Amount.Value == nil {
			return
		}
	}
	t.Errorf("%s %x: an allowance rises from %v to %v, and no effect says so", e.function, e.data, was, is)
}
