package messages

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// asPayload is a transaction whose bytes came as a payload: it is read, shown and
// judged as any other, and only its signature is answered.
type asPayload struct{ chains.Transaction }

var _ chains.Caller = asPayload{}

// Calls implements chains.Caller: those of the transaction.
func (p asPayload) Calls() []chains.Call {
	caller, ok := p.Transaction.(chains.Caller)
	if !ok {
		return nil
	}
	return caller.Calls()
}

// Request implements chains.Transaction.
func (p asPayload) Request(signWith string) (chains.Request, error) {
	request, err := p.Transaction.Request(signWith)
	if err != nil {
		return nil, err
	}
	return payloadRequest{request}, nil
}

type payloadRequest struct{ chains.Request }

// With implements chains.Request. One key signs.
func (r payloadRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	signing, err := r.Request.With(keys...)
	if err != nil {
		return nil, err
	}
	alone, ok := signing.(chains.SignatureAppender)
	if ids := signing.KeyIDs(); !ok || len(ids) != 1 {
		return nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name,
			Problem: fmt.Sprintf("%d keys would sign, and one signature is answered: name one key by its address or id", len(ids))}
	}
	return payloadSigning{signing, alone}, nil
}

type payloadSigning struct {
	chains.Signing
	alone chains.SignatureAppender
}

// AppendSigned implements chains.Signing: the signature alone.
func (s payloadSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	return s.alone.AppendSignature(ctx, dst)
}
