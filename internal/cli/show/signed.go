package show

import (
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
)

// withoutSignature removes the signature from a transaction of a chain whose unsigned
// transactions have none: see [chains.Forms]. isSigned is false of other chains.
func withoutSignature(kind activity.TransactionType, raw []byte, limits all.Limits) (unsigned []byte,
	signers []string, isSigned bool, err error) {
	chain, err := all.Of(kind, limits)
	if err != nil {
		return nil, nil, false, err
	}
	if unsign := chain.Words().Forms.Unsign; unsign != nil {
		return unsign(raw)
	}
	return nil, nil, false, nil
}

// SignersIn returns the addresses that a summary shows as having signed. On Tron they are
// recovered from the signatures; on Solana the signatures are verified.
func SignersIn(fields []chains.Field) (signers []string) {
	for i := range fields {
		field := &fields[i]
		switch {
		case field.Label == "signed by":
			signers = append(signers, field.Value)
		case strings.HasPrefix(field.Label, "signer ") && strings.HasPrefix(field.Note, signedNote):
			signers = append(signers, field.Value)
		case field.Label == "signers":
			signers = append(signers, SignersIn(field.Fields)...)
		}
	}
	return signers
}

// signedNote begins the note of a signer in Solana's summary whose signature is present.
const signedNote = "signed"
