package interop

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/ur"
)

// urAnswer is an answer of ur.mjs. Each operation sets some members.
type urAnswer struct {
	Parts     []string
	Type      string
	CBOR      string
	Shown     int
	Bytes     string
	RequestID string
	Signature string
	PSBT      string
	Text      string
	Path      string
}

func askUR(t *testing.T, request map[string]any) (answer urAnswer) {
	t.Helper()
	startPeer(t, "ur.mjs").ask(t, request, &answer)
	return answer
}

// randomBytes returns random bytes that are the same in each run.
func randomBytes(seed uint64, length int) []byte {
	from := rand.New(rand.NewPCG(seed, 0))
	out := make([]byte, length)
	for i := range out {
		out[i] = byte(from.Uint32())
	}
	return out
}

func upper(parts []string) []string {
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = strings.ToUpper(part)
	}
	return out
}

// TestURParts checks that parts equal those of @ngraveio/bc-ur, for messages and fragments
// of many lengths and three times as many parts as fragments, and that each side reads
// what the other encodes.
func TestURParts(t *testing.T) {
	equal := 0
	for _, length := range []int{60, 256, 1000, 1300, 4100, 20_000} {
		for _, most := range []int{30, 100, 250, 490} {
			if length/most > 250 {
				continue
			}
			cbor := append([]byte{0x59, byte(length >> 8), byte(length)}, randomBytes(uint64(length), length)...)
			message := ur.Message{Type: ur.TypePSBT, CBOR: cbor}
			encoder, err := ur.NewEncoder(message, most)
			testenv.Must(t, err)
			count := 3 * encoder.Parts()
			theirs := askUR(t, map[string]any{"op": "parts", "type": message.Type, "cbor": hex.EncodeToString(cbor), "fragment": most, "count": count}).Parts
			ours := make([]string, count)
			for i := range ours {
				ours[i] = encoder.Next()
				if ours[i] != strings.ToLower(theirs[i]) {
					t.Fatalf("%d bytes in fragments of %d, part %d:\n%s\ntheirs:\n%s", length, most, i+1, ours[i], theirs[i])
				}
				equal++
			}
			joined := askUR(t, map[string]any{"op": "join", "parts": ours[encoder.Parts()/2:]})
			if joined.Type != message.Type || joined.CBOR != hex.EncodeToString(cbor) {
				t.Error("they read a different message")
			}
			if got := collect(t, upper(theirs[encoder.Parts()/2:]), ur.TypePSBT); !bytes.Equal(got.CBOR, cbor) {
				t.Error("we read a different message")
			}
		}
	}
	t.Logf("%d parts are equal", equal)
}

// collect reassembles a message.
func collect(t *testing.T, parts []string, taken ...string) ur.Message {
	t.Helper()
	collector := ur.NewCollector(taken...)
	for _, part := range parts {
		testenv.Must(t, collector.Add(part))
	}
	message, ok := collector.Message()
	if !ok {
		t.Fatalf("not complete: %+v", collector.Progress())
	}
	return message
}

// TestURLoss compares with @ngraveio/bc-ur how many codes have to be shown until a message
// is read, if 0, 20 or 50 % of them are lost.
func TestURLoss(t *testing.T) {
	const runs = 15
	for _, length := range []int{843, 5447, 20_000} {
		for _, loss := range []float64{0, 0.2, 0.5} {
			var ours, theirs []int
			parts := 0
			for run := range runs {
				message := ur.Message{Type: ur.TypePSBT, CBOR: append([]byte{0x59, byte(length >> 8), byte(length)}, randomBytes(uint64(run), length)...)}
				from := rand.New(rand.NewPCG(uint64(run), 9))
				lost := make([]bool, 10_000)
				for i := range lost {
					lost[i] = from.Float64() < loss
				}
				encoder, err := ur.NewEncoder(message, 250)
				testenv.Must(t, err)
				parts = encoder.Parts()
				ours = append(ours, shownUntilRead(t, encoder, lost))
				var answer struct{ Shown int } // here parts is a number
				startPeer(t, "ur.mjs").ask(t, map[string]any{"op": "lossy", "type": message.Type, "cbor": hex.EncodeToString(message.CBOR), "fragment": 250, "lost": lost}, &answer)
				theirs = append(theirs, answer.Shown)
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			t.Logf("%6d bytes, %3d parts, %2.0f %% lost: median %4d, at most %4d; @ngraveio/bc-ur %4d, %4d",
				length, parts, 100*loss, ours[runs/2], ours[runs-1], theirs[runs/2], theirs[runs-1])
			if ours[runs/2] > theirs[runs/2] {
				t.Errorf("%d bytes at %.0f %%: we need more codes than @ngraveio/bc-ur", length, 100*loss)
			}
		}
	}
}

func shownUntilRead(t *testing.T, encoder *ur.Encoder, lost []bool) int {
	t.Helper()
	collector := ur.NewCollector(ur.TypePSBT)
	for i := range lost {
		code := encoder.Next()
		if lost[i] {
			continue
		}
		testenv.Must(t, collector.Add(code))
		if _, ok := collector.Message(); ok {
			return i + 1
		}
	}
	t.Fatal("not read")
	return 0
}

const requestUUID = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"

// TestKeystoneRequests reads the requests of Keystone's SDK.
func TestKeystoneRequests(t *testing.T) {
	data := hex.EncodeToString(randomBytes(1, 700))
	address := "97cc56300c36f60c7fb7c50babc6c5cdf59d5c56"
	asked := askUR(t, map[string]any{"op": "request", "chain": "eth", "requestId": requestUUID, "signData": data, "dataType": 4,
		"path": "m/44'/60'/0'/0/5", "xfp": "f23f9fd2", "chainId": 1, "address": address, "origin": "a wallet"})
	eth, err := ur.DecodeEthSignRequest(collect(t, asked.Parts, ur.TypeEthSignRequest))
	testenv.Must(t, err)
	got := fmt.Sprintf("%s %x %d %d %v %x %s", hex.EncodeToString(eth.ID), eth.Data, eth.Kind, eth.ChainID, eth.Path, eth.Address, eth.Origin)
	if want := strings.ReplaceAll(requestUUID, "-", "") + " " + data + " 4 1 [f23f9fd2]m/44'/60'/0'/0/5 " + address + " a wallet"; got != want {
		t.Errorf("the request is %s\nwant %s", got, want)
	}
	asked = askUR(t, map[string]any{"op": "request", "chain": "sol", "requestId": requestUUID, "signData": data, "dataType": 1,
		"path": "m/44'/501'/0'", "xfp": "f23f9fd2", "origin": "a wallet"})
	sol, err := ur.DecodeSolSignRequest(collect(t, asked.Parts, ur.TypeSolSignRequest))
	testenv.Must(t, err)
	if hex.EncodeToString(sol.Data) != data || sol.Kind != 1 || sol.Path.String() != "[f23f9fd2]m/44'/501'/0'" {
		t.Errorf("the request is %+v", sol)
	}
	asked = askUR(t, map[string]any{"op": "request", "chain": "btc", "psbt": "70736274ff" + data})
	packet, err := ur.DecodePSBT(collect(t, asked.Parts, ur.TypePSBT, ur.TypeCryptoPSBT))
	if err != nil || hex.EncodeToString(packet) != "70736274ff"+data {
		t.Errorf("the PSBT is %x, %v", packet, err)
	}
}

// TestKeystoneSignatures has Keystone's SDK read our answers.
func TestKeystoneSignatures(t *testing.T) {
	id := testenv.Hex(t, strings.ReplaceAll(requestUUID, "-", ""))
	signature := randomBytes(2, 67)
	for _, message := range []ur.Message{
		ur.EthSignature{ID: id, Signature: signature}.Message(),
		ur.SolSignature{ID: id, Signature: signature}.Message(),
	} {
		answer := askUR(t, map[string]any{"op": "signature", "parts": []string{strings.ToUpper(message.String())}})
		if answer.RequestID != requestUUID || answer.Signature != hex.EncodeToString(signature) || answer.Bytes != answer.Signature {
			t.Errorf("%s: they read %+v", message.Type, answer)
		}
	}
	packet := randomBytes(3, 300)
	answer := askUR(t, map[string]any{"op": "signature", "parts": []string{ur.PSBT(packet, ur.TypeCryptoPSBT).String()}})
	if answer.PSBT != hex.EncodeToString(packet) {
		t.Errorf("they read the PSBT %s", answer.PSBT)
	}
}

// TestKeystoneHDKey has Keystone's registry read the extended public key of BIP-84's
// vector.
func TestKeystoneHDKey(t *testing.T) {
	const xpub = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
	raw := base58.Decode(xpub) // version 4, depth 1, parent 4, index 4, chain code 32, key 33, checksum 4
	key := ur.HDKey{Key: raw[45:78], ChainCode: raw[13:45], Parent: binary.BigEndian.Uint32(raw[5:9]), Name: "treasury",
		Origin: ur.Keypath{Fingerprint: 0x73c5da0a, Depth: 3, Path: []ur.PathIndex{{Index: 84, Hardened: true}, {Index: 0, Hardened: true}, {Index: 0, Hardened: true}}}}
	answer := askUR(t, map[string]any{"op": "hdkey", "parts": []string{strings.ToUpper(key.Message().String())}})
	if answer.Type != ur.TypeHDKey || answer.Text != xpub || answer.Bytes != "73c5da0a" || answer.Path != "84'/0'/0'" {
		t.Errorf("they read %+v", answer)
	}
	key.Testnet = true
	if answer := askUR(t, map[string]any{"op": "hdkey", "parts": []string{key.Message().String()}}); answer.Path != "84'/0'/0'" {
		t.Errorf("of a test network they read %+v", answer)
	}
}

// TestBBQr reads what Coinkite's library writes, in each encoding and in another order.
func TestBBQr(t *testing.T) {
	raw := append([]byte("psbt\xff"), bytes.Repeat(randomBytes(4, 300), 8)...)
	for _, encoding := range []string{"H", "2", "Z"} {
		for _, split := range []int{1, 4} {
			parts := askUR(t, map[string]any{"op": "bbqr", "type": "P", "encoding": encoding, "raw": hex.EncodeToString(raw), "split": split}).Parts
			if parts[0][2:3] != encoding {
				t.Errorf("they wrote encoding %s for %s", parts[0][2:3], encoding)
			}
			slices.Reverse(parts)
			got, err := ur.DecodePSBT(collect(t, parts, ur.TypePSBT))
			if err != nil || !bytes.Equal(got, raw) {
				t.Errorf("%s in %d codes: %v", encoding, len(parts), err)
			}
		}
	}
	parts := askUR(t, map[string]any{"op": "bbqr", "type": "J", "encoding": "2", "raw": hex.EncodeToString([]byte(`{"body":"{}"}`))}).Parts
	if got := collect(t, parts, ur.TypeJSON); string(got.CBOR) != `{"body":"{}"}` {
		t.Errorf("the JSON is %q", got.CBOR)
	}
}
