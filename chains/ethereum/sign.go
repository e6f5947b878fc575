package ethereum

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
	"github.com/countersign-dev/countersign/keystore"
)

func (tx *transaction) Ready(with evm.Signing, _ keystore.Key) (chains.Signing, error) {
	return &signing{with, tx}, nil
}

type signing struct {
	evm.Signing
	tx *transaction
}

func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.Key.SignECDSA(ctx, s.tx.preimageHash())
	if err != nil {
		return nil, err
	}
	return s.tx.splice(dst, &signature), nil
}

// preimageHash returns Keccak-256 over what is signed: the raw bytes if they are the
// preimage, or else type ‖ list header ‖ items, with the bytes of the items that came
// in.
func (tx *transaction) preimageHash() [32]byte {
	if tx.whole {
		return evm.Keccak256(tx.raw)
	}
	var room [1 + rlp.MaxListHeader]byte
	header := rlp.AppendListHeader(append(room[:0], tx.kind), tx.items.Len())
	return evm.Keccak256(header, tx.items.Of(tx.raw))
}

// splice appends the items followed by the signature r ‖ s ‖ v, with headers that count
// it:
//
//	legacy        header ‖ items ‖ v ‖ r ‖ s
//	typed         type ‖ header ‖ items ‖ yParity ‖ r ‖ s
//	network form  type ‖ header ‖ (header ‖ items ‖ yParity ‖ r ‖ s) ‖ sidecar
func (tx *transaction) splice(dst []byte, signature *[65]byte) []byte {
	r, s, v := signature[:32], signature[32:64], tx.v(signature[64])
	body := tx.items.Len() + rlp.UintSize(v) + rlp.ScalarSize(r) + rlp.ScalarSize(s)

	out := slices.Grow(dst, 1+2*rlp.MaxListHeader+body+tx.sidecar.Len())
	if tx.kind != typeLegacy {
		out = append(out, tx.kind)
	}
	if tx.sidecar.Len() > 0 {
		out = rlp.AppendListHeader(out, rlp.ListHeaderSize(body)+body+tx.sidecar.Len())
	}
	out = rlp.AppendListHeader(out, body)
	out = append(out, tx.items.Of(tx.raw)...)
	out = rlp.AppendUint(out, v)
	out = rlp.AppendScalar(out, r)
	out = rlp.AppendScalar(out, s)
	return append(out, tx.sidecar.Of(tx.raw)...)
}

// v returns the recovery id in the encoding of the transaction's type.
func (tx *transaction) v(recoveryID byte) uint64 {
	switch {
	case tx.kind != typeLegacy:
		return uint64(recoveryID)
	case tx.chainID == 0:
		return 27 + uint64(recoveryID)
	}
	return tx.chainID*2 + 35 + uint64(recoveryID)
}
