//go:build !cgo

package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestHSMWithoutCgo: without cgo, the command says how to build one that supports HSMs.
func TestHSMWithoutCgo(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run([]string{"keys", "list", "--keystore", "pkcs11:token=a?pin-source=/nowhere"}, strings.NewReader(""), &stdout, &stderr)
	if status != exitFailure || !strings.Contains(stderr.String(), "CGO_ENABLED=1") {
		t.Errorf("exit status %d: %s", status, &stderr)
	}
}
