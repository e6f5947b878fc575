package ethereum_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shown are transactions beside the vectors whose summary is worth looking at,
// encoded by go-ethereum.
func shown(t *testing.T) map[string][]byte {
	spender, token := common.HexToAddress("0x1111111111111111111111111111111111111111"), common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	approval := append(common.FromHex("095ea7b3"), append(common.LeftPadBytes(spender[:], 32), bytes.Repeat([]byte{0xff}, 32)...)...)
	accessList := types.AccessList{{Address: token, StorageKeys: []common.Hash{{1}, {2}}}}
	encode := func(prefix []byte, items ...any) []byte {
		list, err := rlp.EncodeToBytes(items)
		if err != nil {
			t.Fatal(err)
		}
		return append(prefix, list...)
	}
	return map[string][]byte{
		"unlimited_approval": encode([]byte{2}, uint64(1), uint64(7), uint64(1e9), uint64(20e9), uint64(60000), token, uint64(0), approval, accessList),
		"creation_any_chain": encode(nil, uint64(7), uint64(20e9), uint64(1<<25), []byte{}, uint64(0), bytes.Repeat([]byte{0x60, 0x01}, 200)),
		"unknown_chain":      encode([]byte{2}, uint64(987654321), uint64(7), uint64(1e9), uint64(20e9), uint64(60000), token, uint64(1e18), []byte{}, accessList),
	}
}

// The rendered summary, the signer's view and the digest of each transaction
// are held in testdata/summary; go test -update writes them.
func TestSummary(t *testing.T) {
	transactions := shown(t)
	for _, v := range vectors(t) {
		transactions[v.Name] = unhex(t, v.Unsigned)
	}
	for name, unsigned := range transactions {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("testdata", "summary", name+".txt"), describe(t, unsigned))
		})
	}
}

func describe(t *testing.T, raw []byte) []byte {
	t.Helper()
	tx, err := ethereum.Chain{}.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	summary := tx.Summary()
	render(t, &out, summary.Fields)
	fmt.Fprintln(&out, "\nsigner")
	render(t, &out, tx.SignerView(keyOf(t, "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca").PublicKey()))
	for _, hazard := range tx.Hazards(keystore.PublicKey{}) {
		fmt.Fprintf(&out, "\nhazard %s\n%s\n", hazard.Name, hazard.Detail)
	}
	form, err := summary.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	digest := summary.Digest()
	fmt.Fprintf(&out, "\n%s\n%s\n", form, hex.EncodeToString(digest[:]))
	return out.Bytes()
}

func render(t *testing.T, out *bytes.Buffer, fields []chains.Field) {
	t.Helper()
	if err := chains.Render(out, fields); err != nil {
		t.Fatal(err)
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n got\n%s\nwant\n%s", path, got, want)
	}
}
