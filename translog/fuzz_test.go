package translog_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/translog"
)

// FuzzLeaf checks that an accepted leaf has one encoding; the other fuzz targets check the
// same for their types.
func FuzzLeaf(f *testing.F) {
	f.Add(newStore(f, 1).rows[0].Leaf)
	f.Fuzz(func(t *testing.T, in []byte) {
		leaf, err := translog.ParseLeaf(in)
		if err != nil {
			return
		}
		if out, err := leaf.Encode(); err != nil || !bytes.Equal(out, in) {
			t.Errorf("%x is read as %+v, which is %x, %v", in, leaf, out, err)
		}
	})
}

func FuzzHead(f *testing.F) {
	for _, head := range marked(newStore(f, 7)) {
		f.Add(head.Encode())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		head, err := translog.ParseHead(in)
		if err != nil {
			return
		}
		head.Tree()
		if out := head.Encode(); len(in) > 0 && !bytes.Equal(out, in) {
			t.Errorf("%x is read as %+v, which is %x", in, head, out)
		}
	})
}

func FuzzProof(f *testing.F) {
	k := newStore(f, 7)
	for i := range k.rows {
		f.Add(k.prove(f, int64(i)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		proof, err := translog.ParseProof(in)
		if err == nil && !bytes.Equal(proof.Encode(), in) {
			t.Errorf("%q has another form", in)
		}
		leaf, err := translog.VerifyProof(in, key)
		if err == nil && leaf.Organization != organization {
			t.Errorf("%q proves %+v", in, leaf)
		}
	})
}

func FuzzAdvance(f *testing.F) {
	k := newStore(f, 7)
	for old := range int64(7) {
		f.Add(k.advance(f, old).Encode())
	}
	seen := newStore(f, 3).cosigned(f, nil, 0)
	f.Fuzz(func(t *testing.T, in []byte) {
		advance, err := translog.ParseAdvance(in)
		if err != nil {
			return
		}
		if !bytes.Equal(advance.Encode(), in) {
			t.Errorf("%q has another form", in)
		}
		cosigned, err := witness.Cosign(seen, advance, key, now)
		if err != nil {
			return
		}
		if checkpoint, err := translog.OpenCheckpoint(cosigned, key); err != nil || checkpoint.Tree.N < 3 {
			t.Errorf("cosigned: %q, %v", cosigned, err)
		}
	})
}
