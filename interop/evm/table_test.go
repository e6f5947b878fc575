package evm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// notExecuted has the rows of the decoding table that no run executes, with the
// reason. Tempo's precompiles, which are part of a node, are in a table of their own.
var notExecuted = map[string]string{
	"any address: permitForAll(address,address,uint256,uint256,uint8,bytes32,bytes32)": "no published contract has it",
	"any address: delegateBySig(address,uint256,uint256,uint8,bytes32,bytes32)":        "changes what belongs to whoever signed it, whom the bytes do not name",
	"any address: transferWithMemo(address,uint256,bytes32)":                           "a precompile of Tempo",
	"any address: transferFromWithMemo(address,address,uint256,bytes32)":               "a precompile of Tempo",
	claimed + ": multicall(bytes32,bytes[])":                                           "reads the hash of the last block; the rest is as multicall(uint256,bytes[])",
	claimed + ": approveHash(bytes32)":                                                 "approves what is not in the bytes: a blind call",
}

// claimed is the place of functions that any contract may have and whose calls are blind
// calls as well.
const claimed = "any address, plus a blind call"

// executed is the set of rows of the decoding table that ran, as place and function:
//
//	"WETH: 0xd0e30db0", ": 0xa9059cbb", "command 0x0b", "CREATE2 factory"
type executed map[string]bool

// add adds the functions that a successful run entered and whose selectors its calldata
// contains. All commands of a router have run, since none was allowed to fail.
func (x executed) add(c *comparison) {
	for entered := range c.ran {
		for _, place := range c.places(entered.at) {
			x[place] = true
			if bytes.Contains(c.data, entered.selector[:]) {
				x[fmt.Sprintf("%s: %x", place, entered.selector)] = true
			}
		}
	}
	if c.to == router {
		at := 4 + binary.BigEndian.Uint64(c.data[4+24:])
		for _, command := range c.data[at+32:][:binary.BigEndian.Uint64(c.data[at+24:])] {
			x[fmt.Sprintf("command 0x%02x", command)] = true
		}
	}
}

// places returns the decoding table's names of an address, or an empty one if it has none.
func (w *world) places(at common.Address) []string {
	for _, e := range w.entryPoints {
		if e.at == at && e.packed {
			return []string{"EntryPoint", "EntryPoint 0.7 or later"}
		} else if e.at == at {
			return []string{"EntryPoint", "EntryPoint 0.6"}
		}
	}
	switch at {
	case weth:
		return []string{"WETH", ""} // it is also a token
	case multiSend, callOnly:
		return []string{"MultiSend"}
	}
	return []string{map[common.Address]string{
		permit2: "Permit2", router: "Universal Router", multicall3: "Multicall3", depositContract: "deposit contract", factory: "CREATE2 factory",
		params.WithdrawalQueueAddress: "withdrawal requests (EIP-7002)", params.ConsolidationQueueAddress: "consolidation requests (EIP-7251)",
	}[at]}
}

// all checks that every row of the decoding table was executed or is in notExecuted.
func (x executed) all(t *testing.T) {
	t.Helper()
	table := testenv.Read(t, filepath.Join(testenv.Root(), "internal", "evm", "testdata", "functions.txt"))
	unknown, rows := len(notExecuted), 0
	for line := range strings.Lines(string(table)) {
		place, function := strings.TrimSpace(line[23:61]), strings.TrimSpace(line[61:])
		if strings.HasPrefix(place, "typed data") { // whose signatures TestMessagesAgainstExecution submits
			continue
		}
		row := place + ": " + function
		switch reason := notExecuted[row]; {
		case !x.has(place, function) && reason == "":
			t.Errorf("%s is decoded but was not executed", row)
		case x.has(place, function) && reason != "":
			t.Errorf("%s was executed; remove it from notExecuted, which says: %s", row, reason)
		case reason != "":
			unknown--
		}
		rows++
	}
	if unknown > 0 {
		t.Errorf("%d entries of notExecuted are not rows of the table", unknown)
	}
	t.Logf("%d functions and commands are decoded, %d of them not executed", rows, len(notExecuted))
}

func (x executed) has(place, function string) bool {
	switch {
	case strings.HasPrefix(place, "command "), !strings.Contains(function, "("):
		return x[place]
	case strings.HasPrefix(place, "any address"):
		place = ""
	}
	return x[fmt.Sprintf("%s: %x", place, crypto.Keccak256([]byte(function))[:4])]
}
