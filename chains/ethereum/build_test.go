package ethereum_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// The items of a small valid transaction of each type, in hex, each with its RLP
// header. Tests replace some of them.
var (
	recipient = "94" + "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
	blobHash  = "a0" + "01" + strings.Repeat("ab", 31)
	authTuple = list("01", "94"+strings.Repeat("11", 20), "08", "80",
		"a01989e8aa75838068e4a79a4ab483fea0ec164036c4a90722369108a8b34a23f5",
		"a0562c90aa13e1d32ba3d9867703da8bf8ddad63d04ec15cbfc6fd38e8d11b4ed9")

	//                          nonce gasPrice        gas       to        value data
	legacyItems = []string{"07", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef"}
	eip155Items = append(slices.Clone(legacyItems), "01", "80", "80")
	//                     chainId nonce gasPrice     gas       to        value data    accessList
	items1 = []string{"01", "07", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef", "c0"}
	//                     chainId nonce tip          cap             gas       to        value data    accessList
	items2 = []string{"01", "07", "843b9aca00", "8504a817c800", "82ea60", recipient, "7b", "84deadbeef", "c0"}
	items3 = append(slices.Clone(items2), "07", list(blobHash))
	items4 = append(slices.Clone(items2), list(authTuple))
)

// list returns the RLP list of items in hex.
func list(items ...string) string { return listHeader(items...) + strings.Join(items, "") }

func listHeader(items ...string) string { return header(0xc0, len(strings.Join(items, ""))/2) }

// str returns the RLP string of bytes in hex, of which there must be at least two.
func str(content string) string { return header(0x80, len(content)/2) + content }

func header(kind byte, size int) string {
	if size < 56 {
		return hex.EncodeToString([]byte{kind + byte(size)})
	}
	var digits []byte
	for ; size > 0; size >>= 8 {
		digits = append([]byte{byte(size)}, digits...)
	}
	return hex.EncodeToString(append([]byte{kind + 55 + byte(len(digits))}, digits...))
}

// with returns the items with the one at number, counted from 1, replaced.
func with(items []string, number int, item string) []string {
	items = slices.Clone(items)
	items[number-1] = item
	return items
}

// typed returns a transaction of a type.
func typed(kind string, items ...string) string { return kind + list(items...) }

// TestBuildersAreValid checks that the transactions which other tests change are
// accepted: otherwise those tests would prove nothing.
func TestBuildersAreValid(t *testing.T) {
	for name, text := range map[string]string{
		"legacy":  list(legacyItems...),
		"eip-155": list(eip155Items...),
		"1":       typed("01", items1...),
		"2":       typed("02", items2...),
		"3":       typed("03", items3...),
		"4":       typed("04", items4...),
	} {
		if _, err := (ethereum.Chain{}).Parse(chaintest.Unhex(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
