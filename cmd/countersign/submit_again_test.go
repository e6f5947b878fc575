package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSavedBodyIsSentAgain: the body that submit filled in and kept is answered from the
// record when it is sent again; an earlier one is not written over.
func TestSavedBodyIsSentAgain(t *testing.T) {
	s := newServed(t)
	n := s.start(t, "--admin", "none")
	saved := filepath.Join(s.dir, "sent.json")
	submit := func(body []byte, more ...string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), "countersign", append([]string{"submit", "--url", n.base, "--api-key", filepath.Join(s.dir, apiKeyName)}, more...)...)
		command.Stdin = bytes.NewReader(body)
		return command.Output()
	}
	body := []byte(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","parameters":{"signWith":"` + s.signer + `","unsignedTransaction":"` + vectorUnsigned + `","type":"TRANSACTION_TYPE_ETHEREUM"}}`)
	first, err := submit(body, "--save-body", saved)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	kept, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := submit(kept); err != nil || !bytes.Equal(again, first) {
		t.Errorf("%v: %s, want %s", err, again, first)
	}
	if out, err := submit(body, "--save-body", saved); err == nil || len(out) > 0 {
		t.Errorf("the body of before was written over, or the new one sent without: %s", out)
	}
	if status := n.end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d", status)
	}
}
