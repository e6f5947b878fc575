package interop

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/drawn"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// drawnMessages returns how many random messages of each kind are compared with the libraries.
func drawnMessages(t *testing.T) uint64 { return uint64(testenv.Draws(t, 100)) }

// messagePeer is messages.mjs, and an engine that signs with the same key.
type messagePeer struct {
	*peer
	t      *testing.T
	engine *enginetest.Fixture
}

// TestMessageLibraries compares messages with the libraries that wallets use.
func TestMessageLibraries(t *testing.T) {
	peer, fixture := startPeer(t, "messages.mjs"), enginetest.New(t, func(c *countersign.Config) {
		c.AllowHazards = []string{countersign.AllHazards}
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *messagePeer)
	}{
		{"typed data", randomTypedData}, {"typed data of Tron", randomTronTypedData}, {"domains with text", textDomains},
		{"eth-sig-util values", sigUtilValues}, {"eth-sig-util documents", sigUtilDocuments},
		{"personal", randomPersonalMessages}, {"authorizations", randomAuthorizations},
		{"off-chain", randomOffchainMessages}, {"off-chain mutations", offchainMutations}, {"off-chain lengths", offchainLengths},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, &messagePeer{peer, t, fixture})
		})
	}
}

// sign signs with the engine, and returns r, s and 27 or 28 in hex; for Ed25519 r and s.
func (p *messagePeer) sign(signWith, payload string, encoding activity.Encoding, hash activity.HashFunction) string {
	p.t.Helper()
	signed, err := p.engine.Engine.SignMessage(p.t.Context(), enginetest.Organization, activity.SignMessageIntent{
		SignWith: signWith, Payload: payload, Encoding: encoding, HashFunction: hash})
	if err != nil {
		p.t.Fatalf("%s: %v", payload, err)
	}
	if hash == activity.HashNotApplicable {
		return signed.R + signed.S
	}
	return signed.R + signed.S + map[string]string{"00": "1b", "01": "1c"}[signed.V]
}

// allAre checks that the results of the libraries equal ours.
func allAre(t *testing.T, about, ours string, theirs map[string]string, libraries ...string) {
	t.Helper()
	for _, library := range libraries {
		if theirs[library] != ours {
			t.Errorf("%s\n%s %s\nwe %s", about, library, theirs[library], ours)
		}
	}
}

// libraries are the libraries for typed data and personal messages.
var libraries = []string{"viem", "ethers", "sigUtil"}

// typedAnswer has the digests and signatures of the libraries for typed data.
type typedAnswer struct {
	Viem, Ethers, SigUtil string
	Signatures            map[string]string
}

func (a *typedAnswer) digests() map[string]string {
	return map[string]string{"viem": a.Viem, "ethers": a.Ethers, "sigUtil": a.SigUtil}
}

// randomTypedData checks that four libraries hash random typed data as we do, and three of
// them sign it to the same bytes.
func randomTypedData(t *testing.T, p *messagePeer) {
	for seed := range drawnMessages(t) {
		text := drawn.TypedData(rand.New(rand.NewPCG(seed, 71)))
		var theirs typedAnswer
		p.ask(p.t, map[string]any{"op": "typed", "document": text, "secret": enginetest.Secret}, &theirs)
		data, err := eip712.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		digest := data.Digest()
		digests := theirs.digests()
		digests["apitypes"] = apitypesDigest(t, text)
		allAre(t, text, hex.EncodeToString(digest[:]), digests, "viem", "ethers", "sigUtil", "apitypes")
		allAre(t, text, p.sign(enginetest.Address, text, activity.EncodingEIP712, activity.HashNone), theirs.Signatures, libraries...)
		if t.Failed() {
			break
		}
	}
}

func apitypesDigest(t *testing.T, text string) string {
	t.Helper()
	var data apitypes.TypedData
	testenv.JSON(t, []byte(text), &data)
	digest, _, err := apitypes.TypedDataAndHash(data)
	testenv.Must(t, err)
	return hex.EncodeToString(digest)
}

// sigUtilVectors are the published vectors of @metamask/eth-sig-util.
type sigUtilVectors struct {
	Values []struct {
		Type, Encoded string
		Value         json.RawMessage
	}
	Documents []struct {
		Name, Refused string   // why we refuse it; empty if all hash it alike
		Signed        []string // the libraries that hash it nevertheless
		Document      json.RawMessage
	}
}

func readSigUtilVectors(t *testing.T) (vectors sigUtilVectors) {
	t.Helper()
	text := testenv.Read(t, filepath.Join("testdata", "eth-sig-util.json"))
	testenv.JSON(t, text, &vectors)
	return vectors
}

// refusedHere says why we refuse what eth-sig-util encodes, by type and value.
var refusedHere = map[string]string{
	`address 10`: "text of 0x and hex digits", `address 9007199254740991`: "text of 0x and hex digits",
	`address "0x0"`: "odd number of hex digits", `address "0x10"`: "1 bytes: an address has 20",
	`address "0x1fffffffffffff"`: "7 bytes: an address has 20", `address "0x1fffffffffffff1"`: "odd number of hex digits",
	`address "bBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"`: "must begin with 0x",
	`bool "true"`: "true or false", `bool "false"`: "true or false", `bool 0`: "true or false", `bool 1`: "true or false",
	`bool -1`: "true or false", `bool 9007199254740991`: "true or false",
	`bytes 10`: "text of 0x and hex digits", `bytes "10"`: "must begin with 0x", `bytes "0x0"`: "odd number of hex digits",
	`bytes "0x101"`: "odd number of hex digits", `bytes "0x1fffffffffffff1"`: "odd number of hex digits",
	`bytes1 10`: "text of 0x and hex digits", `bytes1 0`: "text of 0x and hex digits", `bytes1 1`: "text of 0x and hex digits",
	`bytes1 -1`: "text of 0x and hex digits", `bytes1 9007199254740991`: "text of 0x and hex digits", `bytes1 "0x101"`: "odd number of hex digits",
	`bytes1 "0x1fffffffffffff"`: "7 bytes: bytes1 has 1", `bytes1 "0x1fffffffffffff1"`: "odd number of hex digits",
	`bytes32 10`: "text of 0x and hex digits", `bytes32 0`: "text of 0x and hex digits", `bytes32 1`: "text of 0x and hex digits",
	`bytes32 -1`: "text of 0x and hex digits", `bytes32 9007199254740991`: "text of 0x and hex digits", `bytes32 "0x101"`: "odd number of hex digits",
	`bytes32 "0x10"`: "1 bytes: bytes32 has 32", `bytes32 "0x1fffffffffffff"`: "7 bytes: bytes32 has 32", `bytes32 "0x1fffffffffffff1"`: "odd number of hex digits",
	`string 10`: "expected text",
	`int8 255`:  "out of range for int8", `int8 -255`: "out of range for int8",
	`int 0`: "write int256", `int "0"`: "write int256", `int "0x0"`: "write int256", `int 9007199254740991`: "write int256", `int -9007199254740991`: "write int256",
	`uint 0`: "write uint256", `uint "0"`: "write uint256", `uint "0x0"`: "write uint256", `uint 9007199254740991`: "write uint256",
}

// sigUtilValues checks eth-sig-util's published vectors for single values: the library
// encodes as published, and we hash the same, refuse the same, or refuse for a listed
// reason.
func sigUtilValues(t *testing.T, p *messagePeer) {
	same, both, here := 0, 0, 0
	for _, vector := range readSigUtilVectors(t).Values {
		var theirs struct{ Encoded string }
		p.ask(p.t, map[string]any{"op": "encode", "type": vector.Type, "value": vector.Value}, &theirs)
		if refused := strings.HasPrefix(theirs.Encoded, "refused: "); refused != (vector.Encoded == "") || !refused && theirs.Encoded != vector.Encoded {
			t.Errorf("%s %s: eth-sig-util says %s, and published %q", vector.Type, vector.Value, theirs.Encoded, vector.Encoded)
		}
		data, err := eip712.Parse(fmt.Appendf(nil, `{"types":{"EIP712Domain":[],"Message":[{"name":"data","type":%q}]},"primaryType":"Message","domain":{},"message":{"data":%s}}`, vector.Type, vector.Value))
		why := refusedHere[vector.Type+" "+string(vector.Value)]
		switch {
		case err == nil && why == "" && vector.Encoded != "":
			encoded := testenv.Hex(t, vector.Encoded)
			separator, digest := data.DomainSeparator(), data.Digest()
			if want := crypto.Keccak256([]byte{0x19, 0x01}, separator[:], crypto.Keccak256(encoded)); hex.EncodeToString(digest[:]) != hex.EncodeToString(want) {
				t.Errorf("%s %s: %x, want %x", vector.Type, vector.Value, digest, want)
			}
			same++
		case err != nil && vector.Encoded == "" && why == "":
			both++
		case err != nil && why != "" && strings.Contains(err.Error(), why):
			here++
		default:
			t.Errorf("%s %s: %v, want %q", vector.Type, vector.Value, err, why)
		}
	}
	t.Logf("%d equal, %d refused by both, %d refused only here", same, both, here)
	if same != 31 || both != 9 || here != len(refusedHere) {
		t.Error("vectors are missing")
	}
}

// sigUtilDocuments checks the cases of eth-sig-util's own tests. Readers could read those
// that we refuse differently: some even have two digests.
func sigUtilDocuments(t *testing.T, p *messagePeer) {
	same, both, here := 0, 0, 0
	for _, vector := range readSigUtilVectors(t).Documents {
		var theirs typedAnswer
		p.ask(p.t, map[string]any{"op": "typed", "document": string(vector.Document)}, &theirs)
		digests := theirs.digests()
		data, err := eip712.Parse(vector.Document)
		switch {
		case err == nil && vector.Refused == "":
			digest := data.Digest()
			allAre(t, vector.Name, hex.EncodeToString(digest[:]), digests, libraries...)
			same++
			continue
		case err == nil || vector.Refused == "" || !strings.Contains(err.Error(), vector.Refused):
			t.Errorf("%s: %v, want %q", vector.Name, err, vector.Refused)
		}
		signed := slices.DeleteFunc(slices.Clone(libraries), func(library string) bool { return strings.HasPrefix(digests[library], "refused: ") })
		if !slices.Equal(signed, vector.Signed) {
			t.Errorf("%s: signed by %v, want %v: %v", vector.Name, signed, vector.Signed, digests)
		}
		if len(signed) == 0 {
			both++
		} else {
			here++
		}
	}
	t.Logf("%d equal, %d refused by all, %d refused here but not by all", same, both, here)
	if same != 3 || both != 6 || here != 11 {
		t.Error("documents are missing")
	}
}

// randomPersonalMessages checks that viem, ethers and eth-sig-util sign personal messages
// to our bytes, and TronWeb those of Tron, whose signer it recovers from our signature.
func randomPersonalMessages(t *testing.T, p *messagePeer) {
	tronAddress := "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	for seed := range drawnMessages(t) {
		text := drawn.Text(rand.New(rand.NewPCG(seed, 72)))
		message := hex.EncodeToString([]byte(text))
		ours := p.sign(enginetest.Address, hex.EncodeToString(personal.Preimage(personal.EthereumPrefix, []byte(text))), activity.EncodingHex, activity.HashKeccak256)
		var theirs struct{ Signatures map[string]string }
		p.ask(p.t, map[string]any{"op": "personal", "message": message, "secret": enginetest.Secret}, &theirs)
		allAre(t, text, ours, theirs.Signatures, libraries...)

		ours = p.sign(tronAddress, hex.EncodeToString(personal.Preimage(personal.TronPrefix, []byte(text))), activity.EncodingHex, activity.HashKeccak256)
		var tronWeb, verified struct{ Signature, Signer string }
		p.ask(p.t, map[string]any{"op": "tron", "message": message, "secret": enginetest.Secret}, &tronWeb)
		p.ask(p.t, map[string]any{"op": "tronVerify", "message": message, "signature": ours}, &verified)
		if tronWeb.Signature != ours || tronWeb.Signer != tronAddress || verified.Signer != tronAddress {
			t.Errorf("%q: TronWeb signs %s and recovers %s from ours, %s", text, tronWeb.Signature, verified.Signer, ours)
		}
		if t.Failed() {
			break
		}
	}
}

// randomAuthorizations checks that viem and eth-sig-util sign EIP-7702 authorizations to
// our bytes.
func randomAuthorizations(t *testing.T, p *messagePeer) {
	for seed := range drawnMessages(t) {
		r := rand.New(rand.NewPCG(seed, 73))
		authorization := map[string]any{"address": fmt.Sprintf("0x%040x", r.Uint64()), "chainId": r.Uint64N(1 << r.IntN(54)), "nonce": r.Uint64N(1 << r.IntN(54))}
		text := testenv.Encode(t, authorization)
		var theirs struct{ Signatures map[string]string }
		p.ask(p.t, map[string]any{"op": "authorization", "authorization": authorization, "secret": enginetest.Secret}, &theirs)
		allAre(t, string(text), p.sign(enginetest.Address, string(text), activity.EncodingAuthorization, activity.HashNone), theirs.Signatures, "viem", "sigUtil")
		if t.Failed() {
			break
		}
	}
}
