package structures

import (
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// safe are the structures of a Safe. Before version 1.3, its domain has no chain id.
var safe = []structure{
	{"SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice," +
		"address gasToken,address refundReceiver,uint256 nonce)", safeTransaction},
	{"SafeMessage(bytes message)", safeMessage},
}

// safeTransaction adds what the Safe does once enough owners have signed.
func safeTransaction(r *reading) {
	if r.domain.contract == nil || !r.field("operation").Int.IsUint64() || r.field("operation").Int.Uint64() > 1 {
		return
	}
	call := ethereum.AccountCall{ChainID: r.domain.id(), Account: *r.domain.contract, To: [20]byte(r.field("to").Bytes),
		Value: r.field("value").Int, Data: r.field("data").Bytes, Delegate: r.field("operation").Int.Uint64() == 1}
	r.call(&call)
	if call.Delegate && !strings.HasPrefix(ethereum.KnownContract(call.ChainID, call.To), "MultiSend") {
		r.danger(HazardDelegatecall, whole, "the code of %s runs as the Safe and may do anything with it", ethereum.PartyAt(call.To))
	}
	if r.field("gasPrice").Int.Sign() > 0 {
		r.refund(call.Account)
	}
}

// call adds the effects and the fields of an account's call.
func (r *reading) call(call *ethereum.AccountCall) {
	effects, fields := call.Read()
	r.effects = append(r.effects, effects...)
	r.shown = append(r.shown, fields...)
	r.calls = true
}

// refund adds what the Safe pays for gas. The amount depends on the gas used.
func (r *reading) refund(account [20]byte) {
	asset := chains.Native(r.domain.network())
	if token := r.field("gasToken"); [20]byte(token.Bytes) != [20]byte{} {
		asset = r.token(token, erc20)
	}
	effect := chains.Effect{Kind: chains.KindFee, From: ethereum.PartyAt(account), Asset: asset, Amount: chains.UnknownQuantity(), Path: "message/gasPrice"}
	if receiver := r.field("refundReceiver"); [20]byte(receiver.Bytes) != [20]byte{} {
		effect.To = party(receiver)
	}
	r.add(effect)
}

// safeMessage is a message in the name of a Safe, often a hash.
func safeMessage(r *reading) {
	message := r.field("message").Bytes
	index := r.undecoded("a message in the name of a Safe: its meaning depends on the application")
	if len(message) == 32 {
		r.danger(HazardHiddenContents, index, "the Safe's message is 32 bytes, like a hash whose preimage is unknown")
	}
}
