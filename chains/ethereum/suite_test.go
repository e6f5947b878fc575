package ethereum_test

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// suiteHazards are the hazards of the transactions in ethers' suites, which are random
// and never meant to be sent.
var suiteHazards = map[string]bool{
	ethereum.HazardNoChainID:     true,
	ethereum.HazardGasOverCap:    true,
	ethereum.HazardEmptyCreation: true,
	ethereum.HazardHighFee:       true,
	ethereum.HazardNeverIncluded: true,
	blind:                        true,
}

// suiteCase is one transaction of a suite and what its authors signed.
type suiteCase struct {
	name, unsigned, privateKey, signed string
}

// run parses and signs the case, and returns the error of the reader.
func (c *suiteCase) run(t *testing.T) *chains.ParseError {
	t.Helper()
	tx, err := ethereum.Chain{}.Parse(chaintest.Unhex(t, c.unsigned))
	if err != nil {
		parse, ok := errors.AsType[*chains.ParseError](err)
		if !ok {
			t.Fatalf("%s: %v is no ParseError", c.name, err)
		}
		return parse
	}
	key := evmtest.Key(t, c.privateKey)
	for _, hazard := range tx.Hazards() {
		if !suiteHazards[hazard.Name] {
			t.Errorf("%s: hazard %s", c.name, hazard.Name)
		}
	}
	signed, err := sign(t, tx, key, "")
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if got, want := hex.EncodeToString(signed), strings.TrimPrefix(c.signed, "0x"); got != want {
		t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
	}
	return nil
}

// tally counts the outcomes of a suite: equal, or refused because of the field.
func tally(t *testing.T, cases []suiteCase, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for i := range cases {
		switch refused := cases[i].run(t); {
		case refused != nil:
			got[refused.Field]++
		default:
			got["equal"]++
		}
	}
	for outcome, count := range want {
		if got[outcome] != count {
			t.Errorf("%s: %d, want %d", outcome, got[outcome], count)
		}
		delete(got, outcome)
	}
	if len(got) > 0 {
		t.Errorf("unexpected outcomes: %v", got)
	}
}

// gunzip opens a compressed file until the test ends.
func gunzip(t *testing.T, path string) *gzip.Reader {
	t.Helper()
	file, err := os.Open(path)
	testenv.Must(t, err)
	t.Cleanup(func() { file.Close() })
	text, err := gzip.NewReader(file)
	testenv.Must(t, err)
	return text
}

// TestSuiteEthers6 runs the transactions of ethers 6 (testcases/transactions, MIT). No
// network accepts those without chain id in a typed transaction, or blob transactions
// without blobs.
func TestSuiteEthers6(t *testing.T) {
	var cases []suiteCase
	lines := bufio.NewScanner(gunzip(t, testenv.Suite(t, "ethereum", "ethers6_12928.ndjson.gz")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Name, Unsigned, PrivateKey, ExpectedSigned string }
		text := strings.NewReplacer(`"private_key"`, `"privateKey"`, `"expected_signed"`, `"expectedSigned"`).Replace(lines.Text())
		testenv.JSON(t, []byte(text), &line)
		cases = append(cases, suiteCase{line.Name, line.Unsigned, line.PrivateKey, line.ExpectedSigned})
	}
	testenv.Must(t, lines.Err())
	tally(t, cases, map[string]int{
		"equal":                          8684,
		"field 1 (chainId)":              3840,
		"field 11 (blobVersionedHashes)": 404,
	})
}

// TestSuiteEthers5Legacy runs the legacy transactions of the npm package
// @ethersproject/testcases, each with and without chain id.
func TestSuiteEthers5Legacy(t *testing.T) {
	var entries []struct {
		Name, PrivateKey                                       string
		UnsignedTransaction, SignedTransaction                 string
		UnsignedTransactionChainID5, SignedTransactionChainID5 string
	}
	decodeTestcases(t, "transactions.json.gz", &entries)
	var cases []suiteCase
	for _, e := range entries {
		cases = append(cases,
			suiteCase{e.Name, e.UnsignedTransaction, e.PrivateKey, e.SignedTransaction},
			suiteCase{e.Name + "/chain 5", e.UnsignedTransactionChainID5, e.PrivateKey, e.SignedTransactionChainID5})
	}
	tally(t, cases, map[string]int{
		"equal":         1968,
		"field 3 (gas)": 166, // over 64 bits
	})
}

// TestSuiteEthers5Typed runs the transactions of types 1 and 2.
func TestSuiteEthers5Typed(t *testing.T) {
	var entries []struct{ Name, Key, Unsigned, Signed string }
	decodeTestcases(t, "typed-transactions.json.gz", &entries)
	var cases []suiteCase
	for _, e := range entries {
		cases = append(cases, suiteCase{e.Name, e.Unsigned, e.Key, e.Signed})
	}
	tally(t, cases, map[string]int{
		"equal":             1408,
		"field 1 (chainId)": 384, // 0
	})
}

func decodeTestcases(t *testing.T, name string, into any) {
	t.Helper()
	path := testenv.NodeModule(t, "@ethersproject", "testcases", "testcases", name)
	testenv.Must(t, json.NewDecoder(gunzip(t, path)).Decode(into))
}
