package bitcoin

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/chains/bitcoin/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// Sign implements chains.Transaction: the PSBT with the signatures that the
// key can make for signWith, in a new slice. Signatures of this key that are
// there already stay; if all are, the PSBT comes back as it is. Either all
// signatures are made or none leaves.
func (t *Transaction) Sign(ctx context.Context, key keystore.Key, signWith string) ([]byte, error) {
	tasks, err := t.plan(key, signWith)
	if err != nil {
		return nil, err
	}
	m := t.match(key.PublicKey())
	insertions := make([]psbt.Insertion, 0, len(tasks)+1)
	made := byte(0)
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
		made |= locks(tasks[i].in.sighash)
	}
	insertions = t.lockModifiable(insertions, made)
	return psbt.Splice(t.packet.Raw, insertions), nil
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

// Bits of PSBT_GLOBAL_TX_MODIFIABLE (BIP-370).
const (
	inputsModifiable  = 1 << 0
	outputsModifiable = 1 << 1
	hasSighashSingle  = 1 << 2
)

// locks returns which of those bits a signature decides: inputs unless anyone
// can pay, outputs unless it signs none; and a third for SIGHASH_SINGLE.
func locks(sighash byte) (bits byte) {
	if sighash&sighashAnyoneCanPay == 0 {
		bits |= inputsModifiable
	}
	if sighash&sighashOutputs != sighashNone {
		bits |= outputsModifiable
	}
	if sighash&sighashOutputs == sighashSingle {
		bits |= hasSighashSingle
	}
	return bits
}

// lockModifiable does what BIP-370 has a signer do in a PSBT of version 2 that
// says what of it may still be changed: inputs and outputs that a signature
// commits to no longer may.
func (t *Transaction) lockModifiable(insertions []psbt.Insertion, made byte) []psbt.Insertion {
	record := t.packet.Global.Find(psbt.GlobalTxModifiable)
	if record == nil || t.packet.Version != psbt.Version2 {
		return insertions
	}
	flags := record.Value[0]&^(made&(inputsModifiable|outputsModifiable)) | made&hasSighashSingle
	if flags == record.Value[0] {
		return insertions
	}
	return append(insertions, psbt.Insertion{At: record.ValueOffset(), Replace: 1, Bytes: []byte{flags}})
}
