package evm

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// deployVault deploys a vault, in which a share is worth more than one unit of the token,
// and gives the signer and the Safe shares.
func (w *world) deployVault(t *testing.T) {
	w.vault = w.deploy(t, w.signer, w.own("Vault"), w.token)
	w.tokens[w.vault] = erc20
	some := big.NewInt(1e12)
	for _, at := range []common.Address{w.signer, w.safe} {
		w.must(t, w.signer, w.token, 0, call("approve(address,uint256)", w.vault, some))
		w.must(t, w.signer, w.vault, 0, call("deposit(uint256,address)", some, at))
	}
	w.must(t, w.signer, w.token, 0, call("transfer(address,uint256)", w.vault, big.NewInt(7e11)))
	w.must(t, w.signer, w.token, 0, call("approve(address,uint256)", w.vault, big.NewInt(1e15)))
	w.must(t, w.signer, w.safe, 0, w.safeCall(w.token, new(big.Int), call("approve(address,uint256)", w.vault, big.NewInt(1e15)), 0).data)
}

// ofVault returns a draw of calls of a vault, by the signer or by the Safe, each for itself.
func ofVault(signature string, most int64) draw {
	return draw{"ERC-4626 " + signature, func(w *world, r *random) execution {
		byVault := func(account common.Address) []byte {
			args := []any{r.amount(most)}
			for range strings.Count(signature, "address") {
				args = append(args, account)
			}
			return call(signature, args...)
		}
		if r.coin() {
			return w.safeCall(w.vault, new(big.Int), byVault(w.safe), 0)
		}
		return execution{to: w.vault, value: new(big.Int), data: byVault(w.signer)}
	}}
}

var vaultDraws = []draw{
	ofVault("deposit(uint256,address)", 1e9),
	ofVault("mint(uint256,address)", 1e9),
	ofVault("withdraw(uint256,address,address)", 1e6),
	ofVault("redeem(uint256,address,address)", 1e6),
}

// nameAsset fills in what the bytes of a vault's call do not say: its asset.
func (w *world) nameAsset(effects []chains.Effect) {
	for i := range effects {
		if e := &effects[i]; e.Asset.IsUnknown() && e.To.Is(w.vault[:]) {
			e.Asset.Token = chains.PartyWritten(w.token[:], "")
		}
	}
}

// inVault reports whether an effect changes what a contract records of the vault's assets
// or shares.
func (c *comparison) inVault(e *chains.Effect, contract common.Address) bool {
	return contract == c.vault && e.To.Is(c.vault[:]) || contract == c.token && c.isRedeemed(e)
}

func (c *comparison) isRedeemed(e *chains.Effect) bool {
	return e.Kind == chains.KindUnstake && e.Asset.Token.Is(c.vault[:])
}

// vaulted adds what the vault gives for an effect, which says nothing of it: shares, or
// assets, to the account that the effect is from.
func (c *comparison) vaulted(flows map[book]*flow, e *chains.Effect) {
	of := common.BytesToAddress(e.From.Address())
	switch {
	case e.Kind == chains.KindTransfer && e.To.Is(c.vault[:]):
		gains(flows, book{c.vault, "", of})
	case c.isRedeemed(e):
		flows[book{c.token, "", c.vault}] = &flow{open: true}
		gains(flows, book{c.token, "", of})
	}
}

// gains lets a book grow by any amount.
func gains(flows map[book]*flow, b book) {
	if flows[b] == nil {
		flows[b] = &flow{least: new(big.Int), most: new(big.Int)}
	}
	flows[b].most = new(big.Int).Lsh(big.NewInt(1), 200)
}
