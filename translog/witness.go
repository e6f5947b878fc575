package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Advance is a checkpoint with a proof that it extends an earlier one. It is sent to
// witnesses (the body of add-checkpoint in C2SP tlog-witness).
type Advance struct {
	Old        int64 // size of the earlier checkpoint
	Proof      tlog.TreeProof
	Checkpoint []byte // signed
}

// Encode returns the only encoding of the advance:
//
//	old <size>
//	<hash, base64>…
//
//	<checkpoint>
func (a *Advance) Encode() []byte {
	out := fmt.Appendf(nil, "old %d\n", a.Old)
	for _, hash := range a.Proof {
		out = append(base64.StdEncoding.AppendEncode(out, hash[:]), '\n')
	}
	return append(append(out, '\n'), a.Checkpoint...)
}

var errAdvance = errors.New("translog: not an advance: expected old, hashes, an empty line and a checkpoint")

// ParseAdvance parses what [Advance.Encode] returns.
func ParseAdvance(in []byte) (*Advance, error) {
	head, checkpoint, found := bytes.Cut(in, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	number, isOld := strings.CutPrefix(lines[0], "old ")
	if !found || !isOld || len(lines) > 1+maxProofHashes {
		return nil, errAdvance
	}
	old, err := strconv.ParseInt(number, 10, 64)
	if err != nil || old < 0 {
		return nil, errAdvance
	}
	hashes, err := parseHashes(lines[1:])
	if err != nil {
		return nil, errAdvance
	}
	advance := &Advance{Old: old, Proof: hashes, Checkpoint: checkpoint}
	if !bytes.Equal(advance.Encode(), in) {
		return nil, errAdvance // another encoding
	}
	return advance, nil
}

// Witness cosigns checkpoints that extend the previous checkpoint of their log.
type Witness struct {
	Name string // of its key; must not have blanks or plus signs
	Key  ed25519.PrivateKey
}

// VerifierKey returns the public key for verifiers of cosignatures: the key's name, its
// hash, and 0x04 ‖ public key in base64.
func (w *Witness) VerifierKey() string {
	signer := w.signer(time.Time{})
	key := append([]byte{typeCosignature}, w.Key.Public().(ed25519.PublicKey)...)
	return fmt.Sprintf("%s+%08x+%s", w.Name, signer.KeyHash(), base64.StdEncoding.EncodeToString(key))
}

// Cosign verifies an advance from kept, the last checkpoint of the log that the witness
// cosigned, or nil if there is none. It returns the new checkpoint with the witness's
// signature, which the caller must keep for the next call. A log that is shorter than kept
// is refused with [ErrShorter], and one with another history with [ErrFork].
func (w *Witness) Cosign(kept []byte, advance *Advance, verifierKey string, now time.Time) ([]byte, error) {
	next, err := OpenCheckpoint(advance.Checkpoint, verifierKey)
	if err != nil {
		return nil, err
	}
	var last tlog.Tree
	if kept != nil {
		checkpoint, err := OpenCheckpoint(kept, verifierKey)
		if err != nil {
			return nil, fmt.Errorf("the witness's last checkpoint: %w", err)
		}
		last = checkpoint.Tree
	}
	if err := extends(last, next.Tree, advance); err != nil {
		return nil, err
	}
	return note.Sign(next.Note, w.signer(now))
}

func extends(last, next tlog.Tree, advance *Advance) error {
	switch {
	case next.N < last.N:
		return fmt.Errorf("%w: the checkpoint has %d leaves, the last one %d: %s", ErrShorter, next.N, last.N, shorter)
	case advance.Old != last.N:
		return fmt.Errorf("translog: the proof starts at %d leaves, the last checkpoint has %d: request one from "+
			"there", advance.Old, last.N)
	case last.N == 0 || last.N == next.N:
		if len(advance.Proof) > 0 || last.N > 0 && last.Hash != next.Hash {
			return fmt.Errorf("%w: two checkpoints of %d leaves have different roots", ErrFork, next.N)
		}
		return nil
	}
	if err := tlog.CheckTree(advance.Proof, next.N, next.Hash, last.N, last.Hash); err != nil {
		return fmt.Errorf("%w: the log of %d leaves does not extend that of %d: %w", ErrFork, next.N, last.N, err)
	}
	return nil
}

// signer returns a signer of cosignatures (C2SP tlog-cosignature), which sign
//
//	"cosignature/v1\ntime <seconds>\n" ‖ the note's text
//
// The signature is seconds 8, big-endian ‖ Ed25519 signature 64.
func (w *Witness) signer(now time.Time) *noteSigner {
	return &noteSigner{name: w.Name, kind: typeCosignature, key: w.Key, sign: func(text []byte) []byte {
		signed := append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", now.Unix()), text...)
		return append(binary.BigEndian.AppendUint64(nil, uint64(now.Unix())), ed25519.Sign(w.Key, signed)...)
	}}
}
