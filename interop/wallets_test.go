package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// walletRequest is a request to wallets.mjs.
type walletRequest struct {
	Op         string         `json:"op"`
	Mnemonic   string         `json:"mnemonic,omitempty"`
	Passphrase string         `json:"passphrase"`
	Path       string         `json:"path,omitempty"`
	Child      uint32         `json:"child"`
	Curve      keystore.Curve `json:"curve"`
	Secret     string         `json:"secret,omitempty"`
	Web3       string         `json:"web3,omitempty"`
	WIF        string         `json:"wif,omitempty"`
	Keypair    string         `json:"keypair,omitempty"`
}

// askWallets sends a request to wallets.mjs.
func askWallets(t *testing.T, request walletRequest) (answer map[string]string) {
	t.Helper()
	startPeer(t, "wallets.mjs").ask(t, request, &answer)
	return answer
}

// walletRequests returns derivations from mnemonics of all lengths, with and without a
// passphrase.
func walletRequests(t *testing.T) (requests []walletRequest) {
	t.Helper()
	paths := []string{"m/44'/60'/0'/0/1", "m/44'/60'/7'/1/2147483647", "m/44'/501'/3'", "m/44'/195'/1'/0/5", "m/84'/0'/2147483647'/1/9"}
	for _, account := range wallet.UsualAccounts() {
		paths = append(paths, account.Path.String())
	}
	for i := range 20 {
		entropy := sha256.Sum256([]byte{byte(i)})
		mnemonic, err := wallet.Mnemonic(entropy[:16+4*(i%5)])
		testenv.Must(t, err)
		for _, text := range paths {
			path, err := wallet.ParsePath(text)
			testenv.Must(t, err)
			requests = append(requests, walletRequest{
				Op: "derive", Mnemonic: string(mnemonic), Path: text, Curve: wallet.CurveOf(path),
				Passphrase: []string{"", "TREZOR", "pässword ﬁ", " two  words "}[i%4],
			})
		}
	}
	return requests
}

// TestWalletLibraries checks that ethers, TronWeb, bitcoinjs-lib and @solana/web3.js (with
// Wallet Core's derivation) derive the addresses of our keys from the same mnemonic.
func TestWalletLibraries(t *testing.T) {
	formats := map[string]string{
		"ethereum": "ADDRESS_FORMAT_ETHEREUM", "tron": "ADDRESS_FORMAT_TRON", "solana": "ADDRESS_FORMAT_SOLANA",
		"p2pkh": "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH", "p2sh": "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH",
		"p2wpkh": "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH", "p2tr": "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
	}
	requests := walletRequests(t)
	compared := 0
	for _, request := range requests {
		ours := addressesAt(t, request)
		for name, address := range askWallets(t, request) {
			compared++
			if ours[formats[name]] != address {
				t.Errorf("%+v: %s has %s, we have %s", request, name, address, ours[formats[name]])
			}
		}
	}
	if want := 20 * (10*6 + 2); compared != want {
		t.Errorf("%d addresses were compared, want %d", compared, want)
	}
}

// addressesAt returns the addresses that we derive, by format.
func addressesAt(t *testing.T, request walletRequest) map[string]string {
	t.Helper()
	root, err := wallet.FromMnemonic([]byte(request.Mnemonic), []byte(request.Passphrase))
	testenv.Must(t, err)
	path, err := wallet.ParsePath(request.Path)
	testenv.Must(t, err)
	secret, err := root.Derive(request.Curve, path)
	testenv.Must(t, err)
	key, err := keyformat.NewKey(request.Curve, secret)
	testenv.Must(t, err)
	addresses := map[string]string{}
	for _, address := range all.Addresses(key.PublicKey) {
		addresses[address.Format] = address.Address
	}
	return addresses
}

// TestExtendedKeyLibraries checks that @scure/bip32 writes the extended private keys that
// we write, and derives the children that we derive from them.
func TestExtendedKeyLibraries(t *testing.T) {
	var requests []walletRequest
	for i, request := range walletRequests(t) {
		if request.Curve == keystore.CurveSecp256k1 {
			request.Op, request.Child = "extended", uint32(i)
			requests = append(requests, request)
		}
	}
	for i := range requests {
		answer := askWallets(t, requests[i])
		whole, err := wallet.FromMnemonic([]byte(requests[i].Mnemonic), []byte(requests[i].Passphrase))
		testenv.Must(t, err)
		path, err := wallet.ParsePath(requests[i].Path)
		testenv.Must(t, err)
		master, err := whole.ExtendedKey(nil)
		testenv.Must(t, err)
		ours, err := whole.ExtendedKey(path)
		testenv.Must(t, err)
		origin, key, _ := strings.Cut(string(ours), "]")
		if string(master) != answer["root"] || key != answer["extended"] {
			t.Errorf("%s: %s, %s, @scure/bip32 has %v", requests[i].Path, master, key, answer)
		}
		for _, text := range []string{answer["root"], origin + "]" + answer["extended"]} {
			root, err := wallet.ParseExtendedKey([]byte(text))
			testenv.Must(t, err)
			child, err := root.Derive(keystore.CurveSecp256k1, append(path, requests[i].Child))
			if err != nil || hex.EncodeToString(child) != answer["child"] {
				t.Errorf("%s: child %d of %s is %x, %v, want %s", requests[i].Path, requests[i].Child, text, child, err, answer["child"])
			}
		}
	}
}

// TestKeyFormatLibraries exchanges key files with ethers, ecpair and @solana/web3.js, in
// both directions.
func TestKeyFormatLibraries(t *testing.T) {
	var requests []walletRequest
	var secp256k1, ed25519 []keyformat.Key
	for i := range 20 {
		secret := sha256.Sum256(fmt.Append(nil, "key ", i))
		if i == 0 {
			clear(secret[:4]) // leading zeros
		}
		onSecp256k1, err := keyformat.NewKey(keystore.CurveSecp256k1, secret[:])
		testenv.Must(t, err)
		onEd25519, err := keyformat.NewKey(keystore.CurveEd25519, secret[:])
		testenv.Must(t, err)
		web3, err := onSecp256k1.Web3([]byte("pass word"), keyformat.Cost{LogN: 4})
		testenv.Must(t, err)
		wif, err := keyformat.WIF{Key: onSecp256k1}.Format()
		testenv.Must(t, err)
		keypair, err := onEd25519.Solana()
		testenv.Must(t, err)
		secp256k1, ed25519 = append(secp256k1, onSecp256k1), append(ed25519, onEd25519)
		requests = append(requests, walletRequest{
			Op: "keys", Curve: keystore.CurveSecp256k1, Secret: string(onSecp256k1.Hex()), Web3: string(web3), WIF: string(wif), Keypair: string(keypair),
		})
	}
	for i := range requests {
		answer, want := askWallets(t, requests[i]), requests[i].Secret
		if answer["fromWeb3"] != want || answer["fromWIF"] != want || answer["wif"] != requests[i].WIF {
			t.Errorf("%s: the libraries read %v", want, answer)
		}
		key, err := keyformat.ParseWeb3([]byte(answer["web3"]), []byte("pass word"))
		if err != nil || !bytes.Equal(key.Secret, secp256k1[i].Secret) {
			t.Errorf("a file by ethers is read with %v:\n%s", err, answer["web3"])
		}
		if address := all.Addresses(ed25519[i].PublicKey)[0].Address; address != answer["solana"] {
			t.Errorf("@solana/web3.js reads the keypair of %s as %s", address, answer["solana"])
		}
	}
}
