package tron

import (
	"context"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// signatureSize is the length of a signature: r ‖ s ‖ v.
const signatureSize = 65

// vOffset is added to the recovery id in the last byte, as by TronWeb. The network also
// accepts the bare recovery id, which some devices write.
const vOffset = 27

// signatureHeader precedes each signature: field 2, 65 bytes.
var signatureHeader = [2]byte{2<<3 | 2, signatureSize}

type signing struct {
	tx      *transaction
	key     keystore.ECDSASigner
	id      string
	address address
}

func (s *signing) KeyIDs() []string { return []string{s.id} }

// Effects implements chains.Signing: the bytes name every party.
func (s *signing) Effects() []chains.Effect { return s.tx.Effects() }

// SignerView implements chains.Signing: the signer, and whether that is the owner.
func (s *signing) SignerView() []chains.Field {
	field := chains.AddressField("signer", s.address.String())
	if s.address == s.tx.owner {
		return []chains.Field{field.WithNote("the owner")}
	}
	return []chains.Field{field.WithNote("not the owner: a co-signer, if the account's permission names it")}
}

func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.key.SignECDSA(ctx, s.tx.id)
	if err != nil {
		return nil, err
	}
	signature[64] += vOffset
	// 0a len raw_data ‖ (12 41 signature)… ‖ 12 41 signature. raw_data and the earlier signatures
	// are the bytes that came in.
	out := slices.Grow(dst, s.tx.signedSize())
	if !s.tx.whole {
		out = append(out, 1<<3|2)
		out = protowire.AppendVarint(out, uint64(len(s.tx.raw)))
	}
	out = append(out, s.tx.raw...)
	out = append(out, signatureHeader[:]...)
	return append(out, signature[:]...), nil
}

func (s *signing) AppendSignature(ctx context.Context, dst []byte) ([]byte, error) {
	signature, err := s.key.SignECDSA(ctx, s.tx.id)
	if err != nil {
		return nil, err
	}
	return append(dst, signature[:]...), nil
}
