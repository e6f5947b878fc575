package evm

// The parts of a command's byte.
const (
	commandMask = 0x7f
	mayFailFlag = 0x80 // the plan goes on without it
)

// routerCommands are the commands of a Universal Router that are decoded, as functions
// without a selector (universal-router contracts/libraries/Commands.sol).
var routerCommands = map[byte]*function{
	0x00: command("V3_SWAP_EXACT_IN(address to,uint256 amount in,uint256 least amount out,bytes path,"+
		"bool payer is caller)", swapV3(true)),
	0x01: command("V3_SWAP_EXACT_OUT(address to,uint256 amount out,uint256 most amount in,bytes path,"+
		"bool payer is caller)", swapV3(false)),
	0x02: command("PERMIT2_TRANSFER_FROM(address token,address to,uint160 amount)", routerTransferFrom),
	0x03: command("PERMIT2_PERMIT_BATCH(((address token,uint160:allowance amount,uint48:time expiration,"+
		"uint48 nonce)[] details,address spender,uint256:time signature deadline) permit,bytes signature)",
		routerPermit),
	0x04: command("SWEEP(address token,address to,uint256 least amount)", sweep),
	0x05: command("TRANSFER(address token,address to,uint256 amount)", routerTransfer),
	0x06: command("PAY_PORTION(address token,address to,uint256 basis points)", payPortion),
	0x08: command("V2_SWAP_EXACT_IN(address to,uint256 amount in,uint256 least amount out,address[] path,"+
		"bool payer is caller)", swapV2(true)),
	0x09: command("V2_SWAP_EXACT_OUT(address to,uint256 amount out,uint256 most amount in,address[] path,"+
		"bool payer is caller)", swapV2(false)),
	0x0a: command("PERMIT2_PERMIT(((address token,uint160:allowance amount,uint48:time expiration,"+
		"uint48 nonce) details,address spender,uint256:time signature deadline) permit,bytes signature)",
		routerPermit),
	0x0b: command("WRAP_ETH(address to,uint256 amount)", routerWrap),
	0x0c: command("UNWRAP_WETH(address to,uint256 least amount)", routerUnwrap),
	0x0d: command("PERMIT2_TRANSFER_FROM_BATCH((address from,address to,uint160:amount amount,"+
		"address token)[] transfers)", permit2TransferBatch),
	0x0e: command("BALANCE_CHECK_ERC20(address owner,address token,uint256 least balance)", nested),
}

func command(text string, effects func(*emitter, *Call)) *function {
	f := parseFunction("Universal Router command", text)
	f.at, f.act = atUniversalRouter, nonpayable(effects)
	return f
}
