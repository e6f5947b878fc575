package wallet_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// TestDescriptorChecksum checks the vectors of BIP-380: an error, or whether the checksum is the
// one that belongs to raw(deadbeef).
func TestDescriptorChecksum(t *testing.T) {
	for descriptor, want := range map[string]bool{"raw(deadbeef)": true, "raw(deedbeef)": false, "raw(deedbeef)#": false} {
		if sum, err := wallet.DescriptorChecksum(descriptor); err != nil || (sum == "89f8spxm") != want {
			t.Errorf("%s: %s, %v", descriptor, sum, err)
		}
	}
	if sum, err := wallet.DescriptorChecksum("raw(Ü)"); err == nil {
		t.Errorf("an invalid character: %s", sum)
	}
}

// TestWatch checks the accounts published in BIP-84 and BIP-86, and those of BIP-44 and BIP-49 for
// the same mnemonic. The addresses, published in BIP-84 and BIP-86, are derived from the descriptors
// alone, as a watch-only wallet does.
func TestWatch(t *testing.T) {
	root, err := wallet.FromMnemonic([]byte(strings.Repeat("abandon ", 11)+"about"), nil)
	testenv.Must(t, err)
	for _, c := range []struct {
		path, opens, kind string
		network           bitcoin.Network
		xpub              string
		receive, change   string
	}{
		{"m/84'/0'/0'", "wpkh([73c5da0a/84h/0h/0h]xpub", "P2WPKH", bitcoin.Mainnet, "",
			"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"},
		{"m/86'/0'/0'", "tr([73c5da0a/86h/0h/0h]xpub", "P2TR", bitcoin.Mainnet,
			"xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ",
			"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"},
		{"m/44'/0'/0'", "pkh([73c5da0a/44h/0h/0h]xpub", "P2PKH", bitcoin.Mainnet, "", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", ""},
		{"m/49'/1'/0'", "sh(wpkh([73c5da0a/49h/1h/0h]tpub", "P2SH", bitcoin.Testnet, "", "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2", ""},
	} {
		path, err := wallet.ParsePath(c.path)
		testenv.Must(t, err)
		watch, err := root.Watch(path)
		testenv.Must(t, err)
		if c.xpub != "" && watch.XPub != c.xpub {
			t.Errorf("%s: %s", c.path, watch.XPub)
		}
		for descriptor, want := range map[string]string{watch.Receive: c.receive, watch.Change: c.change} {
			text, sum, _ := strings.Cut(descriptor, "#")
			if right, err := wallet.DescriptorChecksum(text); err != nil || sum != right || !strings.HasPrefix(descriptor, c.opens) {
				t.Errorf("%s: %s, checksum %s, %v", c.path, descriptor, right, err)
			}
			if got := firstAddress(t, descriptor, c.kind, c.network); want != "" && got != want {
				t.Errorf("%s: %s gives %s, want %s", c.path, descriptor, got, want)
			}
		}
	}
}

// firstAddress derives the first address of a descriptor, as a watch-only wallet does.
func firstAddress(t *testing.T, descriptor, kind string, network bitcoin.Network) string {
	t.Helper()
	parts := regexp.MustCompile(`\]([xt]pub[0-9A-Za-z]+)/([01])/\*\)`).FindStringSubmatch(descriptor)
	if parts == nil {
		t.Fatalf("%s has no extended key", descriptor)
	}
	node, err := hdkeychain.NewKeyFromString(parts[1])
	testenv.Must(t, err)
	for _, index := range []uint32{uint32(parts[2][0] - '0'), 0} {
		if node, err = node.Derive(index); err != nil {
			t.Fatal(err)
		}
	}
	point, err := node.ECPubKey()
	testenv.Must(t, err)
	pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, point.SerializeCompressed())
	testenv.Must(t, err)
	for _, address := range (bitcoin.Chain{}).Addresses(pub) {
		if strings.HasSuffix(address.Format, strings.ToUpper(network.String())+"_"+kind) {
			return address.Address
		}
	}
	t.Fatalf("no address of kind %s", kind)
	return ""
}

// TestWatchRefuses paths that are not Bitcoin accounts.
func TestWatchRefuses(t *testing.T) {
	root, err := wallet.FromSeed(make([]byte, 32))
	testenv.Must(t, err)
	for _, text := range []string{"m", "m/84'/0'", "m/84'/0'/0'/0", "m/84/0'/0'", "m/84'/60'/0'", "m/84'/0'/0", "m/45'/0'/0'"} {
		path, err := wallet.ParsePath(text)
		testenv.Must(t, err)
		if _, err := root.Watch(path); !errors.Is(err, wallet.ErrPath) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
