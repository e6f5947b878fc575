package bitcoin

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/secp256k1"
)

// checkSignatures verifies every signature of the input: one that does not verify was
// made for something else.
func (t *unsignedTx) checkSignatures(in *input) error {
	for i := range in.Records {
		record := &in.Records[i]
		var err error
		switch record.Type {
		case psbt.InPartialSig:
			err = t.checkPartialSig(in, record)
		case psbt.InTapKeySig:
			err = t.checkTapSig(in, in.taproot.output, nil, record.Value)
		case psbt.InTapScriptSig:
			err = t.checkLeafSig(in, record)
		}
		if err != nil {
			return in.refuseAt(record.ValueOffset(), record.Type, "%s", err)
		}
	}
	return nil
}

// checkSigSighash refuses a signature with another sighash type than the input asks for.
func (t *unsignedTx) checkSigSighash(in *input, sighash byte) error {
	if !knownSighash(sighash, in.kind.family()) {
		return fmt.Errorf("signature with unknown sighash type %#x", sighash)
	}
	if in.declared && sighash != in.sighash {
		return fmt.Errorf("signature with sighash type %#x, PSBT_IN_SIGHASH_TYPE asks for %#x", sighash, in.sighash)
	}
	if in.lacksOutput(sighash, len(t.packet.Outputs)) {
		return fmt.Errorf("signature with SIGHASH_SINGLE, but there is no output %d", in.index)
	}
	return nil
}

// checkPartialSig verifies DER ‖ sighash type under the key in the record's key.
func (t *unsignedTx) checkPartialSig(in *input, record *psbt.Record) error {
	if reason := in.unsignable(); reason != "" {
		return fmt.Errorf("a signature that cannot be checked: %s", reason)
	}
	hash := address.Hash160(record.Data())
	named := hasPush(in.code, record.Data(), hash)
	if in.kind == p2wpkh || in.kind == p2shP2wpkh {
		named = bytes.Equal(in.code[2:], hash)
	}
	if !named {
		return fmt.Errorf("a signature of key %x, which is not in the input's script", record.Data())
	}
	der, sighash := record.Value[:len(record.Value)-1], record.Value[len(record.Value)-1]
	if err := t.checkSigSighash(in, sighash); err != nil {
		return err
	}
	signature, err := ecdsa.ParseDERSignature(der) // strictly (BIP-66)
	if err != nil {
		return fmt.Errorf("signature is not strict DER: %w", err)
	}
	var compact [64]byte
	r, s := signature.R(), signature.S()
	r.PutBytesUnchecked(compact[:32])
	s.PutBytesUnchecked(compact[32:])
	digest, err := t.ecdsaDigest(in, sighash)
	if err != nil {
		return err
	}
	if !crypto.VerifySignature(record.Data(), digest[:], compact[:]) {
		return fmt.Errorf("the signature does not verify under key %x", record.Data())
	}
	return nil
}

// checkLeafSig verifies the signature for a leaf that the PSBT has, by a key in that leaf.
func (t *unsignedTx) checkLeafSig(in *input, record *psbt.Record) error {
	key, leafHash := record.Data()[:32], record.Data()[32:]
	for i := range in.taproot.leaves {
		if leaf := &in.taproot.leaves[i]; bytes.Equal(leaf.hash[:], leafHash) && hasPush(leaf.script, key) {
			return t.checkTapSig(in, key, leafHash, record.Value)
		}
	}
	return fmt.Errorf("a signature of key %x for leaf %x: no PSBT_IN_TAP_LEAF_SCRIPT is that leaf and has the key",
		key, leafHash)
}

// checkTapSig verifies r ‖ s [‖ sighash type] under an x-only key.
func (t *unsignedTx) checkTapSig(in *input, key, leafHash, signature []byte) error {
	sighash := byte(sighashDefault)
	if len(signature) == 65 {
		if sighash = signature[64]; sighash == sighashDefault {
			return fmt.Errorf("signature of 65 bytes with SIGHASH_DEFAULT, which has no byte of its own")
		}
	}
	if err := t.checkSigSighash(in, sighash); err != nil {
		return err
	}
	digest, err := t.taprootDigest(in, sighash, leafHash)
	if err != nil {
		return err
	}
	if !secp256k1.OnCurve([32]byte(key)) {
		return fmt.Errorf("%x is not the x coordinate of a point of the curve", key)
	}
	if !secp256k1.VerifySchnorr([32]byte(key), digest, [64]byte(signature)) {
		return fmt.Errorf("the signature does not verify under key %x", key)
	}
	return nil
}
