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
	commands := block(t, "## From an AWS key to a signed transaction")
	if strings.Count(commands, "\n") > 10 {
		t.Fatalf("the block has more than ten lines: %q", commands)
	}
	aws := loopback.NewAWS(t)
	aws.Keys.Generate("hot-key", remote.Secp256k1)
	aws.Aliases["alias/hot"] = "hot-key"
	address := common.Address(aws.Keys.Public("hot-key").Signing.KeccakAddress())
	folder := filepath.Join(t.TempDir(), "a folder")
	build(t, folder)
	environment := aws.Environment()
	environment["PUBLIC_KEY"] = aws.Keys.Public("hot-key").Signing.String()
	out := run(t, folder, commands, environment)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	raw, err := hexutil.Decode("0x" + strings.TrimPrefix(lines[len(lines)-1], "0x"))
	testenv.Must(t, err)
	var signed types.Transaction
	testenv.Must(t, signed.UnmarshalBinary(raw))
	sender, err := types.Sender(types.LatestSignerForChainID(signed.ChainId()), &signed)
	if err != nil || sender != address {
		t.Errorf("sender %v, %v, want %v", sender, err, address)
	}
	if !strings.Contains(out, sender.Hex()) {
		t.Errorf("keys add did not print %v:\n%s", sender, out)
	}
}

// TestDevelopmentVault runs the block about a development Vault as it is printed, with a server on
// loopback in its place; vault, which enables the engine there, does nothing.
func TestDevelopmentVault(t *testing.T) {
	vault := loopback.NewVault(t)
	folder := filepath.Join(t.TempDir(), "a folder")
	build(t, folder)
	testenv.Must(t, os.WriteFile(filepath.Join(folder, "vault"), []byte("#!/bin/sh\n"), 0o700))
	_, commands, found := strings.Cut(block(t, "## A development Vault"), "VAULT_TOKEN=root\n")
	if !found {
		t.Fatal("the block does not begin with the address and the token")
	}
	out := run(t, folder, commands, vault.Environment())
	if !strings.Contains(out, `"hot"`) && !strings.Contains(out, "vaulttransit:hot") {
		t.Errorf("keys check does not name the key:\n%s", out)
	}
}

// block returns the first block of commands below a heading of docs/kms.md.
func block(t *testing.T, heading string) string {
	t.Helper()
	document, err := os.ReadFile("../../../../docs/kms.md")
	testenv.Must(t, err)
	_, section, _ := strings.Cut(string(document), "\n"+heading+"\n")
	found := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if found == nil {
		t.Fatalf("no block below %s", heading)
	}
	return found[1]
}

// run runs commands in a folder, which is first in the path, and returns their output.
func run(t *testing.T, folder, commands string, environment map[string]string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands)
	shell.Dir = folder
	shell.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	for name, value := range environment {
		shell.Env = append(shell.Env, name+"="+value)
	}
	var messages strings.Builder
	shell.Stderr = &messages
	out, err := shell.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &messages)
	}
	return string(out)
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
