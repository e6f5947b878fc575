package descriptors_test

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// TestRegistryTypedData reads the typed-data cases of ERC-7730's registry, with every
// file pinned.
func TestRegistryTypedData(t *testing.T) {
	folder := registry(t)
	unpinned, pins := pinned(t, folder)
	cases, complete, checksums := 0, 0, 0
	others := map[string]string{}
	for name := range folder {
		if !strings.Contains(name, "/testsv2/") || !strings.HasSuffix(name, ".json") {
			continue
		}
		file := readCases(t, folder[name].Data)
		opened := unpinned.With(t, &file.Provided, pins)
		for _, test := range file.Tests {
			if test.Data == nil {
				continue
			}
			cases++
			message, err := ethereum.Chain{}.ReadMessage(chains.Message{Form: chains.MessageTypedData, Bytes: test.Data, Now: time.Unix(0, 0)})
			if err != nil && strings.Contains(err.Error(), "wrong checksum") {
				checksums++
				message, err = ethereum.Chain{}.ReadMessage(chains.Message{Form: chains.MessageTypedData, Bytes: lowered(test.Data), Now: time.Unix(0, 0)})
			}
			if err != nil {
				others[path.Base(name)] = err.Error()
				continue
			}
			_, readings := chains.ReadWith(message, opened)
			if len(readings) != 1 {
				others[path.Base(name)] = fmt.Sprintf("%d readings", len(readings))
				continue
			}
			if readings[0].Complete {
				complete++
			}
			if diff := differs(&readings[0], &test.Expected); diff != "" {
				t.Errorf("%s %q: %s (%s)", name, test.Description, diff, readings[0].Problem)
			}
		}
	}
	t.Logf("%d cases, %d of them with a wrong checksum, read in lower case, %d complete, not read: %v", cases, checksums, complete, others)
	want := map[string]string{
		// The case lacks a member of the domain that its type has.
		"eip712-permit-avalanche_c_chain-yetiswap.tests.json": "eip712: domain.version at byte 642: missing",
	}
	if cases != 135 || checksums != 18 || !maps.Equal(others, want) {
		t.Errorf("%d cases, %d checksums, %v", cases, checksums, others)
	}
}

// lowered returns typed data with addresses in lower case.
func lowered(text []byte) []byte {
	return regexp.MustCompile(`"0x[0-9a-fA-F]{40}"`).ReplaceAllFunc(text, bytes.ToLower)
}
