package solanamsg

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/keystore"
)

// named is an off-chain message. Only the signers that it names may sign it.
type named struct {
	*statement.Message
	signers [][32]byte
}

// Request implements chains.Transaction.
func (n *named) Request(signWith string) (chains.Request, error) {
	request, err := n.Message.Request(signWith)
	if err != nil {
		return nil, err
	}
	return &namedRequest{request, n.signers}, nil
}

type namedRequest struct {
	chains.Request
	signers [][32]byte
}

// With implements chains.Request.
func (r *namedRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	named := slices.DeleteFunc(slices.Clone(keys), func(key keystore.Key) bool {
		return key.PublicKey().Curve() == keystore.CurveEd25519 && !slices.Contains(r.signers, key.PublicKey().Ed25519())
	})
	if len(named) == 0 {
		return nil, &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: "the message names other signers than this key"}
	}
	return r.Request.With(named...)
}
