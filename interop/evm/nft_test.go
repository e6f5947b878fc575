package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// TestPermit2MovesNFT: Permit2 calls transferFrom of whatever token a permit names, which of an NFT
// takes its number. A permit of 0 is one of number 0, and no revocation.
func TestPermit2MovesNFT(t *testing.T) {
	zero, deadline := new(big.Int), now+100
	for name, moves := range map[string]func(w *world) (typed map[string]any){
		"an allowance": func(w *world) map[string]any {
			details := []any{w.erc721, zero, deadline, 0}
			signature := w.allowed(w.signer, "PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)"+permitDetails,
				common.BytesToHash(structHash(permitDetails, details...)), w.other, deadline)
			w.must(t, w.other, permit2, 0, call("permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
				append(append([]any{w.signer}, details...), w.other, deadline, 256, signature)...))
			w.must(t, w.other, permit2, 0, call("transferFrom(address,address,uint160,address)", w.signer, w.other, zero, w.erc721))
			typed := typedData("PermitSingle", "PermitDetails details,address spender,uint256 sigDeadline", permit2Domain, map[string]any{
				"details": map[string]any{"token": w.erc721.Hex(), "amount": 0, "expiration": deadline, "nonce": 0}, "spender": w.other.Hex(), "sigDeadline": deadline})
			typed["types"].(map[string]any)["PermitDetails"] = typedData("", "address token,uint160 amount,uint48 expiration,uint48 nonce", permit2Domain, nil)["types"].(map[string]any)[""]
			return typed
		},
		"a transfer": func(w *world) map[string]any {
			signature := w.allowed(w.signer, "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)"+tokenPermissions,
				common.BytesToHash(structHash(tokenPermissions, w.erc721, zero)), w.other, 7, deadline)
			w.must(t, w.other, permit2, 0, call("permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)",
				w.erc721, zero, 7, deadline, w.other, zero, w.signer, 256, signature))
			typed := typedData("PermitTransferFrom", "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline", permit2Domain, map[string]any{
				"permitted": map[string]any{"token": w.erc721.Hex(), "amount": 0}, "spender": w.other.Hex(), "nonce": 7, "deadline": deadline})
			typed["types"].(map[string]any)["TokenPermissions"] = typedData("", "address token,uint256 amount", permit2Domain, nil)["types"].(map[string]any)[""]
			return typed
		},
	} {
		w := newWorld(t)
		w.must(t, w.signer, w.erc721, 0, call("setApprovalForAll(address,bool)", permit2, true))
		effects := read(t, moves(w)).Effects()
		if owner := w.view(w.state, w.erc721, "ownerOf(uint256)", zero); common.BigToAddress(owner) != w.other {
			t.Errorf("%s: number 0 is of %x", name, owner)
		}
		if len(effects) != 1 || effects[0].Kind != chains.KindApprove || effects[0].Amount.Value.Sign() != 0 || effects[0].Amount.Bound != chains.BoundExact {
			t.Errorf("%s: read as %+v", name, effects)
		}
	}
}

var permit2Domain = map[string]any{"name": "Permit2", "chainId": 1, "verifyingContract": permit2.Hex()}
