package descriptors

import (
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// With returns the folder with other names, and with pins instead of its own.
func (f *Folder) With(t testing.TB, names chains.Names, pins *Pins) *Folder {
	t.Helper()
	with := &Folder{names: names, now: f.now, byTarget: map[target][]*File{}}
	for t, files := range f.byTarget {
		for _, file := range files {
			trusted := *file
			if pins.has(file.Digest) {
				trusted.Problem, trusted.Trust = "", "pinned"
			}
			with.byTarget[t] = append(with.byTarget[t], &trusted)
		}
	}
	return with
}

// AttestationHash returns the hash that an attestation signs.
func AttestationHash(file []byte) ([32]byte, error) {
	form, err := parseAttestation(file)
	if err != nil {
		return [32]byte{}, err
	}
	return form.hash()
}

// AttestedHash returns the hash of a file that an attestation attests.
func AttestedHash(file []byte) ([32]byte, error) {
	own, err := parse(file)
	return attestedHash(own), err
}

// VerifyAttestation verifies the attestation of an auditor.
func VerifyAttestation(file []byte, auditor string, now time.Time) error {
	auditors, err := parseAuditors([]string{auditor})
	if err != nil {
		return err
	}
	_, _, err = verifyAttestation(file, auditors, now)
	return err
}

// ParseTree parses JSON like a file, and returns its canonical form.
func ParseTree(file []byte) ([]byte, error) {
	root, err := parse(file)
	if err != nil {
		return nil, err
	}
	return canonical(root), nil
}
