package tempo

import (
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// authorization delegates an account to code, as in EIP-7702, with a signature of any
// of Tempo's kinds:
//
//	[chainId, address, nonce, signature]
type authorization struct {
	evm.Authorization
	signature envelope
}

func (tx *transaction) readAuthorizations(f *rlp.Fields) {
	if f.SkipEmptyList() {
		return
	}
	offset := f.At()
	list := f.List("authorizationList")
	switch count := list.Count(); {
	case count > maxAuthorizations:
		f.Fail("authorizationList", offset, "%d authorizations: %d at most", count, maxAuthorizations)
	case count > 0:
		tx.authorizations = make([]authorization, 0, count)
	}
	for f.Err() == nil && list.More() {
		tuple := list.List("authorization")
		a := authorization{Authorization: evm.ReadAuthorization(&tuple)}
		a.signature = readEnvelope(&tuple, "signature", tx.raw, true)
		list.Join(&tuple)
		tx.authorizations = append(tx.authorizations, a)
	}
	f.Join(&list)
	if len(tx.authorizations) > 0 && tx.calls.creates {
		f.Fail("authorizationList", offset, "a transaction that creates a contract has no authorizations")
	}
}
