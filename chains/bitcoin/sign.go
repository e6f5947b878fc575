package bitcoin

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// AppendSigned implements chains.Signing: it appends the PSBT with the signatures of
// all keys. Signatures that the PSBT already has are kept; if it has all of them, it is
// appended unchanged. Either all signatures are made or none leaves.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	insertions := make([]psbt.Insertion, 0, len(s.tasks)+1)
	for i := range s.tasks {
		k := &s.tasks[i]
		if k.done() {
			continue
		}
		var keyRoom [maxRecordKey]byte
		var valueRoom [maxPartialSig]byte
		key := k.appendKey(keyRoom[:0])
		value, err := s.tx.appendSignature(ctx, valueRoom[:0], k)
		if err != nil {
			return nil, fmt.Errorf("%s: input %d: %w", Name, k.in.index, err)
		}
		record := psbt.AppendRecord(make([]byte, 0, 2+len(key)+len(value)), key, value)
		insertions = append(insertions, psbt.Insertion{At: k.in.InsertAt(key), Bytes: record})
	}
	for i := range s.tx.inputs {
		if in := &s.tx.inputs[i]; in.filledIn != nil {
			key := []byte{psbt.InRedeemScript}
			insertions = append(insertions, psbt.Insertion{At: in.InsertAt(key), Bytes: psbt.AppendRecord(nil, key, in.filledIn)})
		}
	}
	if change, ok := s.tx.modifiable(s.tasks); ok {
		insertions = append(insertions, change)
	}
	return psbt.AppendSpliced(dst, s.tx.packet.Raw, insertions), nil
}

// appendSignature appends the signature of a task, as the value of its record.
func (t *transaction) appendSignature(ctx context.Context, out []byte, k *task) ([]byte, error) {
	if k.schnorr {
		return t.appendSchnorr(ctx, out, k)
	}
	signer, err := keystore.AsECDSA(k.by.signer)
	if err != nil {
		return nil, err
	}
	digest, err := t.ecdsaDigest(k.in, k.in.sighash)
	if err != nil {
		return nil, err
	}
	signature, err := t.signECDSA(ctx, signer, digest)
	if err != nil {
		return nil, err
	}
	return append(appendDER(out, signature[:32], signature[32:64]), k.in.sighash), nil
}

// signECDSA makes transactions the size that other wallets reckon with, as Bitcoin Core
// does: their signatures have a low r if the key can make one. Messages pay no fee.
func (t *transaction) signECDSA(ctx context.Context, signer keystore.ECDSASigner, digest [32]byte) ([65]byte, error) {
	if t.message != nil {
		return signer.SignECDSA(ctx, digest)
	}
	return keystore.SignLowR(ctx, signer, digest)
}

// maxPartialSig is the longest DER signature with a low s, and the sighash type.
const maxPartialSig = 72

func (t *transaction) appendSchnorr(ctx context.Context, out []byte, k *task) ([]byte, error) {
	signer, err := keystore.AsSchnorr(k.by.signer)
	if err != nil {
		return nil, err
	}
	var leafHash []byte
	if k.leaf != nil {
		leafHash = k.leaf.hash[:]
	}
	digest, err := t.taprootDigest(k.in, k.in.sighash, leafHash)
	if err != nil {
		return nil, err
	}
	signature, err := signer.SignSchnorr(ctx, digest, k.tweak)
	if err != nil {
		return nil, err
	}
	out = append(out, signature[:]...)
	if k.in.sighash != sighashDefault {
		out = append(out, k.in.sighash)
	}
	return out, nil
}
