package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// regtest is a btcd node with a chain of its own, used through JSON-RPC.
type regtest struct {
	url string
}

const rpcSecret = "countersign"

// startRegtest starts a node that pays its mining rewards to an address.
func startRegtest(t *testing.T, miningAddress string) *regtest {
	t.Helper()
	binary, folder := testenv.GoProgram(t, "interop/btcd", "github.com/btcsuite/btcd"), t.TempDir()
	config := filepath.Join(folder, "btcd.conf")
	testenv.Write(t, config, nil)
	rpc := testenv.FreeAddress(t)
	command := exec.CommandContext(t.Context(), binary,
		"--configfile", config, "--datadir", folder, "--logdir", folder, "--regtest", "--txindex", "--notls", "--nolisten",
		"--rpclisten", rpc, "--rpcuser", rpcSecret, "--rpcpass", rpcSecret, "--miningaddr", miningAddress)
	testenv.Must(t, command.Start())
	// The test's context kills the node, so its exit status means nothing.
	t.Cleanup(func() { _ = command.Wait() })
	node := &regtest{"http://" + rpc}
	testenv.Await(t, "btcd answers", func() bool { _, err := node.call(t, "getblockcount"); return err == nil })
	return node
}

func (n *regtest) call(t *testing.T, method string, params ...any) (json.RawMessage, error) {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body := testenv.Encode(t, map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url, bytes.NewReader(body))
	testenv.Must(t, err)
	request.SetBasicAuth(rpcSecret, rpcSecret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
	}
	return answer.Result, nil
}

func (n *regtest) mustCall(t *testing.T, into any, method string, params ...any) {
	t.Helper()
	result, err := n.call(t, method, params...)
	testenv.Must(t, err)
	testenv.JSON(t, result, into)
}

// coinbase returns the first transaction of a block.
func (n *regtest) coinbase(t *testing.T, block string) []byte {
	t.Helper()
	var header struct{ Tx []string }
	n.mustCall(t, &header, "getblock", block)
	var text string
	n.mustCall(t, &text, "getrawtransaction", header.Tx[0])
	raw := testenv.Hex(t, text)
	return raw
}

// accept sends a transaction to the node, mines a block and checks that it is included.
func (n *regtest) accept(t *testing.T, final []byte) {
	t.Helper()
	var id string
	n.mustCall(t, &id, "sendrawtransaction", hex.EncodeToString(final))
	var blocks []string
	n.mustCall(t, &blocks, "generate", 1)
	var mined struct{ Confirmations int }
	n.mustCall(t, &mined, "getrawtransaction", id, 1)
	if mined.Confirmations != 1 {
		t.Errorf("%s has %d confirmations", id, mined.Confirmations)
	}
}

// coin is an unspent output.
type coin struct {
	spend  bitcointest.Spend
	tx     []byte
	index  uint32
	amount uint64
}

// pay creates a transaction, signs it with one key after the other, and finalizes it.
func pay(t *testing.T, version uint32, from []coin, to []bitcointest.Output, keys ...keystore.Key) []byte {
	t.Helper()
	unsigned := bitcointest.PSBT{Version: version, Outputs: to}
	for _, c := range from {
		input := c.spend.Input(c.amount, 0)
		input.Tx, input.Index = c.tx, c.index
		unsigned.Inputs = append(unsigned.Inputs, input)
	}
	signed := unsigned.Encode()
	for _, key := range keys {
		signed = signBitcoin(t, signed, key)
	}
	final, err := bitcoin.Finalize(signed)
	testenv.Must(t, err)
	return final
}

// maturity is the number of blocks after which the first coinbase is spendable and segwit
// and taproot are active.
const maturity = 450

// TestBitcoinRegtest checks that a node accepts and mines what we sign and finalize, for
// all types of inputs.
func TestBitcoinRegtest(t *testing.T) {
	a, b, c := bitcoinKey(t, bitcoinSecret(1)), bitcoinKey(t, bitcoinSecret(2)), bitcoinKey(t, bitcoinSecret(3))
	pub := a.PublicKey()
	var miner string
	for _, address := range (bitcoin.Chain{}).Addresses(pub) {
		if address.Format == "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" {
			miner = address.Address
		}
	}
	node := startRegtest(t, miner)
	var blocks []string
	node.mustCall(t, &blocks, "generate", maturity)
	home := bitcointest.P2WPKH(pub)
	first := coin{home, node.coinbase(t, blocks[0]), 0, 50_0000_0000}

	multisig := bitcointest.Multisig(2, pub, b.PublicKey(), c.PublicKey())
	x := pub.XOnly()
	cases := []struct {
		name    string
		version uint32
		spend   bitcointest.Spend
		keys    []keystore.Key
	}{
		{"P2TR", psbt.Version0, bitcointest.BIP86(pub), []keystore.Key{a}},
		{"P2WSH 2 of 3", psbt.Version0, bitcointest.P2WSH(multisig), []keystore.Key{a, c}},
		{"P2SH-P2WPKH", psbt.Version0, bitcointest.Nested(bitcointest.P2WPKH(pub)), []keystore.Key{a}},
		{"P2PKH", psbt.Version2, bitcointest.P2PKH(pub), []keystore.Key{a}},
		{"P2SH 2 of 3", psbt.Version0, bitcointest.P2SH(multisig), []keystore.Key{b, c}},
		{"P2SH-P2WSH 2 of 3", psbt.Version2, bitcointest.Nested(bitcointest.P2WSH(multisig)), []keystore.Key{a, b}},
		{"P2TR with tree", psbt.Version2, bitcointest.Taproot(x[:], bitcointest.Leaf(b.PublicKey())), []keystore.Key{a}},
		{"P2TR leaf", psbt.Version0, bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(pub), bitcointest.Leaf(b.PublicKey())), []keystore.Key{a}},
		{"P2TR leaf 2 of 3", psbt.Version0, bitcointest.Taproot(bitcointest.NUMS, bitcointest.LeafMultisig(2, pub, b.PublicKey(), c.PublicKey())), []keystore.Key{a, c}},
	}
	const each = 1_0000_0000
	var outputs []bitcointest.Output
	for _, kind := range cases {
		outputs = append(outputs, kind.spend.Output(each))
	}
	outputs = append(outputs, home.Output(first.amount-uint64(len(cases))*each-100_000))
	spread := pay(t, psbt.Version0, []coin{first}, outputs, a)
	node.accept(t, spread)
	for i, kind := range cases {
		t.Run(kind.name, func(t *testing.T) {
			from := coin{kind.spend, spread, uint32(i), each}
			node.accept(t, pay(t, kind.version, []coin{from}, []bitcointest.Output{home.Output(each - 10_000)}, kind.keys...))
		})
	}
}
