package structures

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// An order in the witness of a Permit2 transfer is worth what the spender enforces of it. The
// reactors of UniswapX take the input from the swapper only if the outputs that the order names
// go to their recipients (UniswapX, BaseReactor.sol). What a cosigner, a filler's exclusivity,
// the priority fee or the protocol's fee change, they change in the swapper's favour, or at the
// filler's cost.

// reactors are the spenders that enforce their order, by its type and the chain id.
//
// Sources: Uniswap/UniswapX, README.md (52299e91), and Uniswap/sdks,
// sdks/uniswapx-sdk/src/constants.ts (03af3ad8).
var reactors = map[string]map[uint64]string{
	"ExclusiveDutchOrder": {1: "6000da47483062A0D734Ba3dc7576Ce6A0B645C4",
		137: "6000da47483062A0D734Ba3dc7576Ce6A0B645C4"},
	"V2DutchOrder": {
		1:        "00000011F84B9aa48e5f8aA8B9897600006289Be",
		42161:    "1bd1aAdc9E230626C44a139d7E70d842749351eb",
		11155111: "0e22B6638161A89533940Db590E67A52474bEBcd",
	},
	"PriorityOrder": {130: "00000006021a6Bce796be7ba509BBBA71e956e37",
		8453: "000000001Ec5656dcdB24D90DFa42742738De729"},
	"V3DutchOrder": {
		1:       "0000000015757c461808EA25Eb309638B62681cf",
		10:      "000000000923439A92daE8930613568824108631",
		56:      "00000000a55e50C71b70Db3C8B58749cd1E18eB2",
		130:     "000000005aF66799D1a6317714D66800f9CA1406",
		137:     "00000000bAB6E234db8AD638B6A6395b7c499Bc4",
		143:     "000000000Ac008F7e07210CFb6648e40249232c2",
		196:     "000000005aF66799D1a6317714D66800f9CA1406",
		480:     "00000000d714EA34028930b762E96bFBe50F42C2",
		1868:    "000000005aF66799D1a6317714D66800f9CA1406",
		4217:    "00000000fc1E66C9f582566EAd00108e55F1c0C6",
		8453:    "000000008a8330B5d1F43A62Bf4C673A49f27ba0",
		42161:   "B274d5F4b833b61B340b654d600A864fB604a87c",
		42220:   "00000000B8077fdf2281A80bE96f6c282B5d943A",
		43114:   "00000000862cCF095823fc7576Fa6C7e6b7385ef",
		81457:   "0000000086f50C5E1a2500602183D4390A7FFc98",
		7777777: "000000002C9A3812e15cf233190992E9a57EDB56",
	},
}

const (
	witnessTransfer = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce," +
		"uint256 deadline,"
	permissions = "TokenPermissions(address token,uint256 amount)"
	orderInfo   = "OrderInfo(address reactor,address swapper,uint256 nonce,uint256 deadline," +
		"address additionalValidationContract,bytes additionalValidationData)"
	dutchOutput = "DutchOutput(address token,uint256 startAmount,uint256 endAmount,address recipient)"
	v3Decay     = "NonlinearDutchDecay(uint256 relativeBlocks,int256[] relativeAmounts)"
	v3Input     = "V3DutchInput(address token,uint256 startAmount,NonlinearDutchDecay curve,uint256 maxAmount," +
		"uint256 adjustmentPerGweiBaseFee)"
	v3Output = "V3DutchOutput(address token,uint256 startAmount,NonlinearDutchDecay curve,address recipient," +
		"uint256 minAmount," +
		"uint256 adjustmentPerGweiBaseFee)"
)

// reactorOrders are the orders of UniswapX (src/lib). The second one with its input as a
// structure is a form that no reactor verifies, and is read as what it says. Of each are named the
// members with the token and the most of the input, which is what Permit2 permits, and those with
// the least of an output.
var reactorOrders = []structure{
	{witnessTransfer + "ExclusiveDutchOrder witness)" + dutchOutput + "ExclusiveDutchOrder(OrderInfo info," +
		"uint256 decayStartTime,uint256 decayEndTime," +
		"address exclusiveFiller,uint256 exclusivityOverrideBps,address inputToken," +
		"uint256 inputStartAmount,uint256 inputEndAmount,DutchOutput[] outputs)" +
		orderInfo + permissions, nil, reactorOrder("ExclusiveDutchOrder", "inputToken", "inputEndAmount", "outputs",
		"startAmount", "endAmount")},
	{witnessTransfer + "V2DutchOrder witness)" + dutchOutput + orderInfo + permissions +
		"V2DutchOrder(OrderInfo info,address cosigner," +
		"address baseInputToken,uint256 baseInputStartAmount,uint256 baseInputEndAmount,DutchOutput[] baseOutputs)",
		nil, reactorOrder("V2DutchOrder", "baseInputToken", "baseInputEndAmount",
			"baseOutputs", "startAmount", "endAmount")},
	{witnessTransfer + "V2DutchOrder witness)" +
		"DutchInput(address token,uint256 startAmount,uint256 endAmount)" + dutchOutput + orderInfo + permissions +
		"V2DutchOrder(OrderInfo info,address cosigner,DutchInput baseInput,DutchOutput[] baseOutputs)",
		nil, reactorOrder("V2DutchOrder", "baseInput.token", "baseInput.endAmount",
			"baseOutputs", "startAmount", "endAmount")},
	{witnessTransfer + "V3DutchOrder witness)" + v3Decay + orderInfo + permissions + v3Input +
		"V3DutchOrder(OrderInfo info,address cosigner," +
		"uint256 startingBaseFee,V3DutchInput baseInput,V3DutchOutput[] baseOutputs)" + v3Output,
		nil, reactorOrder("V3DutchOrder", "baseInput.token", "baseInput.maxAmount", "baseOutputs", "minAmount")},
	{witnessTransfer + "PriorityOrder witness)" + orderInfo +
		"PriorityInput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei)" +
		"PriorityOrder(OrderInfo info,address cosigner,uint256 auctionStartBlock,uint256 baselinePriorityFeeWei," +
		"PriorityInput input,PriorityOutput[] outputs)" +
		"PriorityOutput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei,address recipient)" + permissions,
		nil, reactorOrder("PriorityOrder", "input.token", "input.amount", "outputs", "amount")},
}

// reactorOrder adds what an order gives and gets at a reactor that enforces it. At any other
// spender, or if the permission is not that of the order, the message is what every transfer
// with a witness is: the spender may take the tokens.
func reactorOrder(name, token, most, outputs string, least ...string) func(*reading) {
	return func(r *reading) {
		order, permitted := r.field("witness"), r.field("permitted")
		in := func(path string) *chains.TypedValue { return at(order, strings.Split(path, ".")...) }
		spender, reactor := r.field("spender").Bytes, reactors[name][r.network.ChainID]
		if r.domain.contract == nil || r.network.KnownName(*r.domain.contract) != "Permit2" || reactor == "" ||
			evm.Address(spender) != contract(reactor) ||
			!slices.Equal(spender, in("info.reactor").Bytes) ||
			!slices.Equal(at(permitted, "token").Bytes, in(token).Bytes) ||
			at(permitted, "amount").Number.Cmp(in(most).Number) != 0 {
			return
		}
		swapper := r.party(in("info.swapper"))
		index := r.gives(swapper, chains.UnknownParty(), r.token(in(token), evm.ERC20Or721), in(most).Number,
			"message/permitted")
		r.effects[index].Until = r.deadline(r.field("deadline"), index)
		list := in(outputs).List
		for i := range list {
			amount := at(&list[i], least[0]).Number
			for _, name := range least[1:] {
				amount = slices.MinFunc([]*big.Int{amount, at(&list[i], name).Number}, (*big.Int).Cmp)
			}
			r.gets(swapper, r.party(at(&list[i], "recipient")), r.coin(at(&list[i], "token"), evm.Address{}), amount,
				false,
				"message/witness/"+outputs+"/"+strconv.Itoa(i))
		}
	}
}

// coin returns a token, or the native asset if an address that stands for it is in its place.
func (r *reading) coin(v *chains.TypedValue, native evm.Address) chains.Asset {
	if evm.Address(v.Bytes) == native {
		return chains.Native(r.network.ID)
	}
	return r.token(v, evm.ERC20Or721)
}

// relays are the witnesses of spenders that take all that is permitted at once and pay on another
// chain, where nothing of this one can enforce it, or that have new addresses all the time: Across
// (PeripherySigningLib.sol, ERC7683Permit2Lib.sol), LI.FI (Permit2Proxy.sol), Relay
// (RelayReceiver, RelayerWitness) and 0x Settler (SettlerMetaTxn.sol, SettlerIntent.sol).
var relays = []string{"DepositData", "SwapAndDepositData", "CrossChainOrder", "GaslessCrossChainOrder",
	"LiFiCall", "LIFICall", "RelayerWitness",
	"SlippageAndActions", "Slippage"}

// relay makes what such a witness permits a transfer of all of it to the spender. The rest of the
// witness is arguments: no signature over it makes anyone pay. Of those who act for everyone, only a
// Settler acts by the witness alone.
func (r *reading) relay() {
	members := r.message.List
	if len(members) != 5 || !strings.HasPrefix(r.data.PrimaryType, "Permit") ||
		!slices.Contains(relays, members[4].Type) {
		return
	}
	settler := strings.HasPrefix(members[4].Type, "Slippage") &&
		r.network.KnownName(evm.Address(members[1].Bytes)) == "0x Settler"
	for i := range r.effects {
		effect := &r.effects[i]
		if effect.Kind != chains.KindApprove || !settler && evm.IsShared(effect.To) {
			continue
		}
		effect.Kind, effect.Amount = chains.KindTransfer, chains.AtMost(effect.Amount.Value)
		effect.Args = r.appendNested(r.plainMembers(), members[4].Name, &members[4])
	}
}

// appendNested appends the single values in a structure to arguments, by their paths.
func (r *reading) appendNested(args []chains.Arg, path string, v *chains.TypedValue) []chains.Arg {
	if v.Kind != chains.TypedStruct {
		return r.appendArg(args, path, v)
	}
	for i := range v.List {
		args = r.appendNested(args, path+"."+v.List[i].Name, &v.List[i])
	}
	return args
}
