package ethereum

import (
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/chains/internal/rlp"
)

// authorization is one tuple of EIP-7702: its signer lets the delegate's code
// run at the signer's address.
//
//	[chainId, address, nonce, yParity, r, s]
type authorization struct {
	chainID  uint256.Int // 0: on every chain
	delegate evm.Address // zero: the delegation ends
	nonce    uint64
	yParity  uint8
	r, s     uint256.Int
	signed   rlp.Span // items chainId, address, nonce
}

func (tx *transaction) readAuthorizations(f *rlp.Fields) {
	at := f.At()
	list := f.List("authorizationList")
	for list.More() {
		tuple := list.List("authorization")
		start := tuple.At()
		a := authorization{
			chainID:  tuple.Uint256("chainId"),
			delegate: tuple.Address("address"),
			nonce:    tuple.Uint64("nonce"),
		}
		a.signed = rlp.Span{Start: start, End: tuple.At()}
		a.yParity, a.r, a.s = tuple.Uint8("yParity"), tuple.Uint256("r"), tuple.Uint256("s")
		list.Join(&tuple)
		tx.authorizations = append(tx.authorizations, a)
	}
	f.Join(&list)
	if len(tx.authorizations) == 0 {
		f.Fail("authorizationList", at, "is empty: a transaction of type 4 has at least one authorization")
	}
}

// authority recovers who signed the authorization. Not ok: nobody, and the
// network skips the tuple.
func (a *authorization) authority(raw []byte) (authority evm.Address, ok bool) {
	return evm.Recover(evm.AuthorizationHash(a.signed.Of(raw)), a.yParity, a.r, a.s)
}
