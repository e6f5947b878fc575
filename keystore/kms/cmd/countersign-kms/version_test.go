package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli"
)

// TestVersion: the version says which services a build can sign with.
func TestVersion(t *testing.T) {
	var out, errors bytes.Buffer
	if status := cli.Main([]string{"version"}, strings.NewReader(""), &out, &errors, services()); status != 0 {
		t.Fatal(errors.String())
	}
	if !strings.HasSuffix(out.String(), `,"services":["awskms","azurekms","gcpkms","vaulttransit"]}`+"\n") {
		t.Errorf("version prints %s", out.String())
	}
}
