package bitcoin

import (
	"bytes"
	"cmp"
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// readTaproot checks that the taproot fields belong to the output.
func (in *input) readTaproot() error {
	if in.kind != p2tr {
		return in.refuseTaprootFields()
	}
	if record := in.Find(psbt.InPartialSig); record != nil {
		return in.refuseAt(record.Offset, psbt.InPartialSig, "an ECDSA signature cannot spend a taproot output")
	}
	tap := &taproot{
		output: in.script[2:], internal: in.Value(psbt.InTapInternalKey), root: in.Value(psbt.InTapMerkleRoot),
	}
	in.taproot = tap
	if err := in.readLeaves(); err != nil {
		return err
	}
	if tap.internal == nil || len(tap.leaves) > 0 {
		return nil // nothing to check, or checked with the leaves
	}
	output, err := secp256k1.OutputKey([32]byte(tap.internal), tap.root)
	if err != nil {
		return in.refuse(psbt.InTapInternalKey, "not the x coordinate of a point of the curve")
	}
	if !bytes.Equal(output.X[:], tap.output) {
		return in.refuse(psbt.InTapInternalKey,
			"with the merkle root (%s) it gives output key %x, the output is locked to %x",
			cmp.Or(hex.EncodeToString(tap.root), "none"), output.X, tap.output)
	}
	return nil
}

func (in *input) refuseTaprootFields() error {
	for i := range in.Records {
		record := &in.Records[i]
		switch record.Type {
		case psbt.InTapInternalKey, psbt.InTapMerkleRoot, psbt.InTapLeafScript, psbt.InTapKeySig, psbt.InTapScriptSig:
			return malformed(in.field("taproot field"), record.Offset, "the output that is spent is not P2TR but %s",
				in.kind)
		}
	}
	return nil
}

// readLeaves checks each leaf script against the output: its control block must lead to
// the output key, under the internal key that it names.
func (in *input) readLeaves() error {
	for record := range in.All(psbt.InTapLeafScript) {
		end := len(record.Value) - 1 // control block → script ‖ leaf version
		leaf := leaf{control: record.Data(), script: record.Value[:end], version: record.Value[end]}
		version := txscript.TapscriptLeafVersion(leaf.version)
		leaf.hash = txscript.NewTapLeaf(version, leaf.script).TapHash()
		if leaf.version != leaf.control[0]&0xfe {
			return in.refuseAt(record.ValueOffset(), psbt.InTapLeafScript,
				"leaf version %02x, the control block says %02x", leaf.version, leaf.control[0]&0xfe)
		}
		path := txscript.ControlBlock{LeafVersion: version, InclusionProof: leaf.control[33:]}
		root := path.RootHash(leaf.script)
		// The input's own fields or an earlier leaf may have said so.
		if internal := in.taproot.internal; internal != nil && !bytes.Equal(internal, leaf.control[1:33]) {
			return in.refuseAt(record.DataOffset()+1, psbt.InTapLeafScript,
				"internal key %x in the control block, %x elsewhere", leaf.control[1:33], internal)
		}
		if known := in.taproot.root; known != nil && !bytes.Equal(known, root) {
			return in.refuseAt(record.DataOffset()+33, psbt.InTapLeafScript,
				"leads to merkle root %x, %x elsewhere", root, known)
		}
		output, err := secp256k1.OutputKey([32]byte(leaf.control[1:33]), root)
		if err != nil || !bytes.Equal(output.X[:], in.taproot.output) || output.Odd != (leaf.control[0]&1 == 1) {
			return in.refuseAt(record.Offset, psbt.InTapLeafScript,
				"the leaf and its control block do not lead to the output key %x", in.taproot.output)
		}
		in.taproot.internal, in.taproot.root = leaf.control[1:33], root
		in.taproot.leaves = append(in.taproot.leaves, leaf)
	}
	return nil
}

// keys returns the keys of a leaf in order, and how many of them must sign.
func (l *leaf) keys() (keys [][]byte, need int, ok bool) {
	tokens := txscript.MakeScriptTokenizer(0, l.script)
	var last []byte
	adding := false
	for tokens.Next() {
		switch op := tokens.Opcode(); {
		case op == txscript.OP_DATA_32:
			last = tokens.Data()
		case op == txscript.OP_CHECKSIG || op == txscript.OP_CHECKSIGVERIFY || op == txscript.OP_CHECKSIGADD:
			if last == nil {
				return nil, 0, false
			}
			keys, last = append(keys, last), nil
			adding = adding || op == txscript.OP_CHECKSIGADD
			need++
		case adding && op >= txscript.OP_1 && op <= txscript.OP_16:
			need = int(op-txscript.OP_1) + 1
		case adding && (op == txscript.OP_NUMEQUAL || op == txscript.OP_NUMEQUALVERIFY):
		default:
			return nil, 0, false
		}
	}
	return keys, need, tokens.Err() == nil && len(keys) >= need && need > 0
}
