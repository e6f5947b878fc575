package fuzz

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

type stampVector struct{ HeaderName, HeaderValue, Body string }

func stampSeeds(f *testing.F) []stampVector {
	f.Helper()
	files, err := filepath.Glob("../stamp/testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	var seeds []stampVector
	for _, file := range files {
		text := testenv.Read(f, file)
		var one stampVector
		testenv.JSON(f, text, &one)
		seeds = append(seeds, one)
	}
	return seeds
}

// FuzzStampParse checks that no header causes a panic, that an error says it is
// malformed, and that an accepted one names its credential and kind but does not
// authenticate.
func FuzzStampParse(f *testing.F) {
	for _, seed := range stampSeeds(f) {
		f.Add(seed.HeaderName, seed.HeaderValue, []byte(seed.Body))
	}
	f.Fuzz(func(t *testing.T, name, value string, body []byte) {
		sent, err := stamp.Parse(stamp.Header{Name: name, Value: value})
		if err != nil {
			if !errors.Is(err, stamp.ErrMalformed) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if sent.CredentialID() == "" || sent.Scheme() == "" || len(sent.SignatureText()) > 2*stamp.MaxHeader {
			t.Fatalf("taken as %q by %q", sent.CredentialID(), sent.Scheme())
		}
		if err := stamp.VerifyDummy(sent, body); !errors.Is(err, stamp.ErrMismatch) {
			t.Fatalf("nobody was let in: %v", err)
		}
	})
}

// FuzzStampCOSEKey checks that no COSE key causes a panic, and that an accepted key
// can be used to verify.
func FuzzStampCOSEKey(f *testing.F) {
	f.Add([]byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x22\x58\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("\xa4\x01\x03\x03\x39\x01\x00\x20\x59\x01\x00\x21\x43\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, key []byte) {
		credential, err := stamp.NewPasskey([]byte("id"), key, "example.com")
		if err != nil {
			return
		}
		if credential.ID() != stamp.PasskeyID([]byte("id")) || credential.PublicKeyText() == "" {
			t.Fatalf("taken as %q", credential.ID())
		}
	})
}
