package descriptors_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// registry returns the registry of ERC-7730 from the suites.
func registry(t testing.TB) fstest.MapFS {
	t.Helper()
	file, err := os.Open(testenv.Suite(t, "erc7730", "registry.tar.gz"))
	testenv.Must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	testenv.Must(t, err)
	folder := fstest.MapFS{}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return folder
		}
		testenv.Must(t, err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(reader)
		testenv.Must(t, err)
		folder[path.Clean(header.Name)] = &fstest.MapFile{Data: content}
	}
}

// provided are the tokens and names of a file of cases.
type provided struct {
	Tokens map[string]struct {
		Decimals int    `json:"decimals"`
		Name     string `json:"name"`
		Symbol   string `json:"symbol"`
	} `json:"tokens"`
	ENS         map[string]string `json:"ensNames"`
	Addresses   map[string]string `json:"addressNames"`
	Collections map[string]string `json:"nftCollectionNames"`
}

func (p *provided) Token(asset chains.Asset) (string, int, bool) {
	token, ok := p.Tokens["0x"+hex.EncodeToString(asset.Token.Address())]
	return token.Symbol, token.Decimals, ok
}

func (p *provided) Label(party chains.Party) string {
	address := "0x" + hex.EncodeToString(party.Address())
	for _, names := range []map[string]string{p.ENS, p.Addresses, p.Collections} {
		if name, ok := names[address]; ok {
			return name
		}
	}
	return p.Tokens[address].Name
}

type caseFile struct {
	Descriptor string   `json:"descriptor"`
	Provided   provided `json:"dataProvider"`
	Tests      []struct {
		Data        json.RawMessage
		Description string   `json:"description"`
		RawTx       string   `json:"rawTx"`
		From        string   `json:"from"`
		Expected    expected `json:"expected"`
	} `json:"tests"`
}

type expected struct {
	Intent       string `json:"intent"`
	Owner        string `json:"owner"`
	Interpolated string `json:"interpolatedIntent"`
	Fields       []struct {
		Label string          `json:"label"`
		Value json.RawMessage `json:"value"`
	} `json:"fields"`
}

func lowerKeys(names map[string]string) map[string]string {
	lower := map[string]string{}
	for address, name := range names {
		lower[strings.ToLower(address)] = name
	}
	return lower
}

// pinned opens the registry, and returns pins of all of its files.
func pinned(t *testing.T, folder fstest.MapFS) (*descriptors.Folder, *descriptors.Pins) {
	t.Helper()
	unpinned, err := descriptors.Open(folder, descriptors.Options{})
	testenv.Must(t, err)
	pins := &descriptors.Pins{}
	for _, file := range unpinned.Files() {
		if !strings.HasPrefix(file.Problem, "not trusted") {
			t.Errorf("%s: %s", file.Name, file.Problem)
		}
		pins.Add(file)
	}
	return unpinned, pins
}

func readCases(t *testing.T, content []byte) *caseFile {
	t.Helper()
	file := new(caseFile)
	testenv.JSON(t, content, file)
	p := &file.Provided
	p.ENS, p.Addresses, p.Collections = lowerKeys(p.ENS), lowerKeys(p.Addresses), lowerKeys(p.Collections)
	for address, token := range p.Tokens {
		p.Tokens[strings.ToLower(address)] = token
	}
	return file
}

// TestRegistryCases reads the 374 calldata cases of the registry with every file pinned.
func TestRegistryCases(t *testing.T) {
	folder := registry(t)
	unpinned, pins := pinned(t, folder)
	cases, differ, complete := 0, 0, 0
	problems := map[string]int{}
	for name := range folder {
		if !strings.Contains(name, "/testsv2/") || !strings.HasSuffix(name, ".json") {
			continue
		}
		file := readCases(t, folder[name].Data)
		opened := unpinned.With(t, &file.Provided, pins)
		for _, test := range file.Tests {
			if test.RawTx == "" {
				continue
			}
			cases++
			reading := read(t, opened, test.RawTx, test.From)
			if reading.Complete {
				complete++
			} else {
				problems[strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' {
						return -1
					}
					return r
				}, reading.Problem)]++
			}
			if diff := differs(&reading, &test.Expected); diff != "" {
				differ++
				t.Errorf("%s %q: %s (%s)", name, test.Description, diff, reading.Problem)
			}
		}
	}
	t.Logf("%d cases, %d differ, %d complete: %v", cases, differ, complete, problems)
}

// read reads the first call of a raw transaction.
func read(t *testing.T, folder *descriptors.Folder, raw, from string) chains.Reading {
	t.Helper()
	bytes := common.FromHex(raw)
	var signed types.Transaction // some cases are signed
	if signed.UnmarshalBinary(bytes) == nil {
		if _, r, _ := signed.RawSignatureValues(); r.Sign() != 0 {
			bytes = gethoracle.Unsigned(&signed)
		}
	}
	tx, err := ethereum.New(ethereum.Limits{}).Parse(bytes)
	if err != nil {
		t.Errorf("%.40s: %v", raw, err)
		return chains.Reading{}
	}
	call := tx.(chains.Caller).Calls()[0]
	if from != "" {
		call.From = chains.PartyWritten(common.FromHex(from), from)
	}
	reading, _ := folder.Read(call)
	return reading
}

// differs describes the first difference between a reading and a case.
func differs(reading *chains.Reading, want *expected) string {
	if reading.Owner != want.Owner {
		return "owner " + reading.Owner + ", want " + want.Owner
	}
	if reading.Intent != want.Intent && reading.Intent != want.Interpolated {
		return "intent " + reading.Intent + ", want " + want.Intent + " or " + want.Interpolated
	}
	return differentFields(reading.Fields, want)
}

func differentFields(fields []chains.Field, want *expected) string {
	if len(fields) != len(want.Fields) {
		got, _ := json.Marshal(fields)
		wanted, _ := json.Marshal(want.Fields)
		return "fields " + string(got) + ", want " + string(wanted)
	}
	for i, field := range fields {
		var text string
		if json.Unmarshal(want.Fields[i].Value, &text) != nil {
			var inner expected
			if err := json.Unmarshal(want.Fields[i].Value, &inner); err != nil || field.Type != chains.TypeList {
				return "field " + field.Label + " is not a call"
			}
			shown := slices.DeleteFunc(slices.Clone(field.Fields), func(f chains.Field) bool {
				return slices.Contains([]string{"calls", "owner", "intent", "function"}, f.Label) || strings.HasPrefix(f.Label, "argument ")
			})
			if diff := differentFields(shown, &inner); diff != "" {
				return field.Label + ": " + diff
			}
			continue
		}
		value := field.Value
		if field.Type == chains.TypeBytes {
			value = "0x" + value
			if field.Length > 0 && len(text) == 2+2*field.Length { // cut off, with its SHA-256
				text = text[:len(value)]
			}
		}
		if field.Label != want.Fields[i].Label || value != text && field.Note != text {
			return "field " + field.Label + " " + value + " [" + field.Note + "], want " + want.Fields[i].Label + " " + text
		}
	}
	return ""
}
