package tron

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
)

// TestSummaries compares what is shown of each transaction, and its digest, with
// testdata/summary.
func TestSummaries(t *testing.T) {
	chaintest.Summaries(t, Chain{}, shownTransactions(t), keyOf(t, ownerSecret))
}

func shownTransactions(t *testing.T) map[string][]byte {
	t.Helper()
	all := handMade(t)
	seen := map[string]int{}
	for _, v := range tronWebVectors(t) {
		seen[v.Type]++
		name := v.Type
		if seen[v.Type] > 1 {
			name = fmt.Sprintf("%s%d", v.Type, seen[v.Type])
		}
		all[name] = chaintest.Unhex(t, v.RawDataHex)
	}
	raw := rawOf(1, transfer(t))
	tx := parse(t, raw)
	all["two_signatures"] = wholeOf(raw, signedBy(t, tx, oneSecret), signedBy(t, tx, twoSecret))
	rich := newFrame(join(wrapped(1, "TransferContract", transfer(t)), lengthField(3, []byte("p\x01")), lengthField(4, []byte("name")), varintField(5, 2)))
	rich.expiration = varintField(8, math.MaxInt64)
	rich.data = lengthField(10, []byte("invoice 42 – thanks"))
	rich.feeLimit = varintField(18, 15_000_000_000)
	all["whole_frame"] = rich.bytes()
	hostile := newFrame(join(wrapped(1, "TransferContract", transfer(t)), varintField(5, 2)))
	hostile.data = lengthField(10, []byte("to: \x1b[2K\u202eevil"))
	all["hostile_memo"] = hostile.bytes()
	return all
}

// TestCalls checks which calls are decoded, and how. Call data is never silently
// omitted: trailing bytes, dirty words and unknown functions are all shown.
func TestCalls(t *testing.T) {
	const (
		other  = "000000000000000000000000f1cd33c4802dec54475c555f95e9403a62fd3553"
		tagged = "000000000000000000000041f1cd33c4802dec54475c555f95e9403a62fd3553"
		dirty  = "000000000000000000000142f1cd33c4802dec54475c555f95e9403a62fd3553"
		most   = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
		ten    = "000000000000000000000000000000000000000000000000000000000000000a"
		yes    = "0000000000000000000000000000000000000000000000000000000000000001"

		unit      = " [in the token's smallest unit]"
		unlimited = " [UNLIMITED: all of this token, now and later]"
		dirtyNote = "; not in its canonical encoding: read as contracts read it that ignore what is too wide"
	)
	for _, c := range []struct{ name, data, want string }{
		{"transfer", "a9059cbb" + other + ten, "function transfer(address,uint256) [TRC-20]|to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount 10" + unit},
		{"transfer with 41", "a9059cbb" + tagged + ten, "function transfer(address,uint256) [TRC-20]|to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount 10" + unit},
		{"approve", "095ea7b3" + other + ten, "function approve(address,uint256) [TRC-20 or TRC-721]|spender TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount or token id 10 [in the token's smallest unit, or one token by its id]"},
		{"approve all", "095ea7b3" + other + most, "function approve(address,uint256) [TRC-20 or TRC-721]|spender TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount or token id 115792089237316195423570985008687907853269984665640564039457584007913129639935" + unlimited},
		{"approve 2^96", "095ea7b3" + other + strings.Repeat("0", 39) + "1" + strings.Repeat("0", 24), "function approve(address,uint256) [TRC-20 or TRC-721]|spender TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount or token id 79228162514264337593543950336" + unlimited},
		{"increaseApproval", "d73dd623" + other + most, "function increaseApproval(address,uint256) [TRC-20]|spender TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|added amount 115792089237316195423570985008687907853269984665640564039457584007913129639935" + unlimited},
		{"transferFrom", "23b872dd" + tagged + other + ten, "function transferFrom(address,address,uint256) [TRC-20 or TRC-721]|from TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount or token id 10"},
		{"operator", "a22cb465" + other + yes, "function setApprovalForAll(address,bool) [TRC-721 or TRC-1155]|operator TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|approved yes [UNLIMITED: all tokens of this contract, now and later]"},
		{"operator 2", "a22cb465" + other + ten, "function setApprovalForAll(address,bool) [TRC-721 or TRC-1155" + dirtyNote + "]|operator TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|approved yes [UNLIMITED: all tokens of this contract, now and later]"},
		{"dirty address", "a9059cbb" + dirty + ten, "function transfer(address,uint256) [TRC-20" + dirtyNote + "]|to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ [what stands in front of it is ignored: 0x000000000000000000000142]|amount 10" + unit},
		{"word too few", "a9059cbb" + other, "[has the selector of transfer(address,uint256), but not its canonical encoding: not decoded]"},
		{"byte too many", "a9059cbb" + other + ten + "00", "function transfer(address,uint256) [TRC-20]|to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ|amount 10" + unit + "|after the arguments 00"},
		{"unknown", "a9059cbc" + other + ten, "selector a9059cbc [unknown function]|arguments " + other + ten},
		{"three bytes", "a9059c", "[shorter than a function's selector: not decoded]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			message := join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, contractHex)), lengthField(4, chaintest.Unhex(t, c.data)))
			var shown []string
			for _, call := range parse(t, rawOf(31, message)).call(network.Pass()).Fields() {
				if call.Type == chains.TypeBytes {
					shown = append(shown, "["+call.Note+"]")
				}
				for _, field := range call.Fields {
					line := field.Label + " " + field.Value
					if field.Note != "" {
						line += " [" + field.Note + "]"
					}
					shown = append(shown, line)
				}
			}
			if got := strings.Join(shown, "|"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestCreatedAddress compares with TronWeb's genContractAddress.
func TestCreatedAddress(t *testing.T) {
	want := []string{"TEPm6RQGvebxZ4Y9ZpAM9WEoD95LYSR1Um", "TUx2ajQJwnrR9FFNcdAeMJfSBxYoaKQrhQ"}
	for _, v := range tronWebVectors(t) {
		if v.Type != "CreateSmartContract" {
			continue
		}
		if got := parse(t, chaintest.Unhex(t, v.RawDataHex)).createdAddress().String(); len(want) == 0 || got != want[0] {
			t.Fatalf("%s, want %v", got, want)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Errorf("no vector for %v", want)
	}
}
