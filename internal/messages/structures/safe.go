package structures

import (
	"strings"

	"github.com/countersign-dev/countersign/internal/evm"
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
	data := r.field("data").Bytes
	tx := evm.SafeTransaction{Safe: *r.domain.contract, Delegate: r.field("operation").Int.Uint64() == 1,
		Call: evm.Transaction{To: [20]byte(r.field("to").Bytes), Value: r.field("value").Int, Data: data},
		Refund: evm.SafeRefund{SafeTxGas: r.field("safeTxGas").Int, BaseGas: r.field("baseGas").Int, GasPrice: r.field("gasPrice").Int,
			Token: [20]byte(r.field("gasToken").Bytes), Receiver: [20]byte(r.field("refundReceiver").Bytes), DataSize: len(data)},
	}
	r.calling(tx.Read(r.network))
	if tx.Delegate && !strings.HasPrefix(r.network.KnownName(tx.Call.To), "MultiSend") {
		r.danger(HazardDelegatecall, whole, "the code of %s runs as the Safe and may do anything with it", r.partyAt(tx.Call.To))
	}
}

// safeMessage is a message in the name of a Safe, often a hash.
func safeMessage(r *reading) {
	message := r.field("message").Bytes
	index := r.undecoded("a message in the name of a Safe: its meaning depends on the application")
	if len(message) == 32 {
		r.danger(HazardHiddenContents, index, "the Safe's message is 32 bytes, like a hash whose preimage is unknown")
	}
}
