package eip712_test

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// domainMembers are the members of EIP712Domain in the order of the standard.
var domainMembers = [][2]string{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}, {"salt", "bytes32"}}

// typedDataCase is a case of ethers' own tests (@ethersproject/testcases).
type typedDataCase struct {
	Name, PrimaryType, Digest string
	Domain, Types             map[string]json.RawMessage
	Data                      json.RawMessage
}

// document returns the case as wallets send it, with EIP712Domain among the types.
func (c *typedDataCase) document(t *testing.T) []byte {
	var members []map[string]string
	for _, member := range domainMembers {
		if _, ok := c.Domain[member[0]]; ok {
			members = append(members, map[string]string{"name": member[0], "type": member[1]})
		}
	}
	form := testenv.Encode(t, members)
	types := maps.Clone(c.Types)
	if types["EIP712Domain"] = form; members == nil {
		types["EIP712Domain"] = json.RawMessage("[]")
	}
	text := testenv.Encode(t, map[string]any{"types": types, "primaryType": c.PrimaryType, "domain": c.Domain, "message": c.Data})
	return text
}

// TestTypedDataCases compares the digests of the typed data in ethers' own tests.
func TestTypedDataCases(t *testing.T) {
	file, err := os.Open(testenv.NodeModule(t, "@ethersproject", "testcases", "testcases", "eip712.json.gz"))
	testenv.Must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	testenv.Must(t, err)
	var cases []typedDataCase
	testenv.Must(t, json.NewDecoder(unzipped).Decode(&cases))
	same, refused := 0, map[string]int{}
	for i := range cases {
		text := cases[i].document(t)
		data, err := eip712.Parse(text)
		if err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			refused[why]++
			continue
		}
		if digest := data.Digest(); "0x"+hex.EncodeToString(digest[:]) != cases[i].Digest {
			t.Errorf("%s: %x, want %s: %s", cases[i].Name, digest, cases[i].Digest, text)
			continue
		}
		same++
	}
	t.Logf("%d cases, %d equal, refused: %v", len(cases), same, refused)
	if same != len(cases) || same < 1025 {
		t.Error("cases are missing or refused")
	}
}

// TestGoEthereumTypedData checks the files that go-ethereum tests its reader with, which
// later versions lack: what it must refuse is refused, and what both accept has the same
// digest.
func TestGoEthereumTypedData(t *testing.T) {
	dir := testenv.Module(t, "github.com/ethereum/go-ethereum", "v1.17.3")
	names, err := filepath.Glob(filepath.Join(dir, "signer/core/testdata/*.json"))
	testenv.Must(t, err)
	more, err := filepath.Glob(filepath.Join(dir, "signer/core/testdata/fuzzing/*"))
	testenv.Must(t, err)
	same, both, stricter := 0, 0, map[string]string{}
	for _, name := range slices.Concat(names, more) {
		text := testenv.Read(t, name)
		var theirs apitypes.TypedData
		want, theirErr := []byte(nil), json.Unmarshal(text, &theirs)
		if theirErr == nil {
			want, _, theirErr = apitypes.TypedDataAndHash(theirs)
		}
		data, err := eip712.Parse(text)
		base := filepath.Base(name)
		switch {
		case err == nil && (theirErr != nil || strings.HasPrefix(base, "expfail")):
			t.Errorf("%s: accepted, go-ethereum: %v", base, theirErr)
		case err == nil:
			if got := data.Digest(); !slices.Equal(got[:], want) {
				t.Errorf("%s: %x, want %x", base, got, want)
			}
			same++
		case theirErr == nil:
			stricter[base] = err.Error()
		default:
			both++
		}
	}
	t.Logf("%d files: %d equal, %d refused by both, refused only here: %v", len(names)+len(more), same, both, stricter)
	aliased := "eip712: types.Foo[2] at byte 490: type uint: write uint256 instead"
	want := map[string]string{
		"arrays-1.json": aliased, "36fb987a774011dc675e1b5246ac5c1d44d84d92": aliased,
		"eip712.json": "eip712: domain.verifyingContract at byte 970: wrong checksum (EIP-55): if the digits are right, write 0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
	}
	if same != 1 || both != 16 || !maps.Equal(stricter, want) {
		t.Error("files are missing, or the verdicts differ")
	}
}
