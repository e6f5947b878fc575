package evm

import (
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// standards are the functions that calls are decoded for: those by which most
// value moves, and those that hide other calls in them. The types say what a
// value means beside how it is encoded; abiTypes has the encodings.
var standards = []struct{ standard, function string }{
	{"ERC-20", "transfer(address to,amount amount)"},
	{"ERC-20", "approve(address spender,allowance amount)"},
	{"ERC-20 or ERC-721", "transferFrom(address from,address to,uint256 amount or token id)"},
	{"ERC-20", "increaseAllowance(address spender,allowance added amount)"},
	{"ERC-20", "decreaseAllowance(address spender,amount removed amount)"},
	{"ERC-2612", "permit(address owner,address spender,allowance amount,uint256 deadline,uint8 v,bytes32 r,bytes32 s)"},
	{"Dai", "permit(address holder,address spender,uint256 nonce,uint256 expiry,approval allowed,uint8 v,bytes32 r,bytes32 s)"},
	{"TIP-20", "transferWithMemo(address to,amount amount,bytes32 memo)"},
	{"TIP-20", "transferFromWithMemo(address from,address to,amount amount,bytes32 memo)"},
	{"ERC-721", "safeTransferFrom(address from,address to,uint256 token id)"},
	{"ERC-721", "safeTransferFrom(address from,address to,uint256 token id,bytes data)"},
	{"ERC-721 or ERC-1155", "setApprovalForAll(address operator,approval approved)"},
	{"ERC-1155", "safeTransferFrom(address from,address to,uint256 token id,uint256 amount,bytes data)"},
	{"ERC-1155", "safeBatchTransferFrom(address from,address to,uint256[] token ids,uint256[] amounts,bytes data)"},
	{"multicall", "multicall(call[] calls)"},
	{"multicall", "multicall(uint256 deadline,call[] calls)"},
	{"multicall", "multicall(bytes32 previous blockhash,call[] calls)"},
	{"Safe", "execTransaction(address to,uint256 value,call data,operation operation,uint256 safe tx gas," +
		"uint256 base gas,uint256 gas price,address gas token,address refund receiver,bytes signatures)"},
	{"Safe", "multiSend(transactions transactions)"},
}

// abiTypes has the ABI's type for each type of ours.
var abiTypes = map[string]string{
	"amount":       "uint256",
	"allowance":    "uint256", // marked if it has no limit
	"approval":     "bool",    // marked if it is given
	"operation":    "uint8",   // of a Safe: call or delegatecall
	"call":         "bytes",   // calldata of another call
	"call[]":       "bytes[]",
	"transactions": "bytes", // packed transactions of a Safe's multiSend
}

type function struct {
	standard   string
	signature  string // with the ABI's types: what the selector is a hash of
	parameters []parameter
}

type parameter struct{ kind, name string }

// functions has the standards by selector: the first four bytes of Keccak-256
// of the signature.
var functions = sync.OnceValue(func() map[[4]byte]function {
	bySelector := map[[4]byte]function{}
	for _, row := range standards {
		f := parseFunction(row.standard, row.function)
		bySelector[[4]byte(crypto.Keccak256([]byte(f.signature)))] = f
	}
	return bySelector
})

func parseFunction(standard, text string) function {
	f := function{standard: standard}
	name, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	var types []string
	for _, part := range strings.Split(list, ",") {
		kind, label, _ := strings.Cut(part, " ")
		f.parameters = append(f.parameters, parameter{kind, label})
		if abi, ours := abiTypes[kind]; ours {
			kind = abi
		}
		types = append(types, kind)
	}
	f.signature = name + "(" + strings.Join(types, ",") + ")"
	return f
}
