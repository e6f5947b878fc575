package evm

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// mainnet is the network on which calls are decoded.
var mainnet = &Network{ID: "eip155:1", ChainID: 1, Symbol: "ETH", Decimals: 18}

// call returns the fields of a call of an unknown contract.
func call(data []byte) []chains.Field { return callAt(Address{0x11}, data) }

func callAt(to Address, data []byte) []chains.Field {
	return mainnet.Pass().Read(Transaction{To: to, Data: data}).Fields()
}

// marshaling returns a type for go-ethereum, the independent encoder.
func marshaling(t abiType, number int) abi.ArgumentMarshaling {
	out := abi.ArgumentMarshaling{Name: fmt.Sprintf("M%d", number), Type: t.String()}
	inner, suffix := t, ""
	for inner.kind == kindArray {
		suffix = strings.TrimPrefix(inner.String(), inner.members[0].String()) + suffix
		inner = inner.members[0]
	}
	if inner.kind == kindTuple {
		out.Type = "tuple" + suffix
		for i, member := range inner.members {
			out.Components = append(out.Components, marshaling(member, i))
		}
	}
	return out
}

func arguments(t testing.TB, types []abiType) (args abi.Arguments) {
	t.Helper()
	for i, parameter := range types {
		m := marshaling(parameter, i)
		kind, err := abi.NewType(m.Type, "", m.Components)
		testenv.Must(t, err)
		args = append(args, abi.Argument{Name: m.Name, Type: kind})
	}
	return args
}

// pack encodes a call with go-ethereum.
func pack(t testing.TB, signature string, values ...any) []byte {
	t.Helper()
	f := parseFunction("", signature)
	packed, err := arguments(t, f.parameters).Pack(values...)
	testenv.Must(t, err)
	return append(crypto.Keccak256([]byte(f.signature))[:4], packed...)
}

// randomValue returns a random value of a type, in go-ethereum's representation.
func randomValue(random *rand.Rand, t abiType, kind abi.Type) reflect.Value {
	switch t.kind {
	case kindTuple:
		tuple := reflect.New(kind.GetType()).Elem()
		for i, member := range t.members {
			tuple.Field(i).Set(randomValue(random, member, *kind.TupleElems[i]))
		}
		return tuple
	case kindArray:
		size := t.size
		if size < 0 {
			size = random.IntN(4)
		}
		list := reflect.MakeSlice(reflect.SliceOf(kind.Elem.GetType()), size, size)
		for i := range size {
			list.Index(i).Set(randomValue(random, t.members[0], *kind.Elem))
		}
		return list
	case kindBytes:
		return reflect.ValueOf(randomBytes(random, random.IntN(100)))
	case kindString:
		return reflect.ValueOf(hex.EncodeToString(randomBytes(random, random.IntN(40))))
	case kindAddress:
		return reflect.ValueOf(common.Address(randomBytes(random, 20)))
	case kindBool:
		return reflect.ValueOf(random.IntN(2) == 1)
	case kindFixed:
		array := reflect.New(kind.GetType()).Elem()
		reflect.Copy(array, reflect.ValueOf(randomBytes(random, t.size)))
		return array
	}
	number := new(big.Int).SetBytes(randomBytes(random, random.IntN(t.size+1)))
	if t.role == roleOperation {
		number.SetUint64(random.Uint64N(2))
	}
	if kind.GetType() != reflect.TypeFor[*big.Int]() {
		return reflect.ValueOf(number.Uint64()).Convert(kind.GetType())
	}
	return reflect.ValueOf(number)
}

func randomBytes(random *rand.Rand, size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

func randomCall(t testing.TB, random *rand.Rand, f *function) []byte {
	args := arguments(t, f.parameters)
	values := make([]any, len(args))
	for i := range args {
		values[i] = randomValue(random, f.parameters[i], args[i].Type).Interface()
	}
	packed, err := args.Pack(values...)
	testenv.Must(t, err)
	return append(crypto.Keccak256([]byte(f.signature))[:4], packed...)
}

// home returns a contract at which the function is known.
func home(f *function) Address {
	for at := range contracts() {
		if mainnet.isKnown(at, f.at) {
			return at
		}
	}
	return Address{0x11}
}

// Every function decodes what go-ethereum encodes, and nothing that differs from that
// in a byte is shown as the same call.
func TestFunctionsAgainstGoEthereum(t *testing.T) {
	for selector, candidates := range functions() {
		for _, f := range candidates {
			t.Run(f.standard+" "+f.signature, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, uint64(binary.BigEndian.Uint32(selector[:]))))
				name, _, _ := strings.Cut(f.signature, "(")
				for range 3 {
					data := randomCall(t, random, f)
					shown := render(t, callAt(home(f), data))
					if !regexp.MustCompile(`function +` + name + `\(`).MatchString(shown) {
						t.Fatalf("not decoded: %x\n%s", data, shown)
					}
					mutateCall(t, home(f), data, shown)
				}
			})
		}
	}
}

func mutateCall(t *testing.T, to Address, data []byte, shown string) {
	t.Helper()
	for i := 0; i < len(data); i += 1 + len(data)/400 {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << (i % 8)
		if render(t, callAt(to, changed)) == shown {
			t.Fatalf("byte %d changed, and the call shows the same:\n%s", i, shown)
		}
		if render(t, callAt(to, data[:i])) == shown {
			t.Fatalf("cut off at byte %d, and the call shows the same:\n%s", i, shown)
		}
	}
	if render(t, callAt(to, append(bytes.Clone(data), 0))) == shown {
		t.Fatalf("a byte appended, and the call shows the same:\n%s", shown)
	}
}

func render(t testing.TB, fields []chains.Field) string {
	t.Helper()
	var out strings.Builder
	testenv.Must(t, chains.Render(&out, fields))
	return out.String()
}

// The selectors, from the standards' own texts.
func TestSelectors(t *testing.T) {
	for selector, signature := range map[string]string{
		"a9059cbb": "transfer(address,uint256)",                                                                  // ERC-20
		"095ea7b3": "approve(address,uint256)",                                                                   // ERC-20
		"23b872dd": "transferFrom(address,address,uint256)",                                                      // ERC-20, ERC-721
		"d505accf": "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",                              // ERC-2612
		"42842e0e": "safeTransferFrom(address,address,uint256)",                                                  // ERC-721
		"b88d4fde": "safeTransferFrom(address,address,uint256,bytes)",                                            // ERC-721
		"a22cb465": "setApprovalForAll(address,bool)",                                                            // ERC-721, ERC-1155
		"f242432a": "safeTransferFrom(address,address,uint256,uint256,bytes)",                                    // ERC-1155
		"2eb2c2d6": "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)",                           // ERC-1155
		"ac9650d8": "multicall(bytes[])",                                                                         // Uniswap v3
		"5ae401dc": "multicall(uint256,bytes[])",                                                                 // Uniswap
		"6a761202": "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)", // Safe
		"8d80ff0a": "multiSend(bytes)",                                                                           // Safe
	} {
		if f := functions()[[4]byte(common.FromHex(selector))]; len(f) == 0 || f[0].signature != signature {
			t.Errorf("selector %s: %v, want %q", selector, f, signature)
		}
	}
}

func TestUnlimitedAllowanceIsMarked(t *testing.T) {
	unlimited := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, signature := range []string{"approve(address,uint256)", "increaseAllowance(address,uint256)"} {
		if shown := render(t, call(pack(t, signature, common.Address{1}, unlimited))); !strings.Contains(shown, "UNLIMITED") {
			t.Errorf("not marked:\n%s", shown)
		}
		if shown := render(t, call(pack(t, signature, common.Address{1}, big.NewInt(1000)))); strings.Contains(shown, "UNLIMITED") {
			t.Errorf("marked, but limited:\n%s", shown)
		}
	}
	if shown := render(t, call(pack(t, "setApprovalForAll(address,bool)", common.Address{1}, true))); !strings.Contains(shown, "UNLIMITED") {
		t.Errorf("not marked:\n%s", shown)
	}
}

// A delegatecall hidden in a multicall in a Safe's transaction is shown.
func TestDelegatecallIsSeen(t *testing.T) {
	transfer := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	packed := append([]byte{1}, common.Address{2}.Bytes()...)
	packed = append(packed, make([]byte, 32)...)
	packed = append(packed, common.LeftPadBytes([]byte{byte(len(transfer))}, 32)...)
	packed = append(packed, transfer...)
	multiSend := pack(t, "multiSend(bytes)", packed)
	safe := pack(t, "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
		common.Address{3}, new(big.Int), multiSend, uint8(1), new(big.Int), new(big.Int), new(big.Int), common.Address{}, common.Address{}, []byte{})
	shown := render(t, call(pack(t, "multicall(bytes[])", [][]byte{safe})))
	if strings.Count(shown, "DELEGATECALL") != 2 || !strings.Contains(shown, "transfer(address,uint256)") {
		t.Errorf("the inner calls are not seen:\n%s", shown)
	}
}

// What a contract might read in another way is not decoded.
func TestNotCanonicalIsNotDecoded(t *testing.T) {
	dirty := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	dirty[4] = 1 // above the 20 bytes of the address
	gap := pack(t, "multicall(bytes[])", [][]byte{{1}})
	gap[4+31] = 0x40 // the tail does not follow the heads
	for name, data := range map[string][]byte{
		"dirty address": dirty,
		"gap":           gap,
		"short":         dirty[:40],
		"bool of 2":     append(pack(t, "setApprovalForAll(address,bool)", common.Address{1}, true)[:67], 2),
	} {
		if shown := render(t, call(data)); !strings.Contains(shown, "not decoded") {
			t.Errorf("%s: decoded as\n%s", name, shown)
		}
	}
	trailing := append(pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5)), 0xaa)
	if shown := render(t, call(trailing)); !strings.Contains(shown, "after the arguments  0xaa") {
		t.Errorf("trailing bytes are not shown:\n%s", shown)
	}
}

// Nesting and long lists are bounded; what is beyond a bound is shown as bytes.
func TestBounds(t *testing.T) {
	data := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	for range chains.MaxCallDepth + 4 {
		data = pack(t, "multicall(bytes[])", [][]byte{data})
	}
	if shown := render(t, call(data)); strings.Count(shown, "multicall(bytes[])") != chains.MaxCallDepth || !strings.Contains(shown, "nested too deep: not decoded") {
		t.Errorf("followed to another depth than %d:\n%s", chains.MaxCallDepth, shown)
	}
	many := make([][]byte, 1000)
	for i := range many {
		many[i] = []byte{byte(i), 2, 3, 4, 5}
	}
	shown := render(t, call(pack(t, "multicall(bytes[])", many)))
	if want := fmt.Sprintf("%d more", 1000-maxCalls); !strings.Contains(shown, want) {
		t.Errorf("no %q in\n%s", want, shown)
	}
	changed := many[999][4]
	many[999][4] = changed + 1
	if render(t, call(pack(t, "multicall(bytes[])", many))) == shown {
		t.Error("a call that is not shown was changed, and the list shows the same")
	}
}

func FuzzCall(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, candidates := range functions() {
		for _, known := range candidates {
			f.Add(randomCall(f, random, known))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for at := range contracts() {
			render(t, callAt(at, data))
			mainnet.Pass().Read(Transaction{To: at, Value: big.NewInt(5), Data: data}).Effects()
		}
		render(t, call(data))
	})
}

// TestPackedSize has lengths around the end, and lengths that overflow.
func TestPackedSize(t *testing.T) {
	packed := make([]byte, packedHead+3)
	for length, want := range map[uint64]int{0: packedHead, 3: packedHead + 3, 4: 0, 1 << 31: 0, 1 << 63: 0, math.MaxUint64: 0} {
		binary.BigEndian.PutUint64(packed[packedHead-8:], length)
		if size, ok := packedSize(packed); size != want || ok != (want > 0) {
			t.Errorf("a length of %d: %d, %v", length, size, ok)
		}
	}
}
