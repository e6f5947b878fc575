package personal_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func shown(t *testing.T, preimage []byte) (fields, args []string) {
	t.Helper()
	read, err := parse(preimage)
	testenv.Must(t, err)
	for _, field := range read.Summary().Fields {
		fields = append(fields, field.Label+": "+field.Value)
	}
	for _, arg := range read.Effects()[0].Args {
		args = append(args, arg.Name+": "+arg.Value)
	}
	return fields, args
}

// TestShown: what an approver and a policy see of messages.
func TestShown(t *testing.T) {
	long, hash := strings.Repeat("a", 1024), strings.Repeat("h", 32)
	for name, test := range map[string]struct {
		message      string
		fields, args []string
	}{
		"text":        {"hello", []string{"kind: personal message", "message: hello"}, []string{"message: hello"}},
		"empty":       {"", []string{"kind: personal message", "message: "}, []string{"message: "}},
		"longest":     {long, []string{"kind: personal message", "message: " + long}, []string{"message: " + long}},
		"too long":    {long + "a", []string{"kind: personal message", "message: " + long + "a"}, nil},
		"like a hash": {hash, []string{"kind: personal message", "message: " + hash}, []string{"message: " + hash}},
		"a sign-in": {signInText, []string{
			"kind: sign in", "sign in at: example.com", "account: " + signInAddress, "statement: I accept the terms.", "URI: https://example.com/login", "chain id: 1", "nonce: 32891756",
			"issued at: 2025-11-20T12:00:00Z", "expiration time: 2025-11-20T13:00:00Z", "not before: 2025-11-20T12:00:00Z", "request id: 7",
			"resource: https://example.com/a", "resource: https://example.com/b", "message: " + signInText,
		}, []string{"domain: example.com", "uri: https://example.com/login", "chainId: 1", "statement: I accept the terms."}},
		"with what is required": {siwe, []string{
			"kind: sign in", "sign in at: example.com", "account: " + signInAddress, "statement: Hello", "URI: https://example.com/login", "chain id: 1", "nonce: 32891756",
			"issued at: 2025-11-20T12:00:00Z", "message: " + siwe,
		}, []string{"domain: example.com", "uri: https://example.com/login", "chainId: 1", "statement: Hello"}},
	} {
		fields, args := shown(t, personal.Preimage(personal.EthereumPrefix, []byte(test.message)))
		if !slices.Equal(fields, test.fields) || !slices.Equal(args, test.args) {
			t.Errorf("%s:\n%s\n%q\nwant\n%s\n%q", name, strings.Join(fields, "\n"), args, strings.Join(test.fields, "\n"), test.args)
		}
	}
	fields, _ := shown(t, []byte("\x19\x00"+strings.Repeat("v", 20)))
	if want := []string{"kind: data for a validator (EIP-191, version 0)", "validator: 0x7676767676767676767676767676767676767676", "data: "}; !slices.EqualFunc(fields, want, strings.EqualFold) {
		t.Errorf("%q, want %q", fields, want)
	}
}

// TestPreimageLengths: the length is that of the message, in decimal without leading zeros.
func TestPreimageLengths(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 99, 100, 999, 1000, 9999, 10_000, 99_999, 100_000, 999_999, 1_000_000} {
		message := strings.Repeat("a", n)
		for _, prefix := range []string{personal.EthereumPrefix, personal.TronPrefix} {
			for length, valid := range map[string]bool{strconv.Itoa(n): true, "0" + strconv.Itoa(n): false, strconv.Itoa(n + 1): false, "+" + strconv.Itoa(n): false, "": false} {
				if _, err := parse([]byte(prefix + length + message)); (err == nil) != valid {
					t.Errorf("%d bytes, length %q: %v", n, length, err)
				}
			}
		}
	}
	for n := range 24 {
		if _, err := parse(append([]byte{0x19, 0}, make([]byte, n)...)); (err == nil) != (n >= 20) {
			t.Errorf("a validator in %d bytes: %v", n, err)
		}
	}
}
