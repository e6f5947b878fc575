package structures

import (
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// permit2Contracts are the addresses of Permit2: on ZKsync, and on all other chains.
var permit2Contracts = [][20]byte{
	contract("0000000000225e31D15943971F47aD3022F714Fa"), // ZKsync
	contract("000000000022D473030F116dDEE9F6B43aC78BA3"),
}

const (
	permit2Details     = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
	permit2Permissions = "TokenPermissions(address token,uint256 amount)"
)

// permit2 are the structures of Permit2 without a witness: see isPermit2Witness.
var permit2 = []structure{
	{"PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)" + permit2Details, permit2Allowances},
	{"PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)" + permit2Details, permit2Allowances},
	{"PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)" + permit2Permissions, permit2Transfers},
	{"PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)" + permit2Permissions, permit2Transfers},
}

// isPermit2Witness recognizes a transfer with a witness: it has the members of a
// transfer and one more, whose meaning only the spender knows.
func isPermit2Witness(encoded string) bool {
	for _, prefix := range []string{
		"PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,",
		"PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,",
	} {
		if rest, ok := strings.CutPrefix(encoded, prefix); ok {
			witness, _, _ := strings.Cut(rest, ")")
			return strings.Count(witness, ",") == 0 && strings.Contains(encoded, ")"+permit2Permissions)
		}
	}
	return false
}

// permit2Allowances adds the allowances of a permit or a batch of them.
func permit2Allowances(r *reading) {
	if !r.verifiedBy(permit2Contracts...) {
		return
	}
	details := r.field("details")
	if details.Kind() != eip712.KindArray {
		r.permit2Allowance(details, "message/details")
	}
	for i := range details.List {
		r.permit2Allowance(&details.List[i], "message/details/"+strconv.Itoa(i))
	}
	if len(r.effects) > 0 {
		r.deadline(r.field("sigDeadline"), whole)
	}
}

func (r *reading) permit2Allowance(details *eip712.Value, path string) {
	index := r.approve(chains.SignerParty(), r.field("spender"), r.token(at(details, "token"), erc20), at(details, "amount").Int, path)
	expiration := at(details, "expiration")
	switch {
	case r.effects[index].Kind == chains.KindRevoke:
	case expiration.Int.Sign() == 0:
		r.effects[index].Until = chains.Until{Text: "the end of its block"}
	default:
		r.effects[index].Until = r.deadline(expiration, index)
	}
}

// permit2Transfers adds what the spender may transfer once, to any address: at most the
// permitted amount of each token.
func permit2Transfers(r *reading) {
	if !r.verifiedBy(permit2Contracts...) {
		return
	}
	permitted := r.field("permitted")
	if permitted.Kind() != eip712.KindArray {
		r.permit2Transfer(permitted, "message/permitted")
	}
	for i := range permitted.List {
		r.permit2Transfer(&permitted.List[i], "message/permitted/"+strconv.Itoa(i))
	}
}

func (r *reading) permit2Transfer(permitted *eip712.Value, path string) {
	index := r.approve(chains.SignerParty(), r.field("spender"), r.token(at(permitted, "token"), erc20), at(permitted, "amount").Int, path)
	r.effects[index].Until = r.deadline(r.field("deadline"), index)
}
