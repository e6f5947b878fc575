package evm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// machine runs calls on go-ethereum's EVM and records what they write.
type machine struct {
	state     *state.StateDB
	time      uint64                 // of the next block, in seconds
	preimages map[common.Hash][]byte // of 64 bytes: key ‖ slot of a mapping
	written   map[common.Address]map[common.Hash]bool
	called    map[common.Address]bool // callers and callees
	created   map[common.Address]bool
	ran       map[entry]bool
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	testenv.Must(t, err)
	return &machine{state: db, time: now, preimages: map[common.Hash][]byte{}, written: map[common.Address]map[common.Hash]bool{},
		called: map[common.Address]bool{}, created: map[common.Address]bool{}, ran: map[entry]bool{}}
}

// entry is where a call enters a contract. Calls shorter than a selector have no entry.
type entry struct {
	at       common.Address
	selector [4]byte
}

// forget clears what was recorded about earlier calls.
func (m *machine) forget() {
	clear(m.written)
	clear(m.called)
	clear(m.created)
	clear(m.ran)
}

// now is the timestamp of the block, in seconds.
const now = 1_800_000_000

func (m *machine) config(from common.Address, value *big.Int) *runtime.Config {
	config := *params.MergedTestChainConfig
	config.ChainID = big.NewInt(1)
	return &runtime.Config{ChainConfig: &config, State: m.state, Origin: from, Value: value, GasLimit: 20_000_000, Time: m.time,
		Random: &common.Hash{}, EVMConfig: vm.Config{Tracer: &tracing.Hooks{OnOpcode: m.opcode, OnEnter: m.enter}}}
}

// enter records the accounts of calls, and the contracts that are created.
func (m *machine) enter(_ int, kind byte, from, to common.Address, input []byte, _ uint64, _ *big.Int) {
	if len(input) >= 4 {
		m.ran[entry{to, [4]byte(input)}] = true
	}
	m.called[from], m.called[to] = true, true
	if op := vm.OpCode(kind); op == vm.CREATE || op == vm.CREATE2 {
		m.created[to] = true
	}
}

// opcode records the preimages of mapping slots and the slots that are written.
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

// keys returns the keys of the mappings that contain a slot, outermost first, and the
// slot of the outermost mapping. It finds the first three members of a struct in a
// mapping.
func (m *machine) keys(slot common.Hash) (keys []common.Hash, root common.Hash) {
	for {
		preimage := m.preimages[slot]
		for back := int64(1); preimage == nil && back < 3; back++ {
			preimage = m.preimages[common.BigToHash(new(big.Int).Sub(slot.Big(), big.NewInt(back)))]
		}
		if preimage == nil {
			return keys, slot
		}
		keys = append([]common.Hash{common.Hash(preimage[:32])}, keys...)
		slot = common.Hash(preimage[32:])
	}
}

// view calls a contract in a state and returns the first word of the answer, or nil if
// there is none.
func (m *machine) view(in *state.StateDB, at common.Address, signature string, args ...any) *big.Int {
	out, err := m.ask(in, at, call(signature, args...))
	if err != nil || len(out) < 32 {
		return nil
	}
	return new(big.Int).SetBytes(out[:32])
}

// three calls a contract and returns three words, which are zero if the call fails.
func (m *machine) three(at common.Address, signature string, args ...any) (words [3]*big.Int) {
	out, _ := m.ask(m.state, at, call(signature, args...))
	out = append(out, make([]byte, 96)...)
	for i := range words {
		words[i] = new(big.Int).SetBytes(out[32*i : 32*i+32])
	}
	return words
}

func (m *machine) ask(in *state.StateDB, at common.Address, data []byte) ([]byte, error) {
	config := m.config(common.Address{}, new(big.Int))
	config.State, config.EVMConfig = in, vm.Config{}
	snapshot := in.Snapshot()
	defer in.RevertToSnapshot(snapshot)
	out, _, err := runtime.Call(at, data, config)
	return out, err
}

func (m *machine) deploy(t *testing.T, from common.Address, bytecode []byte, args ...any) common.Address {
	t.Helper()
	_, at, _, err := runtime.Create(append(bytes.Clone(bytecode), words(args...)...), m.config(from, new(big.Int)))
	testenv.Must(t, err)
	return at
}

// install runs the creation code of a contract at its well-known address, so that what it
// stores about its own address is right.
func (m *machine) install(t *testing.T, known common.Address, bytecode []byte, args ...any) {
	t.Helper()
	m.state.SetCode(known, append(bytes.Clone(bytecode), words(args...)...), tracing.CodeChangeUnspecified)
	m.state.SetNonce(known, 1, tracing.NonceChangeUnspecified)
	code, _, err := runtime.Call(known, nil, m.config(common.Address{0x44}, new(big.Int)))
	testenv.Must(t, err)
	m.state.SetCode(known, code, tracing.CodeChangeUnspecified)
}

func (m *machine) must(t *testing.T, from, to common.Address, value int64, data []byte) {
	t.Helper()
	testenv.Must(t, m.try(from, to, value, data))
}

func (m *machine) try(from, to common.Address, value int64, data []byte) error {
	if out, _, err := runtime.Call(to, data, m.config(from, big.NewInt(value))); err != nil {
		return fmt.Errorf("%x: %w (%q)", data[:min(4, len(data))], err, out)
	}
	return nil
}

// call encodes a call: the selector of a signature, and words.
func call(signature string, args ...any) []byte {
	return append(crypto.Keccak256([]byte(signature))[:4:4], words(args...)...)
}

// words concatenates encoded values. Each is one word, except []byte, which is its length
// and its padded bytes, and raw, which is copied.
func words(args ...any) (data []byte) {
	for _, arg := range args {
		switch arg := arg.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(arg[:], 32)...)
		case common.Hash:
			data = append(data, arg[:]...)
		case *big.Int:
			data = append(data, common.LeftPadBytes(arg.Bytes(), 32)...)
		case int:
			data = append(data, common.BigToHash(big.NewInt(int64(arg))).Bytes()...)
		case bool:
			data = append(data, make([]byte, 31)...)
			data = append(data, map[bool]byte{true: 1}[arg])
		case raw:
			data = append(data, arg...)
		case []byte:
			data = append(data, words(len(arg))...)
			data = append(data, arg...)
			data = append(data, make([]byte, (32-len(arg)%32)%32)...)
		default:
			panic(fmt.Sprintf("words: no encoding of %T", arg))
		}
	}
	return data
}

// raw is bytes that are already encoded.
type raw []byte

// structure encodes values as an ABI tuple. Each is one word, except []byte and raw, of
// which the head has the offset of the encoding.
func structure(items ...any) []byte {
	var head, tail []byte
	for _, item := range items {
		switch item.(type) {
		case []byte, raw:
			head = append(head, words(32*len(items)+len(tail))...)
			tail = append(tail, words(item)...)
		default:
			head = append(head, words(item)...)
		}
	}
	return append(head, tail...)
}

// list encodes values as an ABI array.
func list(items ...any) raw { return append(words(len(items)), structure(items...)...) }

// artifact returns the bytecode of a contract from an npm package.
func artifact(t *testing.T, path ...string) []byte {
	t.Helper()
	var a struct{ Bytecode string }
	readJSON(t, readModule(t, path...), &a)
	return common.FromHex(a.Bytecode)
}

func readModule(t *testing.T, path ...string) []byte {
	t.Helper()
	text := testenv.Read(t, testenv.NodeModuleOf(t, filepath.Join("interop", "evm"), path...))
	return text
}

func readJSON(t *testing.T, text []byte, into any) {
	t.Helper()
	testenv.Must(t, json.Unmarshal(text, into))
}

// preinstalled returns the code of a contract in the OP stack's Preinstalls library.
func preinstalled(t *testing.T, name string) []byte {
	t.Helper()
	text := readModule(t, "@eth-optimism", "contracts-bedrock", "src", "libraries", "Preinstalls.sol")
	found := regexp.MustCompile(name + `Code =\s+hex"([0-9a-f]+)"`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("Preinstalls.sol has no code of %s", name)
	}
	return common.FromHex(string(found[1]))
}

// compiled returns the contracts of contracts/, by name, compiled by compile.mjs.
func compiled(t *testing.T) map[string]struct{ Bytecode string } {
	t.Helper()
	readModule(t, "solc", "package.json")
	folder := filepath.Join(testenv.Root(), "interop", "evm")
	command := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), "compile.mjs")
	command.Dir, command.Stderr = folder, os.Stderr
	out, err := command.Output()
	testenv.Must(t, err)
	var contracts map[string]struct{ Bytecode string }
	readJSON(t, out, &contracts)
	return contracts
}
