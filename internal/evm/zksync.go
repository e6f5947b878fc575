package evm

import (
	"bytes"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// A transaction of type 113 on a chain of the ZK Stack is signed as typed data, whose domain has
// the name "zkSync", the version "2" and the chain's id: the chain itself verifies it. See
// TransactionHelper.sol, IPaymasterFlow.sol and DefaultAccount.sol in
// matter-labs/era-contracts, and zksync-ethers. Addresses are numbers there.
const zkSyncTransaction = "Transaction(uint256 txType,uint256 from,uint256:target to,uint256 gasLimit,uint256 " +
	"gasPerPubdataByteLimit,uint256 maxFeePerGas," +
	"uint256 maxPriorityFeePerGas,uint256 paymaster,uint256 nonce,uint256:native value,bytes:sent data=call," +
	"bytes32[] factoryDeps,bytes paymasterInput)"

// zkSyncType is the type of transactions that are signed as typed data.
const zkSyncType = 113

// bootloader is the account that has transactions run.
var bootloader = hexAddress("0x0000000000000000000000000000000000008001")

// The selectors of a paymaster's input. The account allows the paymaster at least an amount of a
// token before the call, if it is approvalBased(address,uint256,bytes); general(bytes) asks for
// nothing.
var (
	zkSyncApproval = []byte{0x94, 0x94, 0x31, 0xdc}
	zkSyncGeneral  = []byte{0x8c, 0x5a, 0x34, 0x45}
)

// zkSyncBefore adds what the account does before its call.
func zkSyncBefore(e *emitter, c *Call) {
	for _, name := range []string{"from", "to", "paymaster"} {
		if c.arg(name).big().BitLen() > 160 {
			c.problem = "a number that is no address"
			return
		}
	}
	if c.arg("txType").big().Cmp(big.NewInt(zkSyncType)) != 0 {
		c.problem = "a type that is not signed as typed data"
		return
	}
	e.signed.ByChain = true
	e.signed.Owners = append(e.signed.Owners, Claim{c.addressOf("from"), 0})
	e.signed.Own = func(effects []chains.Effect, own func(chains.Party) bool) { claimFees(effects, own) }
	if c.arg("paymaster").big().Sign() > 0 {
		e.addPaymasterApproval(c, c.arg("paymasterInput").bytes)
	}
}

// addPaymasterApproval adds what the input for a paymaster has the account do.
func (e *emitter) addPaymasterApproval(c *Call, input []byte) {
	from, paymaster := c.addressOf("from"), c.addressOf("paymaster")
	switch approves := bytes.HasPrefix(input, zkSyncApproval); {
	case approves && len(input) >= 4+2*word && zeros(input[4:4+12]):
		amount := chains.Exactly(new(big.Int).SetBytes(input[4+word : 4+2*word]))
		e.add(c, chains.Effect{Kind: chains.KindApprove, From: from, To: paymaster,
			Asset: c.tokenAt(Address(input[4+12:]), erc20), Amount: amount})
	case approves || !bytes.HasPrefix(input, zkSyncGeneral):
		e.add(c, chains.Effect{Kind: chains.KindCall, From: from, To: paymaster, Undecoded: true})
	}
}

// zkSyncFee adds the fee, which the paymaster's own code agrees to if there is one.
func zkSyncFee(e *emitter, c *Call) {
	from := c.addressOf("from")
	fee := chains.Effect{Kind: chains.KindFee, From: from, Asset: c.native(),
		Amount: chains.AtMost(new(big.Int).Mul(c.arg("gasLimit").big(), c.arg("maxFeePerGas").big()))}
	if c.arg("paymaster").big().Sign() > 0 {
		fee.From, fee.Account = c.addressOf("paymaster"), from
		fee.By, fee.OtherSigner = chains.ByOther, fee.From
	}
	e.add(c, fee)
}
