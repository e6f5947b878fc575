package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestAddresses checks the addresses of a key: four kinds on four networks, those of
// the vectors among them.
func TestAddresses(t *testing.T) {
	key := keyOf(t, chaintest.Unhex(t, vectors(t)["p2wpkh"].PrivateKey)).PublicKey()
	got := map[string]string{}
	for _, a := range (bitcoin.Chain{}).Addresses(key) {
		if _, twice := got[a.Format]; twice {
			t.Errorf("%s twice", a.Format)
		}
		got[a.Format] = a.Address
	}
	if len(got) != 16 {
		t.Errorf("%d formats", len(got))
	}
	for format, want := range map[string]string{
		"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH":  "mmE6rFNaoPL9yPyNPV68bRkRGbPbv38FNe",
		"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH": "tb1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m",
		"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR":    "tb1pfh6dkyz4uqm6d47zyfetmr65tuf0j73658er4vpjhph7292x9y2qr3fw54",
	} {
		if got[format] != want {
			t.Errorf("%s: %s, want %s", format, got[format], want)
		}
	}
	for format, prefix := range map[string]string{
		"MAINNET_P2PKH": "1", "MAINNET_P2SH": "3", "MAINNET_P2WPKH": "bc1q", "MAINNET_P2TR": "bc1p",
		"TESTNET_P2SH": "2", "REGTEST_P2WPKH": "bcrt1q", "REGTEST_P2TR": "bcrt1p", "SIGNET_P2PKH": "m",
	} {
		if !strings.HasPrefix(got["ADDRESS_FORMAT_BITCOIN_"+format], prefix) {
			t.Errorf("%s: %s", format, got["ADDRESS_FORMAT_BITCOIN_"+format])
		}
	}
	if none := (bitcoin.Chain{}).Addresses(keystore.PublicKey{}); len(none) != 0 {
		t.Errorf("%v", none)
	}
}

// TestScripts has the addresses and scripts of BIP-173 and BIP-350 and a pay-to-anchor
// address, and compares the scripts of all addresses of a key with btcd's PayToAddrScript.
func TestScripts(t *testing.T) {
	for text, want := range map[string]string{
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4":                     "0014751e76e8199196d454941c45d1b3a323f1433bd6",
		"tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7": "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		"bc1pfeessrawgf": "51024e73",
	} {
		if got, err := bitcoin.ScriptOf(text); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x (%v), want %s", text, got, err, want)
		}
	}
	key := keyOf(t, chaintest.Unhex(t, vectors(t)["p2wpkh"].PrivateKey)).PublicKey()
	for _, a := range (bitcoin.Chain{}).Addresses(key) {
		parsed, err := address.DecodeAddress(a.Address, paramsOf(a.Address))
		testenv.Must(t, err)
		want, err := txscript.PayToAddrScript(parsed)
		testenv.Must(t, err)
		if got, err := bitcoin.ScriptOf(a.Address); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x (%v), btcd says %x", a.Address, got, err, want)
		}
	}
}

func paramsOf(text string) *chaincfg.Params {
	switch network, _ := bitcoin.NetworkOf(text); network {
	case bitcoin.Mainnet:
		return &chaincfg.MainNetParams
	case bitcoin.Regtest:
		return &chaincfg.RegressionNetParams
	}
	return &chaincfg.TestNet3Params
}

// TestMalformedAddress checks that text which looks like an address but is not one is not
// taken for a key's id.
func TestMalformedAddress(t *testing.T) {
	tx := parse(t, base(t).Encode())
	for _, signWith := range []string{
		"tb1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8n",                                 // checksum
		"tb1Q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m",                                 // mixed case
		"bc1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m",                                 // of another network
		"bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", // 40 bytes
		"BC1SW50QGDZ25J",                             // version 16
		"bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",       // version 2
		"bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kj7gz7z", // version 1 of 20 bytes
		"mmE6rFNaoPL9yPyNPV68bRkRGbPbv38FNf",         // base58 checksum
		"1111111111111111111111111111",
	} {
		_, err := locate(tx, signWith)
		if signer, ok := errors.AsType[*chains.SignerError](err); !ok || !errors.Is(signer, chains.ErrSignWith) {
			t.Errorf("%s: %v", signWith, err)
		}
	}
	for _, id := range []string{"6e1f8f5e-1111-4222-8333-444455556666", "treasury", "3monkeys", ""} {
		locators, err := locate(tx, id)
		if err != nil || len(locators) != 1 || locators[0] != keystore.ByID(id) {
			t.Errorf("%q: %v %v", id, locators, err)
		}
	}
	const lower = "tb1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m"
	want, err := locate(tx, lower)
	if err != nil || want[0] == keystore.ByID(lower) {
		t.Errorf("lower case: %v %v", want, err)
	}
	if locators, err := locate(tx, strings.ToUpper(lower)); err != nil || locators[0] != want[0] {
		t.Errorf("upper case: %v %v, want %v", locators, err, want)
	}
}

// TestNetworks covers the names of networks, and the network of an address.
func TestNetworks(t *testing.T) {
	key := keyOf(t, secretOf(1)).PublicKey()
	for _, network := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet, bitcoin.Signet, bitcoin.Regtest} {
		parsed, err := bitcoin.ParseNetwork(network.String())
		if err != nil || parsed != network {
			t.Errorf("%v: %v %v", network, parsed, err)
		}
		shown, err := bitcoin.New(bitcoin.Limits{Network: network}).Parse(base(t).Encode())
		testenv.Must(t, err)
		address := addressIn(t, shown)
		if address != (bitcoin.Chain{}).Addresses(key)[int(network)*4+2].Address {
			t.Errorf("%v: %s", network, address)
		}
		of, ok := bitcoin.NetworkOf(address)
		if want := map[bitcoin.Network]bitcoin.Network{bitcoin.Signet: bitcoin.Testnet}; !ok || of != network && of != want[network] {
			t.Errorf("%s is of %v", address, of)
		}
		again := parse(t, base(t).Encode())
		if _, err := again.Request(address); err != nil {
			t.Fatal(err)
		}
		if of == network && addressIn(t, again) != address {
			t.Errorf("%v: signWith is of it, and another network is shown", network)
		}
		if again.Summary().Digest() != shown.Summary().Digest() {
			t.Errorf("%v: the digest depends on the network that is shown", network)
		}
	}
	if _, err := bitcoin.ParseNetwork("main"); err == nil {
		t.Error("main is taken for a network")
	}
	if _, ok := bitcoin.NetworkOf("treasury"); ok {
		t.Error("treasury is taken for an address")
	}
}

// TestAddressHasOneForm checks that only an address itself, in bech32 in either case,
// is read as that address, so that a reader need not re-encode it to compare.
func TestAddressHasOneForm(t *testing.T) {
	tx := parse(t, base(t).Encode())
	refused := func(text string) {
		t.Helper()
		if _, err := locate(tx, text); !errors.Is(err, chains.ErrSignWith) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, known := range (bitcoin.Chain{}).Addresses(keyOf(t, secretOf(1)).PublicKey()) {
		prefix, data, version, err := bech32.DecodeGeneric(known.Address)
		if err != nil {
			if strings.HasPrefix(known.Address, "1") { // base58
				refused("1" + known.Address)
			}
			continue
		}
		encode := map[bech32.Version]func(string, []byte) (string, error){bech32.Version0: bech32.Encode, bech32.VersionM: bech32.EncodeM}[version]
		again, err := encode(prefix, data)
		if err != nil || again != known.Address {
			t.Fatalf("%s: %s %v", known.Address, again, err)
		}
		last := len(data) - 1
		for _, other := range [][]byte{
			append(bytes.Clone(data), 0),                      // padding of a letter more
			append(bytes.Clone(data[:last]), data[last]|1, 0), // the same behind padding that is not zero
			append([]byte{data[0] + 2}, data[1:]...),          // another witness version
			append([]byte{data[0] ^ 1}, data[1:]...),          // the other version under this checksum
			append(bytes.Clone(data), make([]byte, 3*8)...),   // a longer program
			data[:last-2], // a shorter one
		} {
			text, err := encode(prefix, other)
			testenv.Must(t, err)
			refused(text)
		}
		if version == bech32.VersionM { // 256 bits in 52 letters leave four of padding
			for bit := range 4 {
				padded := bytes.Clone(data)
				padded[last] |= 1 << bit
				text, _ := encode(prefix, padded)
				refused(text)
			}
		}
		for i := range known.Address {
			mixed := []byte(known.Address)
			mixed[i] ^= 0x20
			if mixed[i] >= 'A' {
				refused(string(mixed))
			}
		}
	}
}

// TestAddressOfEachVersion: of all versions and lengths of a witness program, an address that is read
// stands for the script of that version and program (BIP-141), and the others are refused.
func TestAddressOfEachVersion(t *testing.T) {
	read := 0
	for version := range 17 {
		for length := 2; length <= 40; length++ {
			program := bytes.Repeat([]byte{7}, length)
			if version == 1 && length == 2 {
				program = []byte{0x4e, 0x73} // pay to anchor
			}
			data, err := bech32.ConvertBits(program, 8, 5, true)
			testenv.Must(t, err)
			encode := bech32.EncodeM
			if version == 0 {
				encode = bech32.Encode
			}
			text, err := encode("bc", append([]byte{byte(version)}, data...))
			testenv.Must(t, err)
			opcode := byte(version)
			if version > 0 {
				opcode += txscript.OP_1 - 1
			}
			want := append([]byte{opcode, byte(length)}, program...)
			words := (bitcoin.Chain{}).Words()
			script, ok, err := words.ReadAddress(text)
			if err == nil && ok {
				read++
				if !bytes.Equal(script, want) {
					t.Errorf("version %d, %d bytes, %s: %x, want %x", version, length, text, script, want)
				}
			}
		}
	}
	if read < 3 {
		t.Errorf("%d of the addresses are read", read)
	}
}
