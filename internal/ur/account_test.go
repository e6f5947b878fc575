package ur

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// accountVector is the test vector of BCR-2023-019.
type accountVector struct {
	Descriptors []string
	UR          string
}

func readAccountVector(t *testing.T) (v accountVector) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, "testdata/account-descriptor.json"), &v)
	return v
}

// TestAccountDescriptor encodes the vector of BCR-2023-019, byte for byte, from its textual
// descriptors.
func TestAccountDescriptor(t *testing.T) {
	vector := readAccountVector(t)
	account := AccountDescriptor{Fingerprint: 0x37b5eed4}
	for _, text := range vector.Descriptors {
		account.Outputs = append(account.Outputs, outputOf(t, text))
	}
	if len(account.Outputs) != 7 {
		t.Fatalf("the vector has %d descriptors", len(account.Outputs))
	}
	if got := account.Message().String(); got != vector.UR {
		t.Errorf("encoded as\n%s\nwant\n%s", got, vector.UR)
	}
}

// outputOf reads SCRIPT([FINGERPRINT/PATH]XPUB).
func outputOf(t *testing.T, text string) OutputDescriptor {
	t.Helper()
	script, rest, _ := strings.Cut(text, "[")
	origin, rest, _ := strings.Cut(rest, "]")
	xpub, closing, found := strings.Cut(rest, ")")
	raw := base58.Decode(xpub) // version 4, depth 1, parent 4, index 4, chain code 32, key 33, checksum 4
	if !found || len(raw) != 82 {
		t.Fatalf("no descriptor: %s", text)
	}
	key := HDKey{Key: raw[45:78], ChainCode: raw[13:45], Parent: binary.BigEndian.Uint32(raw[5:9]), Origin: Keypath{Fingerprint: 0x37b5eed4}}
	for step := range strings.SplitSeq(strings.TrimPrefix(origin, "37b5eed4/"), "/") {
		var index uint32
		for _, digit := range strings.TrimSuffix(step, "'") {
			index = 10*index + uint32(digit-'0')
		}
		key.Origin.Path = append(key.Origin.Path, PathIndex{index, strings.HasSuffix(step, "'")})
	}
	return OutputDescriptor{Source: script + "@0)" + closing, Key: key}
}

// TestAccountDescriptorTestnet checks the coin and the name.
func TestAccountDescriptorTestnet(t *testing.T) {
	output := outputOf(t, readAccountVector(t).Descriptors[2])
	output.Key.Testnet, output.Key.Name = true, "treasury"
	encoded := AccountDescriptor{Outputs: []OutputDescriptor{output}}.Message().CBOR
	for _, want := range [][]byte{{0x05, 0xd9, 0x9d, 0x71, 0xa1, 0x02, 0x01}, append([]byte{0x03, 0x68}, "treasury"...)} {
		if !bytes.Contains(encoded, want) {
			t.Errorf("%x has no %x", encoded, want)
		}
	}
}
