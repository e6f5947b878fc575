package bitcoin

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// AppendSigned implements chains.Signing: it appends the PSBT with the
// signatures of all keys. Those that are there already stay; if all are, the
// PSBT is appended as it is. Either all signatures are made or none leaves.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	insertions := make([]psbt.Insertion, 0, len(s.tasks)+1)
	for i := range s.tasks {
		k := &s.tasks[i]
		recordKey := k.key()
		if k.done(recordKey) {
			continue
		}
		value, err := s.tx.sign(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("%s: input %d: %w", Name, k.in.index, err)
		}
		insertions = append(insertions, psbt.Insertion{
			At:    k.in.InsertAt(recordKey),
			Bytes: psbt.AppendRecord(make([]byte, 0, len(recordKey)+len(value)+2), recordKey, value),
		})
	}
	if change, ok := s.tx.modifiable(s.tasks); ok {
		insertions = append(insertions, change)
	}
	return psbt.AppendSpliced(dst, s.tx.packet.Raw, insertions), nil
}

// sign makes one signature, as the value of its record.
func (t *transaction) sign(ctx context.Context, k *task) ([]byte, error) {
	if k.schnorr {
		return t.signSchnorr(ctx, k)
	}
	signer, err := keystore.AsECDSA(k.by.signer)
	if err != nil {
		return nil, err
	}
	digest, err := t.ecdsaDigest(k.in, k.in.sighash)
	if err != nil {
		return nil, err
	}
	signature, err := signer.SignECDSA(ctx, digest)
	if err != nil {
		return nil, err
	}
	value := appendDER(make([]byte, 0, maxPartialSig), signature[:32], signature[32:64])
	return append(value, k.in.sighash), nil
}

// maxPartialSig is the longest DER signature with a low s, and the sighash type.
const maxPartialSig = 72

func (t *transaction) signSchnorr(ctx context.Context, k *task) ([]byte, error) {
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
	value := append(make([]byte, 0, 65), signature[:]...)
	if k.in.sighash != sighashDefault {
		value = append(value, k.in.sighash)
	}
	return value, nil
}
