package bitcoin

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// TestDecodedAddresses compares addresses that are read again and again, many of which share a
// slot, with those that are decoded, from several goroutines at once. A text that is almost one
// of them is refused, or is the same address in the other case of bech32.
func TestDecodedAddresses(t *testing.T) {
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 3))
			for range 3000 {
				var hash [20]byte
				binary.BigEndian.PutUint64(hash[:], r.Uint64N(200))
				script := [][]byte{p2wpkhScript(hash), p2pkhScript(hash), p2shScript(hash)}[r.IntN(3)]
				network := []Network{Mainnet, Testnet}[r.IntN(2)]
				text, _ := AddressOf(script, network)
				for _, text := range []string{text, text} {
					if read, err := parseSignWith(text); err != nil || !bytes.Equal(read.script, script) || read.network != network {
						t.Errorf("%s: %+v, %v; want %x", text, read, err, script)
					}
				}
				at := r.IntN(len(text))
				for _, wrong := range []string{text[:at] + "x" + text[at+1:], strings.ToUpper(text), text + text[len(text)-1:]} {
					read, err := parseSignWith(wrong)
					sameInBech32 := strings.EqualFold(wrong, text) && read != nil && bytes.Equal(read.script, script)
					if err == nil && read != nil && wrong != text && !sameInBech32 {
						t.Errorf("%s is read as %x", wrong, read.script)
					}
				}
			}
		})
	}
	group.Wait()
}
