package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/console"
)

// completionsOf returns the completions that the shell gets for a call.
func completionsOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	if status := cli.Main(append([]string{"__complete"}, args...), strings.NewReader(""), &out, &talk, nil); status != console.ExitSuccess {
		t.Fatalf("%q: exit status %d\n%s", args, status, &talk)
	}
	return out.String()
}

// TestCompletion: a flag completes to its possible values, free text to nothing, not even
// to files in the current directory.
func TestCompletion(t *testing.T) {
	const noFiles, files, directories, noSpace = ":4\n", ":0\n", ":16\n", ":6\n"
	for _, test := range []struct {
		args string
		has  []string
		ends string
	}{
		{"sign --type ", []string{"ethereum", "tempo"}, noFiles},
		{"inspect --type ", []string{"bitcoin"}, noFiles},
		{"sign --allow ", append(all.HazardNames(), countersign.AllHazards), noFiles},
		{"sign --network ", []string{"mainnet", "testnet", "signet", "regtest"}, noFiles},
		{"keys generate --curve ", []string{"secp256k1\t", "ed25519\t"}, noFiles},
		{"keys import --format ", []string{"hex", "wif", "solana", "v3", "pkcs8", "mnemonic", "xprv"}, noFiles},
		{"keys list --keystore ", []string{"file:\t", "pkcs11:\t"}, noSpace},
		{"submit --query ", []string{"get_activity", "whoami"}, noFiles},
		{"activities list --status ", []string{"waiting", "signed", "completed", "rejected", "failed"}, noFiles},
		{"approve --request ", nil, files},
		{"approve ", nil, noFiles},
		{"serve --log-level ", []string{"debug", "info", "warn", "error"}, noFiles},
		{"serve --config ", nil, files},
		{"stamp --api-key ", nil, files},
		{"sign --out ", nil, files},
		{"keys import --dir ", nil, directories},
		{"init ", nil, directories},
		{"keys generate --name ", nil, noFiles},
		{"keys show ", nil, noFiles},
		{"demo ", nil, noFiles},
		{"", []string{"completion\t", "demo\t", "keys\t", "sign\t"}, noFiles},
	} {
		got := completionsOf(t, strings.Split(test.args, " ")...)
		for _, want := range test.has {
			if !strings.HasPrefix(got, want) && !strings.Contains(got, "\n"+want) {
				t.Errorf("countersign %s: %q is not offered:\n%s", test.args, want, got)
			}
		}
		if !strings.HasSuffix(got, test.ends) || test.has == nil && got != test.ends {
			t.Errorf("countersign %s: %q, want it to end in %q", test.args, got, test.ends)
		}
	}
}
