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
	return authorizationHash(rlp.AppendUint(items, nonce))
}

// Authorization has what the signature of a delegation covers (EIP-7702).
type Authorization struct {
	ChainID  rlp.Span // empty, 0: on every chain
	Delegate Address  // zero: the delegation ends
	Nonce    uint64
	signed   rlp.Span // the items
}

// ReadAuthorization reads chainId, address and nonce.
func ReadAuthorization(tuple *rlp.Fields) Authorization {
	start := tuple.At()
	a := Authorization{ChainID: tuple.Uint256("chainId"), Delegate: tuple.Address("address"),
		Nonce: tuple.Uint64("nonce")}
	a.signed = rlp.Between(start, tuple.At())
	return a
}

// AnyChain reports whether the authorization is valid on every chain.
func (a *Authorization) AnyChain() bool { return a.ChainID.Len() == 0 }

// Hash returns the digest that is signed.
func (a *Authorization) Hash(raw []byte) [32]byte { return authorizationHash(a.signed.Of(raw)) }

// Skipped returns why the network skips the authorization in a transaction of a chain,
// regardless of its signer, or nothing if it does not.
func (a *Authorization) Skipped(chainID uint64, raw []byte) string {
	if id := a.ChainID.Uint256(raw); !a.AnyChain() && (!id.IsUint64() || id.Uint64() != chainID) {
		return "for another chain: the network skips this authorization here"
	}
	return ""
}

// Fields shows the delegate, the chain and the nonce.
func (a *Authorization) Fields(raw []byte) []chains.Field {
	delegate := chains.AddressField("delegate", a.Delegate.String())
	if a.Delegate == (Address{}) {
		delegate = delegate.WithNote("ends the delegation")
	}
	chain := chains.Text("chain", "ANY").WithNote("valid on every chain")
	if !a.AnyChain() {
		chain = chains.BigInteger("chain", a.ChainID.Big(raw))
	}
	return []chains.Field{delegate, chain, chains.Integer("nonce", a.Nonce)}
}
