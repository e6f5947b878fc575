package translog

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Proof proves that a leaf is in a log. Verifying it takes only the log's key.
type Proof struct {
	Leaf       []byte // encoded; the proof's extra data
	Index      int64
	Hashes     tlog.RecordProof
	Checkpoint []byte // signed
}

// proofHeader is the first line of an encoded proof (C2SP tlog-proof).
const proofHeader = "c2sp.org/tlog-proof@v1"

// maxProofHashes is the height of the largest possible tree.
const maxProofHashes = 63

// Encode returns the only encoding of the proof, C2SP tlog-proof:
//
//	c2sp.org/tlog-proof@v1
//	extra <leaf, base64>
//	index <decimal>
//	<hash, base64>…
//
//	<checkpoint>
func (p *Proof) Encode() []byte {
	out := fmt.Appendf(nil, "%s\nextra %s\nindex %d\n", proofHeader, base64.StdEncoding.EncodeToString(p.Leaf), p.Index)
	for _, hash := range p.Hashes {
		out = append(base64.StdEncoding.AppendEncode(out, hash[:]), '\n')
	}
	return append(append(out, '\n'), p.Checkpoint...)
}

var errProof = errors.New("translog: not a proof: expected c2sp.org/tlog-proof@v1, extra, index, hashes, an " +
	"empty line and a checkpoint")

// ParseProof parses what [Proof.Encode] returns. It does not verify the proof: see [VerifyProof].
func ParseProof(in []byte) (*Proof, error) {
	head, checkpoint, found := bytes.Cut(in, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !found || len(lines) < 3 || len(lines) > 3+maxProofHashes || lines[0] != proofHeader {
		return nil, errProof
	}
	extra, isExtra := strings.CutPrefix(lines[1], "extra ")
	number, isIndex := strings.CutPrefix(lines[2], "index ")
	leaf, err := base64.StdEncoding.Strict().DecodeString(extra)
	if !isExtra || !isIndex || err != nil {
		return nil, errProof
	}
	proof := &Proof{Leaf: leaf, Checkpoint: checkpoint}
	proof.Index, err = strconv.ParseInt(number, 10, 64)
	if err != nil || proof.Index < 0 {
		return nil, errProof
	}
	if proof.Hashes, err = parseHashes(lines[3:]); err != nil {
		return nil, errProof
	}
	if !bytes.Equal(proof.Encode(), in) {
		return nil, errProof // another encoding
	}
	return proof, nil
}

// parseHashes parses hashes, one line of base64 each.
func parseHashes(lines []string) (hashes []tlog.Hash, err error) {
	for _, line := range lines {
		raw, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(raw) != tlog.HashSize {
			return nil, errors.New("expected a hash of 32 bytes in base64")
		}
		hashes = append(hashes, tlog.Hash(raw))
	}
	return hashes, nil
}

// VerifyProof verifies a proof under the key of the log, in the form of [Signer.VerifierKey], and
// returns its leaf. To check that the leaf is that of a record, compare it with [NewLeaf].
func VerifyProof(in []byte, verifierKey string) (Leaf, error) {
	proof, err := ParseProof(in)
	if err != nil {
		return Leaf{}, err
	}
	checkpoint, err := OpenCheckpoint(proof.Checkpoint, verifierKey)
	if err != nil {
		return Leaf{}, err
	}
	leaf, err := ParseLeaf(proof.Leaf)
	if err != nil {
		return Leaf{}, err
	}
	if Origin(leaf.Organization) != checkpoint.Origin {
		return Leaf{}, fmt.Errorf("translog: the leaf is for organization %q, the log is %q", leaf.Organization,
			checkpoint.Origin)
	}
	tree := checkpoint.Tree
	if proof.Index >= tree.N {
		return Leaf{}, fmt.Errorf("translog: leaf %d is not in a log of %d", proof.Index, tree.N)
	}
	if err := tlog.CheckRecord(proof.Hashes, tree.N, tree.Hash, proof.Index, tlog.RecordHash(proof.Leaf)); err != nil {
		return Leaf{}, fmt.Errorf("translog: the leaf is not in the log that the checkpoint signs: %w", err)
	}
	return leaf, nil
}
