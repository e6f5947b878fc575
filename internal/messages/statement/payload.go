package statement

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// OfTransaction returns a transaction that was sent as a message. It is shown and judged as a
// transaction, but signing it returns only the signature.
func OfTransaction(tx chains.Transaction) chains.Transaction { return payload{tx} }

type payload struct{ chains.Transaction }

// IsTransaction reports whether a message is a transaction, one of [OfTransaction].
func IsTransaction(message chains.Transaction) bool {
	_, ok := message.(payload)
	return ok
}

var (
	_ chains.Caller    = payload{}
	_ chains.TableUser = payload{}
)

func (p payload) Summary() chains.Summary {
	summary := p.Transaction.Summary()
	summary.Sent = true
	return summary
}

func (p payload) WithTables(reader chains.Reader) (chains.Transaction, chains.Readings) {
	user, ok := p.Transaction.(chains.TableUser)
	if !ok {
		return p, nil
	}
	tx, readings := user.WithTables(reader)
	return payload{tx}, readings
}

func (p payload) Calls() []chains.Call {
	caller, ok := p.Transaction.(chains.Caller)
	if !ok {
		return nil
	}
	return caller.Calls()
}

func (p payload) Request(signWith string) (chains.Request, error) {
	request, err := p.Transaction.Request(signWith)
	if err != nil {
		return nil, err
	}
	return payloadRequest{request}, nil
}

type payloadRequest struct{ chains.Request }

// With implements chains.Request. It refuses unless exactly one key signs.
func (r payloadRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	signing, err := r.Request.With(keys...)
	if err != nil {
		return nil, err
	}
	appender, ok := signing.(chains.SignatureAppender)
	if ids := signing.KeyIDs(); !ok || len(ids) != 1 {
		return nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: "payload",
			Problem: fmt.Sprintf("%d keys would sign, but a payload has one signature: name one key by its "+
				"address or id", len(ids))}
	}
	return payloadSigning{signing, appender}, nil
}

type payloadSigning struct {
	chains.Signing
	appender chains.SignatureAppender
}

func (s payloadSigning) ResolveAccounts(accounts chains.Accounts) {
	chains.ResolveAccounts(s.Signing, accounts)
}

// AppendSigned implements chains.Signing. It appends only the signature.
func (s payloadSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	return s.appender.AppendSignature(ctx, dst)
}
