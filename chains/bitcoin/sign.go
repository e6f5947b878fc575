package bitcoin

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// AppendSigned implements chains.Transaction: it appends the PSBT with the
// signatures that the key can make for signWith. Signatures of this key that are
// there already stay; if all are, the PSBT is appended as it is. Either all
// signatures are made or none leaves.
func (t *Transaction) AppendSigned(ctx context.Context, dst []byte, key keystore.Key, signWith string) ([]byte, error) {
	tasks, err := t.plan(key, signWith)
	if err != nil {
		return nil, err
	}
	m := t.match(key.PublicKey())
	insertions := make([]psbt.Insertion, 0, len(tasks))
	for i := range tasks {
		recordKey := tasks[i].key(m)
		if tasks[i].done(recordKey) {
			continue
		}
		value, err := t.sign(ctx, key, &tasks[i])
		if err != nil {
			return nil, fmt.Errorf("%s: input %d: %w", Name, tasks[i].in.index, err)
		}
		insertions = append(insertions, psbt.Insertion{
			At:    tasks[i].in.InsertAt(recordKey),
			Bytes: psbt.AppendRecord(make([]byte, 0, len(recordKey)+len(value)+2), recordKey, value),
		})
	}
	if change, ok := t.modifiable(tasks); ok {
		insertions = append(insertions, change)
	}
	return psbt.AppendSpliced(dst, t.packet.Raw, insertions), nil
}

// sign makes one signature, as the value of its record.
func (t *Transaction) sign(ctx context.Context, key keystore.Key, k *task) ([]byte, error) {
	if k.schnorr {
		return t.signSchnorr(ctx, key, k)
	}
	signer, err := keystore.AsECDSA(key)
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

func (t *Transaction) signSchnorr(ctx context.Context, key keystore.Key, k *task) ([]byte, error) {
	signer, err := keystore.AsSchnorr(key)
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
