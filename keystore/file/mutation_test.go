package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/keystore/file"
)

// TestMutations flips every bit of a key file, deletes and doubles every byte, and truncates
// it at every byte. No mutation is read. Of a wallet's file, which is longer, it does so at
// every eighth byte.
func TestMutations(t *testing.T) {
	x, w := attackedWallet(t)
	open := file.KeyFileReader(t, x.dir, passphrase)
	for id, step := range map[string]int{x.a.ID: 1, w.ID: 8} {
		content := x.read(t, id)
		if err := open(content); err != nil {
			t.Fatalf("the file itself: %v", err)
		}
		refused := func(what string, mutated []byte) {
			if err := open(mutated); err == nil {
				t.Errorf("%s: read", what)
			} else if !errors.Is(err, file.ErrNotAuthentic) && !errors.Is(err, file.ErrMalformed) {
				t.Errorf("%s: %v, want ErrNotAuthentic or ErrMalformed", what, err)
			}
		}
		for at := range content {
			for bit := range 8 {
				if step > 1 && bit != at%step {
					continue
				}
				flipped := bytes.Clone(content)
				flipped[at] ^= 1 << bit
				refused(fmt.Sprintf("bit %d of byte %d flipped", bit, at), flipped)
			}
			if at%step != 0 {
				continue
			}
			refused(fmt.Sprintf("cut at byte %d", at), content[:at])
			refused(fmt.Sprintf("byte %d deleted", at), append(bytes.Clone(content[:at]), content[at+1:]...))
			doubled := append(bytes.Clone(content[:at+1]), content[at:]...)
			refused(fmt.Sprintf("byte %d doubled", at), doubled)
		}
		for extra := range 256 {
			refused(fmt.Sprintf("byte %02x appended", extra), append(bytes.Clone(content), byte(extra)))
		}
	}
}
