package structures

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// permit2Witness adds what the spender may transfer once: to the payee in the witness if the
// spender is known to pay nobody else, otherwise to any address.
func permit2Witness(r *reading, encoded string) {
	bound, ok := evm.PaysWitness(evm.Address(r.field("spender").Bytes), encoded)
	if !ok || !r.domain.is(permit2Contracts...) {
		permit2Transfers(r)
		return
	}
	permitted := r.field("permitted")
	index := r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: party(r.field("witness", "to")),
		Asset: r.token(at(permitted, "token"), erc20), Amount: chains.Quantity{Bound: bound, Value: at(permitted, "amount").Int}, Path: "message/witness"})
	r.effects[index].Until = r.deadline(r.field("deadline"), index)
}
