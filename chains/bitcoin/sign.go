package bitcoin

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// AppendSigned implements chains.Signing: it appends the PSBT with the signatures of
// all keys. Signatures that the PSBT already has are kept; if it has all of them, it is
// appended unchanged. Either all signatures are made or none leaves.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	insertions := make([]psbt.Insertion, 0, len(s.signatures)+1)
	insert := func(in *input, key, value []byte) {
		record := psbt.AppendRecord(make([]byte, 0, 2+len(key)+len(value)), key, value)
		insertions = append(insertions, psbt.Insertion{At: in.InsertAt(key), Bytes: record})
	}
	for i := range s.signatures {
		sig := &s.signatures[i]
		if sig.made() {
			continue
		}
		var keyRoom [maxRecordKey]byte
		var valueRoom [maxPartialSig]byte
		value, err := s.tx.appendSignature(ctx, valueRoom[:0], sig)
		if err != nil {
			return nil, fmt.Errorf("%s: input %d: %w", Name, sig.in.index, err)
		}
		insert(sig.in, sig.appendKey(keyRoom[:0]), value)
	}
	for i := range s.tx.inputs {
		if in := &s.tx.inputs[i]; in.derived {
			insert(in, []byte{psbt.InRedeemScript}, in.code)
		}
	}
	if change, ok := s.modifiable(); ok {
		insertions = append(insertions, change)
	}
	return psbt.AppendSpliced(dst, s.tx.packet.Raw, insertions), nil
}

// modifiable returns the change that BIP-370 requires of a signer to PSBT_GLOBAL_TX_MODIFIABLE: no
// inputs may be added once a signature commits to them, and no outputs once one commits to those.
// ok is false if the PSBT has no such field, or the field needs no change.
func (s *signing) modifiable() (change psbt.Insertion, ok bool) {
	record := s.tx.packet.Global.Find(psbt.GlobalTxModifiable)
	if record == nil {
		return change, false
	}
	flags := record.Value[0]
	for i := range s.signatures {
		sighash := s.signatures[i].in.sighash
		if sighash&sighashAnyoneCanPay == 0 {
			flags &^= inputsModifiable
		}
		if sighash&sighashOutputs != sighashNone {
			flags &^= outputsModifiable
		}
		if sighash&sighashOutputs == sighashSingle {
			flags |= hasSighashSingle
		}
	}
	return psbt.Insertion{At: record.ValueOffset(), Replace: 1, Bytes: []byte{flags}}, flags != record.Value[0]
}

func (t *transaction) appendSignature(ctx context.Context, out []byte, sig *signature) ([]byte, error) {
	if sig.schnorr {
		return t.appendSchnorr(ctx, out, sig)
	}
	signer, err := keystore.AsECDSA(sig.by.signer)
	if err != nil {
		return nil, err
	}
	digest, err := t.ecdsaDigest(sig.in, sig.in.sighash)
	if err != nil {
		return nil, err
	}
	// Transactions have the size that other wallets reckon with, as Bitcoin Core's do: their
	// signatures have a low r if the key can make one. Messages pay no fee.
	var made [65]byte
	if t.message == nil {
		made, err = keystore.SignLowR(ctx, signer, digest)
	} else {
		made, err = signer.SignECDSA(ctx, digest)
	}
	if err != nil {
		return nil, err
	}
	var r, s btcec.ModNScalar
	r.SetByteSlice(made[:32])
	s.SetByteSlice(made[32:64])
	return append(append(out, ecdsa.NewSignature(&r, &s).Serialize()...), sig.in.sighash), nil
}

// maxPartialSig is the longest DER signature with a low s, and the sighash type.
const maxPartialSig = 72

func (t *transaction) appendSchnorr(ctx context.Context, out []byte, sig *signature) ([]byte, error) {
	signer, err := keystore.AsSchnorr(sig.by.signer)
	if err != nil {
		return nil, err
	}
	var leafHash []byte
	if sig.leaf != nil {
		leafHash = sig.leaf.hash[:]
	}
	digest, err := t.taprootDigest(sig.in, sig.in.sighash, leafHash)
	if err != nil {
		return nil, err
	}
	made, err := signer.SignSchnorr(ctx, digest, sig.tweak)
	if err != nil {
		return nil, err
	}
	out = append(out, made[:]...)
	if sig.in.sighash != sighashDefault {
		out = append(out, sig.in.sighash)
	}
	return out, nil
}
