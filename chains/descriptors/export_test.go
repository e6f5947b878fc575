package descriptors

import (
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// With returns the folder with every file of pins trusted, and with other names.
func (f *Folder) With(t testing.TB, names chains.Names, pins *Pins) *Folder {
	t.Helper()
	with := &Folder{names: names, now: f.now, byTarget: map[target][]*File{}}
	for at, files := range f.byTarget {
		for _, file := range files {
			trusted := *file
			if pins.has(file.Digest) {
				trusted.Problem, trusted.Trust = "", "pinned"
			}
			with.byTarget[at] = append(with.byTarget[at], &trusted)
		}
	}
	return with
}

// AttestationHash is the hash that an attestation's signature is over.
func AttestationHash(file []byte) ([32]byte, error) {
	form, err := parseAttestation(file)
	if err != nil {
		return [32]byte{}, err
	}
	return form.hash()
}

// AttestedHash is what an attestation says of a file.
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

// ParseTree reads JSON as files are read, and returns its canonical form.
func ParseTree(file []byte) ([]byte, error) {
	root, err := parse(file)
	if err != nil {
		return nil, err
	}
	return canonical(root), nil
}
