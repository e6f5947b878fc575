package torchwood_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"testing"
	"time"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/translog"
)

const organization = "6e1f8f5e-1111-4222-8333-444455556666"

var (
	signer  = translog.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	witness = translog.Witness{Name: "witness.example.com", Key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))}
)

// log is an in-memory log.
type log struct {
	head translog.Head
	rows []translog.Row
}

func (l *log) Head(context.Context) (translog.Head, error) { return l.head, nil }

func (l *log) Rows(_ context.Context, indexes []int64) (rows []translog.Row, err error) {
	for _, index := range indexes {
		rows = append(rows, l.rows[index])
	}
	return rows, nil
}

func newLog(t *testing.T, size int) *log {
	t.Helper()
	l := &log{}
	for i := range size {
		leaf := translog.NewLeaf(organization, fmt.Sprint(i), [32]byte{byte(i)}, []byte("record"))
		encoded, err := leaf.Encode()
		testenv.Must(t, err)
		l.rows = append(l.rows, l.head.Append(encoded))
	}
	return l
}

func (l *log) checkpoint(t *testing.T) []byte {
	t.Helper()
	signed, err := signer.Checkpoint(organization, l.head.Tree())
	testenv.Must(t, err)
	return signed
}

// policy returns a policy that requires the log's signature and, with witnessed, the
// witness's.
func policy(t *testing.T, witnessed bool) torchwood.Policy {
	t.Helper()
	key, err := note.NewVerifier(signer.VerifierKey(organization))
	testenv.Must(t, err)
	policies := []torchwood.Policy{torchwood.OriginPolicy(translog.Origin(organization)), torchwood.SingleVerifierPolicy(key)}
	if witnessed {
		cosigner, err := torchwood.NewCosignatureVerifier(witness.VerifierKey())
		testenv.Must(t, err)
		policies = append(policies, torchwood.SingleVerifierPolicy(cosigner))
	}
	return torchwood.ThresholdPolicy(len(policies), policies...)
}

// TestProofs checks that torchwood verifies each of our proofs, refuses it for another leaf,
// and encodes it in the same way.
func TestProofs(t *testing.T) {
	for _, size := range []int{1, 2, 7, 8, 33} {
		l := newLog(t, size)
		for index, row := range l.rows {
			hashes, err := translog.Inclusion(t.Context(), l, int64(size), int64(index))
			testenv.Must(t, err)
			proof := translog.Proof{Leaf: row.Leaf, Index: int64(index), Hashes: hashes, Checkpoint: l.checkpoint(t)}
			encoded := proof.Encode()
			if err := torchwood.VerifyProof(policy(t, false), tlog.RecordHash(row.Leaf), encoded); err != nil {
				t.Errorf("leaf %d of %d: %v", index, size, err)
			}
			var refused *torchwood.VerifyRecordError
			if err := torchwood.VerifyProof(policy(t, false), tlog.RecordHash([]byte("another")), encoded); !errors.As(err, &refused) {
				t.Errorf("the proof for another leaf: %v, want it refused", err)
			}
			if extra, err := torchwood.ProofExtraData(encoded); err != nil || !bytes.Equal(extra, row.Leaf) {
				t.Errorf("torchwood reads the leaf %x, %v", extra, err)
			}
			theirs := torchwood.FormatProofWithExtraData(int64(index), row.Leaf, hashes, l.checkpoint(t))
			if !bytes.Equal(encoded, theirs) {
				t.Errorf("torchwood encodes the proof as\n%s\nwe as\n%s", theirs, encoded)
			}
		}
	}
}

// TestCosignatures checks that torchwood verifies our witness's cosignature, and that we
// read a checkpoint that torchwood has cosigned.
func TestCosignatures(t *testing.T) {
	l := newLog(t, 5)
	first, err := witness.Cosign(nil, &translog.Advance{Checkpoint: newLog(t, 3).checkpoint(t)}, signer.VerifierKey(organization), time.Unix(1_700_000_000, 0))
	testenv.Must(t, err)
	proof, err := translog.Consistency(t.Context(), l, 5, 3)
	testenv.Must(t, err)
	cosigned, err := witness.Cosign(first, &translog.Advance{Old: 3, Proof: proof, Checkpoint: l.checkpoint(t)}, signer.VerifierKey(organization), time.Unix(1_800_000_000, 0))
	testenv.Must(t, err)
	checkpoint, opened, err := torchwood.VerifyCheckpoint(cosigned, policy(t, true))
	if err != nil || checkpoint.Tree != l.head.Tree() {
		t.Fatalf("torchwood reads %+v, %v", checkpoint, err)
	}
	for _, signature := range opened.Sigs {
		if signature.Name != witness.Name {
			continue
		}
		if at, err := torchwood.CosignatureTimestamp(signature); err != nil || at != 1_800_000_000 {
			t.Errorf("torchwood reads the cosignature's time as %d, %v", at, err)
		}
	}
	if _, _, err := torchwood.VerifyCheckpoint(l.checkpoint(t), policy(t, true)); err == nil {
		t.Error("torchwood accepts a checkpoint without the required cosignature")
	}
	cosigner, err := torchwood.NewCosignatureSigner("other.example.com", witness.Key)
	testenv.Must(t, err)
	theirs, err := note.Sign(opened, cosigner)
	testenv.Must(t, err)
	if read, err := translog.OpenCheckpoint(theirs, signer.VerifierKey(organization)); err != nil || read.Tree != l.head.Tree() {
		t.Errorf("we read torchwood's cosigned checkpoint as %+v, %v", read, err)
	}
}
