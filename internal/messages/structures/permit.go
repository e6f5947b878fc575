package structures

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// The token standards, as effects name them.
const (
	erc20   = "erc20"
	erc721  = "erc721"
	erc1155 = "erc1155"
)

// permits are approvals and transfers by signature, of the token that verifies them.
var permits = []structure{
	{"Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)", permit2612},
	{"Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)", permitDAI},
	{"Permit(address spender,uint256 tokenId,uint256 nonce,uint256 deadline)", permitNFT},
	{"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)", authorization3009},
	{"ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)", authorization3009},
	{"CancelAuthorization(address authorizer,bytes32 nonce)", cancel3009},
}

// verifyingToken returns the domain's contract as a token; ok is false if it names none.
func (r *reading) verifyingToken(standard string) (asset chains.Asset, ok bool) {
	if r.domain.contract == nil {
		return asset, false
	}
	return chains.Token(r.domain.network(), ethereum.PartyAt(*r.domain.contract), standard), true
}

// permit2612 adds the allowance of an ERC-2612 permit.
func permit2612(r *reading) {
	asset, ok := r.verifyingToken(erc20)
	if !ok {
		return
	}
	index := r.approve(party(r.field("owner")), r.field("spender"), asset, r.field("value").Int, "message")
	if r.effects[index].Kind == chains.KindRevoke {
		return
	}
	r.deadline(r.field("deadline"), index)
}

// approve adds an allowance, or its revocation if the value is 0.
func (r *reading) approve(from chains.Party, spender *eip712.Value, asset chains.Asset, value *big.Int, path string) int {
	effect := chains.Effect{Kind: chains.KindApprove, From: from, To: party(spender), Asset: asset, Amount: chains.Exactly(value), Path: path}
	switch {
	case value.Sign() == 0:
		effect.Kind, effect.Amount = chains.KindRevoke, chains.Quantity{}
	case evm.IsUnlimited(asset, value):
		effect.Amount = chains.Unlimited(value)
	}
	index := r.addFrom(effect)
	if effect.Amount.Bound == chains.BoundUnlimited {
		r.danger(HazardUnlimitedApproval, index, "%s may take all of %[3]s's token %[2]s, now and later", effect.To, asset.Token, from)
	}
	return index
}

// permitDAI adds the allowance of DAI's permit, which is all or nothing. An expiry of 0
// means none.
func permitDAI(r *reading) {
	value := new(big.Int)
	if r.field("allowed").Bool {
		value.Lsh(big.NewInt(1), 256).Sub(value, big.NewInt(1))
	}
	asset, ok := r.verifyingToken(erc20)
	if !ok {
		return
	}
	index := r.approve(party(r.field("holder")), r.field("spender"), asset, value, "message")
	if value.Sign() == 0 {
		return // it takes the permission back, whenever that is
	}
	if expiry := r.field("expiry"); expiry.Int.Sign() == 0 {
		r.danger(HazardFarDeadline, index, "it ends never: an expiry of 0 means none")
	} else {
		r.deadline(expiry, index)
	}
}

// permitNFT adds the approval of a permit by ERC-4494, or of a Uniswap position. The
// message does not name the owner of the token.
func permitNFT(r *reading) {
	asset, ok := r.verifyingToken(erc721)
	if !ok {
		return
	}
	asset.NFT = r.field("tokenId").Int
	index := r.add(chains.Effect{Kind: chains.KindApprove, From: chains.SignerParty(), To: party(r.field("spender")), Asset: asset,
		Amount: chains.ExactlyUint(1), Path: "message"})
	r.deadline(r.field("deadline"), index)
}

// authorization3009 adds the transfer of an ERC-3009 authorization, which anyone may
// submit, or with Receive only the recipient.
func authorization3009(r *reading) {
	asset, ok := r.verifyingToken(erc20)
	if !ok {
		return
	}
	index := r.addFrom(chains.Effect{Kind: chains.KindTransfer, From: party(r.field("from")), To: party(r.field("to")), Asset: asset,
		Amount: chains.Exactly(r.field("value").Int), Path: "message"})
	r.effects[index].Until = r.deadline(r.field("validBefore"), index)
}

// cancel3009 cancels an ERC-3009 authorization by using up its nonce.
func cancel3009(r *reading) {
	asset, ok := r.verifyingToken(erc20)
	if !ok {
		return
	}
	r.addFrom(chains.Effect{Kind: chains.KindSettings, From: party(r.field("authorizer")), Account: party(r.field("authorizer")), Asset: asset, Path: "message"})
}
