package evm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// pack encodes arguments with go-ethereum, the independent encoder that our
// reader is held against.
func pack(t testing.TB, signature string, values ...any) []byte {
	t.Helper()
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	var args abi.Arguments
	for _, name := range strings.Split(list, ",") {
		kind, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abi.Argument{Type: kind})
	}
	packed, err := args.Pack(values...)
	if err != nil {
		t.Fatal(err)
	}
	return append(crypto.Keccak256([]byte(signature))[:4], packed...)
}

// randomValue makes a value of an ABI type.
func randomValue(random *rand.Rand, kind string) any {
	switch kind {
	case "address":
		return common.BigToAddress(new(big.Int).SetUint64(random.Uint64()))
	case "uint256":
		return new(big.Int).Lsh(new(big.Int).SetUint64(random.Uint64()), uint(random.IntN(192)))
	case "uint8":
		return uint8(random.IntN(2))
	case "bool":
		return random.IntN(2) == 1
	case "bytes32":
		return [32]byte(randomBytes(random, 32))
	case "bytes":
		return randomBytes(random, random.IntN(100))
	case "uint256[]":
		return []*big.Int{big.NewInt(random.Int64()), big.NewInt(1)}
	case "bytes[]":
		return [][]byte{randomBytes(random, random.IntN(70)), {}, randomBytes(random, 32)}
	}
	panic(kind)
}

func randomBytes(random *rand.Rand, size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

func randomCall(t testing.TB, random *rand.Rand, f function) []byte {
	_, list, _ := strings.Cut(strings.TrimSuffix(f.signature, ")"), "(")
	var values []any
	for _, kind := range strings.Split(list, ",") {
		values = append(values, randomValue(random, kind))
	}
	return pack(t, f.signature, values...)
}

// Every function decodes what go-ethereum encodes, and nothing that differs
// from that in a byte is shown as the same call.
func TestFunctionsAgainstGoEthereum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range functions() {
		t.Run(f.signature, func(t *testing.T) {
			for range 20 {
				data := randomCall(t, random, f)
				shown := render(t, Call(data))
				if !strings.Contains(shown, "function  ") || strings.Contains(shown, "not decoded: ") {
					t.Fatalf("not decoded: %x\n%s", data, shown)
				}
				mutateCall(t, data, shown)
			}
		})
	}
}

func mutateCall(t *testing.T, data []byte, shown string) {
	t.Helper()
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << (i % 8)
		if render(t, Call(changed)) == shown {
			t.Fatalf("byte %d changed, and the call shows the same:\n%s", i, shown)
		}
		if render(t, Call(data[:i])) == shown {
			t.Fatalf("cut off at byte %d, and the call shows the same:\n%s", i, shown)
		}
	}
	if render(t, Call(append(bytes.Clone(data), 0))) == shown {
		t.Fatalf("a byte appended, and the call shows the same:\n%s", shown)
	}
}

func render(t testing.TB, fields []chains.Field) string {
	t.Helper()
	var out strings.Builder
	if err := chains.Render(&out, fields); err != nil {
		t.Fatal(err)
	}
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
		f, ok := functions()[[4]byte(common.FromHex(selector))]
		if !ok || f.signature != signature {
			t.Errorf("selector %s: %q, want %q", selector, f.signature, signature)
		}
	}
}

func TestUnlimitedAllowanceIsMarked(t *testing.T) {
	unlimited := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, signature := range []string{"approve(address,uint256)", "increaseAllowance(address,uint256)"} {
		if shown := render(t, Call(pack(t, signature, common.Address{1}, unlimited))); !strings.Contains(shown, "UNLIMITED") {
			t.Errorf("not marked:\n%s", shown)
		}
		if shown := render(t, Call(pack(t, signature, common.Address{1}, big.NewInt(1000)))); strings.Contains(shown, "UNLIMITED") {
			t.Errorf("marked, but limited:\n%s", shown)
		}
	}
	if shown := render(t, Call(pack(t, "setApprovalForAll(address,bool)", common.Address{1}, true))); !strings.Contains(shown, "UNLIMITED") {
		t.Errorf("not marked:\n%s", shown)
	}
}

// A delegatecall hidden in a multicall in a Safe's transaction is seen.
func TestDelegatecallIsSeen(t *testing.T) {
	transfer := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	packed := append([]byte{1}, common.Address{2}.Bytes()...)
	packed = append(packed, make([]byte, 32)...)
	packed = append(packed, common.LeftPadBytes([]byte{byte(len(transfer))}, 32)...)
	packed = append(packed, transfer...)
	multiSend := pack(t, "multiSend(bytes)", packed)
	safe := pack(t, "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
		common.Address{3}, new(big.Int), multiSend, uint8(1), new(big.Int), new(big.Int), new(big.Int), common.Address{}, common.Address{}, []byte{})
	shown := render(t, Call(pack(t, "multicall(bytes[])", [][]byte{safe})))
	if strings.Count(shown, "DELEGATECALL") != 2 || !strings.Contains(shown, "transfer(address,uint256)") {
		t.Errorf("the inner calls are not seen:\n%s", shown)
	}
}

// What a contract might read otherwise than we do is not decoded.
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
		if shown := render(t, Call(data)); !strings.Contains(shown, "not decoded") {
			t.Errorf("%s: decoded as\n%s", name, shown)
		}
	}
	trailing := append(pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5)), 0xaa)
	if shown := render(t, Call(trailing)); !strings.Contains(shown, "after the arguments  0xaa") {
		t.Errorf("trailing bytes are not shown:\n%s", shown)
	}
}

// Nesting and long lists end; what is not followed is shown as bytes.
func TestBounds(t *testing.T) {
	data := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	for range 2 * maxCallDepth {
		data = pack(t, "multicall(bytes[])", [][]byte{data})
	}
	if shown := render(t, Call(data)); strings.Count(shown, "multicall(bytes[])") != maxCallDepth {
		t.Errorf("followed to another depth than %d:\n%s", maxCallDepth, shown)
	}
	many := make([][]byte, 1000)
	for i := range many {
		many[i] = []byte{byte(i), 2, 3, 4, 5}
	}
	shown := render(t, Call(pack(t, "multicall(bytes[])", many)))
	if want := fmt.Sprintf("%d more", 1000-maxCallList); !strings.Contains(shown, want) {
		t.Errorf("no %q in\n%s", want, shown)
	}
	changed := many[999][4]
	many[999][4] = changed + 1
	if render(t, Call(pack(t, "multicall(bytes[])", many))) == shown {
		t.Error("a call that is not shown was changed, and the list shows the same")
	}
}

func FuzzCall(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, known := range functions() {
		f.Add(randomCall(f, random, known))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		render(t, Call(data))
	})
}

// TestPackedSize: lengths around the end, and those that overflow.
func TestPackedSize(t *testing.T) {
	packed := make([]byte, packedHead+3)
	for length, want := range map[uint64]int{0: packedHead, 3: packedHead + 3, 4: 0, 1 << 31: 0, 1 << 63: 0, math.MaxUint64: 0} {
		binary.BigEndian.PutUint64(packed[packedHead-8:], length)
		if size, ok := packedSize(packed); size != want || ok != (want > 0) {
			t.Errorf("a length of %d: %d, %v", length, size, ok)
		}
	}
}
