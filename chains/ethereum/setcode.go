package ethereum

import (
	"iter"
	"math"
	"sync"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// authorizations are the tuples of EIP-7702. They were read and are not kept: the
// summary reads them again.
type authorizations struct {
	list     rlp.Span // header included; empty if the type has none
	count    int
	anyChain int32              // the first that is valid on every chain, counted from 1; 0 if none is
	signers  func() []recovered // of each; recovered once
}

// recovered is the address that signed an authorization; ok is false if the signature is
// invalid, and the network skips the authorization.
type recovered struct {
	signer evm.Address
	ok     bool
}

// authorization is one tuple: its signer lets the delegate's code run at the signer's address.
//
//	[chainId, address, nonce, yParity, r, s]
type authorization struct {
	evm.Authorization
	yParity uint8
	r, s    rlp.Span
}

func (tx *transaction) readAuthorizations(f *rlp.Fields) {
	offset, count := f.At(), int32(0)
	list := f.List("authorizationList")
	for list.More() {
		a := readAuthorization(&list)
		if count++; a.AnyChain() && tx.authorizations.anyChain == 0 {
			tx.authorizations.anyChain = count
		}
	}
	f.Join(&list)
	if count == 0 {
		f.Fail("authorizationList", offset, "is empty: a transaction of type 4 has at least one authorization")
	}
	read := &tx.authorizations
	read.list, read.count = rlp.Between(offset, f.At()), int(count)
	raw, all := tx.raw, *read
	// To recover the signers is most of the work that a transaction of this type can cost.
	read.signers = sync.OnceValue(func() []recovered {
		signers := make([]recovered, 0, all.count)
		for _, a := range all.all(raw) {
			signer, ok := evm.Recover(a.Hash(raw), a.yParity, a.r.Uint256(raw), a.s.Uint256(raw))
			signers = append(signers, recovered{signer, ok})
		}
		return signers
	})
}

func readAuthorization(list *rlp.Fields) (a authorization) {
	tuple := list.List("authorization")
	a.Authorization = evm.ReadAuthorization(&tuple)
	a.yParity, a.r, a.s = tuple.Uint8("yParity"), tuple.Uint256("r"), tuple.Uint256("s")
	list.Join(&tuple)
	return a
}

// all yields the authorizations, counted from 1.
func (a authorizations) all(raw []byte) iter.Seq2[int, authorization] {
	return func(yield func(int, authorization) bool) {
		if a.list.Len() == 0 {
			return
		}
		list := rlp.Open(Name, raw[:a.list.End], int(a.list.Start))
		for number := 1; list.More(); number++ {
			if !yield(number, readAuthorization(&list)) {
				return
			}
		}
	}
}

// skipped returns why the network skips a tuple in a transaction of a chain, empty if
// nothing in the bytes makes it do so (EIP-7702, "Behavior").
func (a *authorization) skipped(chainID uint64, raw []byte) string {
	if skipped := a.Skipped(chainID, raw); skipped != "" || a.Nonce != math.MaxUint64 {
		return skipped
	}
	return "nonce 2^64−1: the network skips this authorization"
}
