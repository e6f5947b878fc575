package evm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// tempo is Tempo's mainnet.
var tempo = &Network{ID: "eip155:4217", ChainID: TempoMainnet, Symbol: "native", Decimals: 18}

// addressAt returns the address of a precompile; for TIP-20 tokens that of pathUSD.
func addressAt(w contractSet) Address {
	for at, is := range precompiles {
		if is == w {
			return at
		}
	}
	return hexAddress("0x20C0000000000000000000000000000000000000")
}

// encodeZero encodes a call with zeros and empty lists for all arguments, except
// addresses, which are 0x11…, 0x12… and so on: the zero address, and one that is there twice, are cases of
// their own.
func encodeZero(types []abiType) []byte {
	head, tail := make([]byte, 0, heads(types)), []byte(nil)
	for i := range types {
		t := &types[i]
		switch {
		case t.dynamic():
			offset := make([]byte, word)
			size := heads(types) + len(tail)
			offset[word-2], offset[word-1] = byte(size>>8), byte(size)
			head = append(head, offset...)
			if t.kind == kindTuple {
				tail = append(tail, encodeZero(t.members)...)
			} else {
				tail = append(tail, make([]byte, word)...)
			}
		case t.kind == kindTuple:
			head = append(head, encodeZero(t.members)...)
		case t.kind == kindAddress:
			head = append(head, append(make([]byte, 12), slices.Repeat([]byte{0x11 + byte(i)}, 20)...)...)
		default:
			head = append(head, make([]byte, word)...)
		}
	}
	return append(head, tail...)
}

// TestPrecompileKinds compares what each function of Tempo's precompiles does with
// testdata/tempo.txt, which COUNTERSIGN_UPDATE=1 writes.
func TestPrecompileKinds(t *testing.T) {
	var table strings.Builder
	for _, row := range tempoStandards {
		f := parseFunction(string(row.at), row.function)
		selector := crypto.Keccak256([]byte(f.signature))[:4]
		call := tempo.Pass().Read(Transaction{To: addressAt(row.at), Data: append(selector, encodeZero(f.parameters)...)})
		if call.function == nil || call.function.at != row.at || call.function.signature != f.signature {
			t.Errorf("%s of %s is read as %+v (%s)", f.signature, row.at, call.function, call.problem)
			continue
		}
		var kinds []string
		for _, effect := range call.Effects() {
			if effect.Undecoded {
				t.Errorf("%s is not decoded", f.signature)
			}
			kinds = append(kinds, string(effect.Kind))
		}
		if len(kinds) == 0 {
			t.Errorf("%s does nothing", f.signature)
		} else if kinds[0] == string(chains.KindReceive) {
			t.Errorf("%s gives back, as a price, what nothing is given for", f.signature)
		}
		fmt.Fprintf(&table, "%-22s %x  %-28s %s\n", row.at, selector, strings.Join(kinds, ", "), f.signature)
	}
	const path = "testdata/tempo.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Must(t, os.MkdirAll("testdata", 0o755))
		testenv.Write(t, path, []byte(table.String()))
	}
	want, err := os.ReadFile(path)
	if err != nil || table.String() != string(want) {
		t.Errorf("%s differs (%v):\n%s", path, err, table.String())
	}
}

// TestPrecompilesAreTempos checks that nothing is known at these addresses on other
// chains, and that functions which a precompile does not have are not decoded.
func TestPrecompilesAreTempos(t *testing.T) {
	ethereum := &Network{ID: "eip155:1", ChainID: 1, Symbol: "ETH", Decimals: 18}
	revoke := append(crypto.Keccak256([]byte("revokeKey(address)"))[:4], make([]byte, 32)...)
	for name, call := range map[string]*Call{
		"on Ethereum":          ethereum.Pass().Read(Transaction{To: addressAt(atKeychain), Data: revoke}),
		"another precompile":   tempo.Pass().Read(Transaction{To: addressAt(atExchange), Data: revoke}),
		"no such function":     tempo.Pass().Read(Transaction{To: addressAt(atKeychain), Data: []byte{1, 2, 3, 4}}),
		"validators' settings": tempo.Pass().Read(Transaction{To: addressAt(atValidators), Data: []byte{1, 2, 3, 4}}),
	} {
		effects := call.Effects()
		if len(effects) != 1 || !effects[0].Undecoded || effects[0].Kind != chains.KindCall {
			t.Errorf("%s: %+v", name, effects)
		}
	}
}

// TestRewardsOfOneself: naming one's own account as the recipient of its rewards, or of what is held back,
// grants no permission, and naming another one grants all of it.
func TestRewardsOfOneself(t *testing.T) {
	us, pass := Address{0xaa}, tempo.Pass()
	pass.signer = &us
	for recipient, want := range map[Address]chains.Kind{us: chains.KindSettings, {0xbb}: chains.KindApprove, {}: chains.KindRevoke} {
		data := append(crypto.Keccak256([]byte("setRewardRecipient(address)"))[:4], append(make([]byte, 12), recipient[:]...)...)
		effects := pass.Read(Transaction{To: addressAt(atTIP20), Data: data}).Effects()
		if len(effects) != 1 || effects[0].Kind != want || (want == chains.KindApprove) != (effects[0].Amount.Bound == chains.BoundUnlimited) {
			t.Errorf("%v: %+v, want %s", recipient, effects, want)
		}
		data = append(crypto.Keccak256([]byte("setReceivePolicy(uint64,uint64,address)"))[:4], append(make([]byte, 76), recipient[:]...)...)
		effects = pass.Read(Transaction{To: addressAt(atPolicies), Data: data}).Effects()
		if got := len(effects) == 2 && effects[1].Amount.Bound == chains.BoundUnlimited; got != (want == chains.KindApprove) {
			t.Errorf("%v: %+v", recipient, effects)
		}
	}
}
