package intents

import (
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Members of a request to sign, as errors name them.
const (
	FieldSignWith     = "signWith"
	FieldTransaction  = "unsignedTransaction"
	FieldTransactions = "transactions"
	FieldType         = "type"
	FieldPayload      = "payload"
)

// SignWith returns what an intent signs with, or "" if that is not one thing.
func SignWith(intent activity.Intent) string {
	switch intent := intent.(type) {
	case activity.SignTransactionIntent:
		return intent.SignWith
	case activity.SignRawPayloadIntent:
		return intent.SignWith
	case activity.SignRawPayloadsIntent:
		return intent.SignWith
	}
	return ""
}

// hashSize is the size of what transactions are hashed to, in bytes: no transaction is as short.
const hashSize = 32

// Read reads a transaction of a type from hex. The error is an *activity.Error.
func (t Table) Read(kind activity.TransactionType, unsigned string) (chains.Transaction, error) {
	chain, err := t.Of(kind)
	if err != nil {
		return nil, err
	}
	raw, err := chains.DecodeHex(unsigned)
	if err != nil {
		return nil, activity.NewError(activity.ReasonInvalidTransaction, FieldTransaction,
			errors.Join(chains.ErrMalformed, err),
			"%s: %v; %s expects %s", FieldTransaction, err, chain.Name(), chain.Expects())
	}
	tx, err := chain.Parse(raw)
	if err != nil && len(raw) == hashSize {
		err = fmt.Errorf("%w; 32 bytes are a hash: send the transaction itself", err)
	}
	if err != nil {
		return nil, Refuse(err)
	}
	return tx, nil
}

// IsMessage reports whether an intent is about messages.
func IsMessage(intent activity.Intent) bool {
	switch intent.(type) {
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		return true
	}
	return false
}

// Refuse translates an error of a chain about a transaction or its signer into an
// *activity.Error. Any other error is returned as it is.
func Refuse(err error) error {
	var parse *chains.ParseError
	var signer *chains.SignerError
	switch {
	case errors.As(err, &parse) && errors.Is(parse, chains.ErrUnsupported):
		return activity.NewError(activity.ReasonUnsupportedTransactionType, FieldTransaction, err, "%v", err)
	case errors.As(err, &parse):
		return activity.NewError(activity.ReasonInvalidTransaction, FieldTransaction, err, "%v", err)
	case errors.As(err, &signer) && errors.Is(signer, chains.ErrNotSigner):
		return activity.NewError(activity.ReasonNotFound, FieldSignWith, err, "%v", err)
	case errors.As(err, &signer), errors.Is(err, keystore.ErrUnsupported):
		return activity.NewError(activity.ReasonRequestInvalid, FieldSignWith, err, "%v", err)
	}
	return err
}
