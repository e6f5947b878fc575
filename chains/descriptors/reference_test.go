package descriptors_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// pinnedFile opens a folder of one file, which is pinned with a further line.
func pinnedFile(t *testing.T, content, line string) *descriptors.Folder {
	t.Helper()
	folder := fstest.MapFS{"file.json": &fstest.MapFile{Data: []byte(content)}}
	unpinned, err := descriptors.Open(folder, descriptors.Options{})
	if err != nil || len(unpinned.Files()) != 1 {
		t.Fatal(err)
	}
	pins := new(descriptors.Pins)
	pins.Add(unpinned.Files()[0])
	read, err := descriptors.ReadPins(append(pins.Encode(), line...))
	testenv.Must(t, err)
	opened, err := descriptors.Open(folder, descriptors.Options{Pins: read})
	if err != nil || opened.Files()[0].Trust != "pinned" {
		t.Fatalf("%v, %+v", err, opened.Files()[0])
	}
	return opened
}

// abiOf returns the ABI of a contract with functions, at the address that callOf calls.
func abiOf(signatures ...string) string {
	entries := make([]string, len(signatures))
	for i, signature := range signatures {
		name, types, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
		var inputs []string
		for n, kind := range strings.Split(types, ",") {
			if kind != "" {
				inputs = append(inputs, fmt.Sprintf(`{"name":"p%d","type":%q}`, n, kind))
			}
		}
		entries[i] = fmt.Sprintf(`{"type":"function","name":%q,"inputs":[%s]}`, name, strings.Join(inputs, ","))
	}
	return `{"chain":"eip155:1","address":"0x1234567890abcdef1234567890abcdef12345678","name":"Our Safe","abi":[` + strings.Join(entries, ",") + `]}`
}

func callOf(signature string, words ...byte) chains.Call {
	address := []byte("\x12\x34\x56\x78\x90\xab\xcd\xef\x12\x34\x56\x78\x90\xab\xcd\xef\x12\x34\x56\x78")
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, word := range words {
		data = append(append(data, make([]byte, 31)...), word)
	}
	return chains.Call{Path: "call", Chain: "eip155:1", To: chains.PartyWritten(address, "0x1234567890AbcdEF1234567890aBcdef12345678"), Data: data}
}

// TestStoredContentIsNeverRead: a pinned ABI reads the arguments of functions that approve
// or execute what is stored elsewhere, and the calls stay blind all the same.
func TestStoredContentIsNeverRead(t *testing.T) {
	calls := map[string]chains.Call{}
	for _, signature := range []string{"approveHash(bytes32)", "confirmTransaction(uint256)", "executeTransaction(uint256)", "confirm(bytes32)", "queue(uint256)",
		"execute(uint256)", "execute(bytes32)", "executeVote(uint256)", "executePayload(uint40)", "queueTransaction(uint256)", "approveOrderHash_(bytes32)", "lift(address)"} {
		calls[signature] = callOf(signature, 7)
	}
	calls["approve(uint256,bool)"] = callOf("approve(uint256,bool)", 7, 1)
	calls["schedule()"], calls["cast()"] = callOf("schedule()"), callOf("cast()")
	calls["execute(uint256[])"] = callOf("execute(uint256[])", 32, 1, 7)
	for signature, call := range calls {
		folder := pinnedFile(t, abiOf(signature, "deposit(uint256,address)", "nonce()"), "")
		reading, ok := folder.Read(call)
		if !ok || reading.Complete || reading.Function != signature || !strings.Contains(reading.Problem, "stored elsewhere") {
			t.Errorf("%s: %+v", signature, reading)
		}
		if strings.HasSuffix(signature, "(bytes32)") || strings.HasSuffix(signature, "(uint256)") {
			if len(reading.Args) != 1 {
				t.Errorf("%s: its argument is not shown: %+v", signature, reading)
			}
		}
		if listed := folder.Files()[0].ByReference(); len(listed) != 0 {
			t.Errorf("%s: %+v may be kept blind, and is already", signature, listed)
		}
		if reading, ok := folder.Read(callOf("deposit(uint256,address)", 7, 9)); !ok || !reading.Complete {
			t.Errorf("another function of the contract: %+v", reading)
		}
	}
	tron := callOf("executeTransaction(uint256)", 7)
	tron.Chain, tron.To = "tron", chains.PartyWritten(append([]byte{0x41}, make([]byte, 20)...), "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb")
	of := strings.NewReplacer("eip155:1", "tron", "0x1234567890abcdef1234567890abcdef12345678", "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb")
	if reading, ok := pinnedFile(t, of.Replace(abiOf("executeTransaction(uint256)")), "").Read(tron); !ok || reading.Complete {
		t.Errorf("on Tron: %+v", reading)
	}
}

// TestStoredInstructionsAreNeverRead: the same of Solana programs.
func TestStoredInstructionsAreNeverRead(t *testing.T) {
	program := base58.Encode([]byte(strings.Repeat("p", 32)))
	const realms = "GovER5Lthms3bLBqWub97yVrMmEogzX7xNjdXpPPCVZw"
	for _, test := range []struct {
		program, name string
		tag           []byte
		complete      bool
	}{
		{program, "proposal_approve", nil, false}, {program, "vault_transaction_execute", nil, false}, {program, "config_transaction_execute", nil, false},
		{program, "approve_transaction", nil, false}, {program, "execute_transaction", nil, false}, {program, "approve", nil, false},
		{program, "execute_batch_transaction", nil, false}, {program, "deposit", nil, true}, {program, "proposal_create", nil, true},
		{realms, "cast_vote", []byte{13}, false}, {realms, "execute_transaction_of_realm", []byte{16}, false}, {realms, "sign_off_proposal", []byte{12}, false},
		{realms, "finalize_vote", []byte{14}, true}, {program, "castVote", []byte{13}, false}, {program, "executeTransaction", []byte{4}, false}, {program, "approve", []byte{4}, true},
	} {
		if test.tag == nil {
			digest := sha256.Sum256([]byte("global:" + test.name))
			test.tag = digest[:8]
		}
		digits := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(test.tag)), ","), "[]")
		idl := fmt.Sprintf(`{"address":%q,"metadata":{"name":"multisig","version":"1.0.0","spec":"0.1.0"},"instructions":[{"name":%q,"discriminator":[%s],"accounts":[],"args":[]}]}`,
			test.program, test.name, digits)
		reading, ok := pinnedFile(t, idl, "").Read(chains.Call{Path: "instruction 0", Chain: "solana", To: chains.PartyWritten(base58.Decode(test.program), test.program), Data: test.tag})
		if !ok || reading.Complete != test.complete || reading.Function != test.name {
			t.Errorf("%s of %s: %+v", test.name, test.program, reading)
		}
	}
}

// TestKeptBlind: a line below a pin keeps calls blind, also after the file has changed and
// is pinned again, and check names the functions that it may be for.
func TestKeptBlind(t *testing.T) {
	call := callOf("executeNext(uint256,bytes32)", 1, 2)
	abi := abiOf("executeNext(uint256,bytes32)", "deposit(uint256,address)", "scheduleCall(address)", "unqueued(uint8)", "approve(address,uint256)")
	open := pinnedFile(t, abi, "")
	if reading, ok := open.Read(call); !ok || !reading.Complete {
		t.Errorf("without the line: %+v", reading)
	}
	listed := open.Files()[0].ByReference()
	if len(listed) != 1 || listed[0].Name != "executeNext(uint256,bytes32)" || !slices.Equal(listed[0].Selector, call.Data[:4]) {
		t.Errorf("named %+v", listed)
	}
	for _, line := range []string{fmt.Sprintf("blind: [0x%x]\n", call.Data[:4]), fmt.Sprintf("blind: [0x00000001, 0x%x]", call.Data[:5]), "blind: [0x01]\n" + fmt.Sprintf("blind: [0x%X]\n", call.Data[:1])} {
		folder := pinnedFile(t, abi, line)
		if reading, ok := folder.Read(call); !ok || reading.Complete || !strings.Contains(reading.Problem, "the pin keeps") {
			t.Errorf("%s: %+v", line, reading)
		}
		if listed := folder.Files()[0].ByReference(); len(listed) > 0 && strings.Contains(line, fmt.Sprintf("0x%x]", call.Data[:4])) {
			t.Errorf("%s: named %+v", line, listed)
		}
		if reading, ok := folder.Read(callOf("deposit(uint256,address)", 7, 9)); !ok || !reading.Complete {
			t.Errorf("%s, another function: %+v", line, reading)
		}
	}
	folder := pinnedFile(t, abi, "")
	pins, err := descriptors.ReadPins(fmt.Appendf(nil, "countersign.pins/1\n%s  file.json\nblind: [0x%x]\n", strings.Repeat("0", 64), call.Data[:4]))
	testenv.Must(t, err)
	pins.Add(folder.Files()[0])
	if text := string(pins.Encode()); strings.Count(text, fmt.Sprintf("blind: [0x%x]\n", call.Data[:4])) != 2 {
		t.Errorf("pinned again, the line is lost:\n%s", text)
	}
}

// FuzzReadPins: a manifest that is read says the same when it is written and read again.
func FuzzReadPins(f *testing.F) {
	pin := strings.Repeat("0", 64) + "  file.json\n"
	for _, text := range []string{"", pin, pin + "blind: [0xd4d9bdcd]\n", pin + "blind: [0xd4d9bdcd,0x01]\nblind: [0x02]\n" + strings.Repeat("1", 64) + "  other\nblind: [0xff]\n" + pin + "blind: [0x03]\n"} {
		f.Add("countersign.pins/1\n" + text)
	}
	for _, text := range []string{"blind: [0xd4d9bdcd]\n", pin + "blind: 0xd4d9bdcd\n", pin + "blind: []\n", pin + "blind: [d4d9bdcd]\n", pin + "blind: [0x]\n", pin + "blind: [0x123]\n",
		pin + "blind: [0x" + strings.Repeat("ab", 33) + "]\n", pin + "blind: [0xd4d9bdcd\n", pin + "blind: [0xd4d9bdcd]]\n", pin + "blind:[0xd4d9bdcd]\n"} {
		if _, err := descriptors.ReadPins([]byte("countersign.pins/1\n" + text)); err == nil {
			f.Errorf("%q is read", text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		pins, err := descriptors.ReadPins([]byte(text))
		if err != nil {
			return
		}
		again, err := descriptors.ReadPins(pins.Encode())
		if err != nil || string(again.Encode()) != string(pins.Encode()) {
			t.Errorf("%q becomes %q: %v", text, pins.Encode(), err)
		}
	})
}
