package evm

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Delegation returns what the authorization of an account does by EIP-7702: the code of the
// delegate runs at its address, or, if that is zero, none does any more. In a transaction the
// account's signature is among the bytes; if the account is SignerParty, it is requested.
func (n *Network) Delegation(account chains.Party, delegate Address, path string) chains.Effect {
	effect := chains.Effect{Kind: chains.KindAuthority, From: account, By: chains.ByOther, OtherSigner: account,
		To: n.Party(delegate), Account: account, Path: path}
	if account.IsSigner() {
		effect.By, effect.OtherSigner = chains.BySigner, chains.Party{}
	}
	if delegate == (Address{}) {
		effect.Kind, effect.To = chains.KindRevoke, chains.Party{}
	}
	return effect
}

// DelegationDigest returns what is signed for it.
func DelegationDigest(chainID *big.Int, delegate Address, nonce uint64) [32]byte {
	items := rlp.AppendScalar(nil, chainID.FillBytes(make([]byte, 32)))
	items = append(append(items, 0x80+20), delegate[:]...)
	return AuthorizationHash(rlp.AppendUint(items, nonce))
}
