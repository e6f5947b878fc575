package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// TestFromAnAWSKey runs the block of docs/kms.md as it is printed, against a server on loopback
// that the environment names. It has at most ten lines, and ends with a transaction that the
// key has signed.
func TestFromAnAWSKey(t *testing.T) {
	document := testenv.Read(t, "../../../../docs/kms.md")
	_, section, _ := strings.Cut(string(document), "## From an AWS key to a signed transaction")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if block == nil || strings.Count(block[1], "\n") > 10 {
		t.Fatalf("the block is not there, or has more than ten lines: %q", block)
	}
	aws := loopback.NewAWS(t)
	aws.Keys.Generate("hot-key", remote.Secp256k1)
	aws.Aliases["alias/hot"] = "hot-key"
	address := common.Address(aws.Keys.Public("hot-key").Signing.KeccakAddress())
	folder := t.TempDir()
	build(t, folder)
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", block[1])
	shell.Dir = folder
	shell.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "PUBLIC_KEY="+aws.Keys.Public("hot-key").Signing.String())
	for name, value := range aws.Environment() {
		shell.Env = append(shell.Env, name+"="+value)
	}
	var messages strings.Builder
	shell.Stderr = &messages
	out, err := shell.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &messages)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	raw, err := hexutil.Decode("0x" + strings.TrimPrefix(lines[len(lines)-1], "0x"))
	testenv.Must(t, err)
	var signed types.Transaction
	testenv.Must(t, signed.UnmarshalBinary(raw))
	sender, err := types.Sender(types.LatestSignerForChainID(signed.ChainId()), &signed)
	if err != nil || sender != address {
		t.Errorf("sender %v, %v, want %v", sender, err, address)
	}
	if !strings.Contains(string(out), sender.Hex()) {
		t.Errorf("keys add did not print %v:\n%s", sender, out)
	}
}

// build builds the command into a folder.
func build(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(folder, "countersign-kms")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
