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

// recover recovers the signers of all authorizations, which is most of the work that a
// transaction of this type can cost.
func (a authorizations) recover(raw []byte) []recovered {
	signers := make([]recovered, 0, a.count)
	for _, authorization := range a.all(raw) {
		signer, ok := authorization.authority(raw)
		signers = append(signers, recovered{signer, ok})
	}
	return signers
}

// authorization is one tuple: its signer lets the delegate's code run at the signer's
// address.
//
//	[chainId, address, nonce, yParity, r, s]
type authorization struct {
	chainID  rlp.Span    // empty, 0: on every chain
	delegate evm.Address // zero: the delegation ends
	nonce    uint64
	yParity  uint8
	r, s     rlp.Span
	signed   rlp.Span // items chainId, address, nonce
}

func (tx *transaction) readAuthorizations(f *rlp.Fields) {
	offset, count := f.At(), int32(0)
	list := f.List("authorizationList")
	for list.More() {
		a := readAuthorization(&list)
		if count++; a.anyChain() && tx.authorizations.anyChain == 0 {
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
	read.signers = sync.OnceValue(func() []recovered { return all.recover(raw) })
}

func readAuthorization(list *rlp.Fields) (a authorization) {
	tuple := list.List("authorization")
	start := tuple.At()
	a.chainID = tuple.Uint256("chainId")
	a.delegate = tuple.Address("address")
	a.nonce = tuple.Uint64("nonce")
	a.signed = rlp.Between(start, tuple.At())
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

// anyChain reports whether the authorization is valid on every chain.
func (a *authorization) anyChain() bool { return a.chainID.Len() == 0 }

// skipped returns why the network skips a tuple in a transaction of a chain, empty if
// nothing in the bytes makes it do so (EIP-7702, "Behavior").
func (a *authorization) skipped(chainID uint64, raw []byte) string {
	switch id := a.chainID.Uint256(raw); {
	case !a.anyChain() && (!id.IsUint64() || id.Uint64() != chainID):
		return "for another chain: the network skips this authorization here"
	case a.nonce == math.MaxUint64:
		return "nonce 2^64−1: the network skips this authorization"
	}
	return ""
}

// authority recovers the address that signed the authorization. ok is false if
// the signature is invalid; the network skips such a tuple.
func (a *authorization) authority(raw []byte) (authority evm.Address, ok bool) {
	return evm.Recover(evm.AuthorizationHash(a.signed.Of(raw)), a.yParity, a.r.Uint256(raw), a.s.Uint256(raw))
}
