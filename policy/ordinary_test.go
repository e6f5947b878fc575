package policy_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// ordinary are messages that people sign all day: their type, contract, members, and chain if it is
// not Ethereum. NUMBER stands for an amount, STRANGER for an address, TRANSFER
// for calldata that sends a token, SOON, IN180DAYS and INAYEAR for times, and SIGNER for the address of
// the signer.
var ordinary = map[string]string{
	"an exact permit":          `Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)|TOKEN|{"owner":"SIGNER","spender":"STRANGER","value":"NUMBER","nonce":"3","deadline":"SOON"}`,
	"a revoking permit":        `Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)|TOKEN|{"holder":"SIGNER","spender":"STRANGER","nonce":"3","expiry":"0","allowed":false}`,
	"an ERC-3009 transfer":     `TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)|TOKEN|{"from":"SIGNER","to":"STRANGER","value":"NUMBER","validAfter":"0","validBefore":"SOON","nonce":"0xabababababababababababababababababababababababababababababababab"}`,
	"a Permit2 allowance":      `PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)|0x000000000022D473030F116dDEE9F6B43aC78BA3|{"details":{"token":"STRANGER","amount":"NUMBER","expiration":"SOON","nonce":"0"},"spender":"STRANGER","sigDeadline":"SOON"}`,
	"a Safe's payment":         `SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)|STRANGER|{"to":"STRANGER","value":"NUMBER","data":"0x","operation":"0","safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000","refundReceiver":"0x0000000000000000000000000000000000000000","nonce":"4"}`,
	"an operation":             `PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)|0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108|{"sender":"SIGNER","nonce":"0","initCode":"0x","callData":"0x","accountGasLimits":"0x000000000000000000000000000186a0000000000000000000000000000186a0","preVerificationGas":"50000","gasFees":"0x0000000000000000000000003b9aca00000000000000000000000004a817c800","paymasterAndData":"PAYMASTER"}`,
	"a listing":                `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)|0x0000000000000068F116a894984e2DB1123eB395|{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"2","token":"STRANGER","identifierOrCriteria":"NUMBER","startAmount":"1","endAmount":"1"}],"consideration":[{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"},{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"STRANGER"}],"orderType":"0","startTime":"0","endTime":"SOON","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"}`,
	"a sale of tokens":         `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)|0x0000000000000068F116a894984e2DB1123eB395|{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"1","token":"STRANGER","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER"}],"consideration":[{"itemType":"1","token":"TOKEN","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"}],"orderType":"1","startTime":"0","endTime":"SOON","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"}`,
	"a Safe's rejection":       `SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)|STRANGER|{"to":"STRANGER","value":"0","data":"0x","operation":"0","safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000","refundReceiver":"0x0000000000000000000000000000000000000000","nonce":"4"}`,
	"a Safe's token":           `SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)|STRANGER|{"to":"TOKEN","value":"0","data":"TRANSFER","operation":"0","safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000","refundReceiver":"0x0000000000000000000000000000000000000000","nonce":"4"}`,
	"a forwarded call":         `ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,uint48 deadline,bytes data)|STRANGER|{"from":"SIGNER","to":"TOKEN","value":"0","gas":"100000","nonce":"1","deadline":"SOON","data":"TRANSFER"}`,
	"a MetaTransaction":        `MetaTransaction(uint256 nonce,address from,bytes functionSignature)|TOKEN|{"nonce":"1","from":"SIGNER","functionSignature":"TRANSFER"}|137`,
	"a transfer of GasFree":    `PermitTransfer(address token,address serviceProvider,address user,address receiver,uint256 value,uint256 maxFee,uint256 deadline,uint256 version,uint256 nonce)|STRANGER|{"token":"TOKEN","serviceProvider":"STRANGER","user":"SIGNER","receiver":"STRANGER","value":"NUMBER","maxFee":"2000000","deadline":"SOON","version":"1","nonce":"2"}|728126428`,
	"a payment on ZKsync":      `Transaction(uint256 txType,uint256 from,uint256 to,uint256 gasLimit,uint256 gasPerPubdataByteLimit,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,uint256 paymaster,uint256 nonce,uint256 value,bytes data,bytes32[] factoryDeps,bytes paymasterInput)||{"txType":"113","from":"SIGNER","to":"STRANGER","gasLimit":"300000","gasPerPubdataByteLimit":"50000","maxFeePerGas":"50000000","maxPriorityFeePerGas":"0","paymaster":"0","nonce":"4","value":"NUMBER","data":"0x","factoryDeps":[],"paymasterInput":"0x"}|324`,
	"a bet on Polymarket":      `Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)|0xE111180000d2663C0091e4f400237545B87B996B|{"salt":"7","maker":"SIGNER","signer":"SIGNER","tokenId":"NUMBER","makerAmount":"NUMBER","takerAmount":"NUMBER","side":"0","signatureType":"0","timestamp":"SOON","metadata":"0x0000000000000000000000000000000000000000000000000000000000000000","builder":"0x0000000000000000000000000000000000000000000000000000000000000000"}|137`,
	"a bet that is sold":       `Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)|0xe2222d279d744050d28e00520010520000310F59|{"salt":"7","maker":"SIGNER","signer":"SIGNER","tokenId":"NUMBER","makerAmount":"NUMBER","takerAmount":"NUMBER","side":"1","signatureType":"0","timestamp":"SOON","metadata":"0x0000000000000000000000000000000000000000000000000000000000000000","builder":"0x0000000000000000000000000000000000000000000000000000000000000000"}|137`,
	"a listing of 180 days":    `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)|0x0000000000000068F116a894984e2DB1123eB395|{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"2","token":"STRANGER","identifierOrCriteria":"NUMBER","startAmount":"1","endAmount":"1"}],"consideration":[{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"},{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"STRANGER"}],"orderType":"0","startTime":"0","endTime":"IN180DAYS","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"}`,
	"a bulk listing":           `BulkOrder(OrderComponents[2] tree)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)|0x0000000000000068F116a894984e2DB1123eB395|{"tree":[{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"2","token":"STRANGER","identifierOrCriteria":"NUMBER","startAmount":"1","endAmount":"1"}],"consideration":[{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"},{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"STRANGER"}],"orderType":"0","startTime":"0","endTime":"SOON","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"},{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"2","token":"STRANGER","identifierOrCriteria":"NUMBER","startAmount":"1","endAmount":"1"}],"consideration":[{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"},{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"STRANGER"}],"orderType":"0","startTime":"0","endTime":"IN180DAYS","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"}]}`,
	"a limit order of a year":  `Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)|0x9008D19f58AAbD9eD0D60971565AA8510560ab41|{"sellToken":"STRANGER","buyToken":"TOKEN","receiver":"RECEIVER","sellAmount":"NUMBER","buyAmount":"NUMBER","validTo":"INAYEAR","appData":"0x0000000000000000000000000000000000000000000000000000000000000000","feeAmount":"0","kind":"sell","partiallyFillable":false,"sellTokenBalance":"erc20","buyTokenBalance":"erc20"}`,
	"orders of CoW taken back": `OrderCancellations(bytes[] orderUids)|0x9008D19f58AAbD9eD0D60971565AA8510560ab41|{"orderUids":["0xabababababababababababababababababababababababababababababababababababababababababababababababababababababababab"]}`,
	"a ballot":                 `Ballot(uint256 proposalId,uint8 support)|STRANGER|{"proposalId":"NUMBER","support":"1"}`,
	"a ballot of a voter":      `Ballot(uint256 proposalId,uint8 support,address voter,uint256 nonce)|STRANGER|{"proposalId":"NUMBER","support":"1","voter":"SIGNER","nonce":"2"}`,
	"votes of one's own":       `Delegation(address delegatee,uint256 nonce,uint256 expiry)|TOKEN|{"delegatee":"SIGNER","nonce":"2","expiry":"INAYEAR"}`,
	"a limit order of 1inch":   `Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,uint256 takingAmount,uint256 makerTraits)|0x111111125421cA6dc452d289314280a0f8842A65|{"salt":"7","maker":"SIGNER","receiver":"RECEIVER","makerAsset":"STRANGER","takerAsset":"TOKEN","makingAmount":"NUMBER","takingAmount":"NUMBER","makerTraits":"TRAITS"}`,
	"an order of UniswapX":     `PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,PriorityOrder witness)OrderInfo(address reactor,address swapper,uint256 nonce,uint256 deadline,address additionalValidationContract,bytes additionalValidationData)PriorityInput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei)PriorityOrder(OrderInfo info,address cosigner,uint256 auctionStartBlock,uint256 baselinePriorityFeeWei,PriorityInput input,PriorityOutput[] outputs)PriorityOutput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei,address recipient)TokenPermissions(address token,uint256 amount)|0x000000000022D473030F116dDEE9F6B43aC78BA3|{"permitted":{"token":"STRANGER","amount":"NUMBER"},"spender":"0x000000001Ec5656dcdB24D90DFa42742738De729","nonce":"7","deadline":"SOON","witness":{"info":{"reactor":"0x000000001Ec5656dcdB24D90DFa42742738De729","swapper":"SIGNER","nonce":"7","deadline":"SOON","additionalValidationContract":"0x0000000000000000000000000000000000000000","additionalValidationData":"0x"},"cosigner":"0x0000000000000000000000000000000000000000","auctionStartBlock":"0","baselinePriorityFeeWei":"0","input":{"token":"STRANGER","amount":"NUMBER","mpsPerPriorityFeeWei":"0"},"outputs":[{"token":"0x0000000000000000000000000000000000000000","amount":"NUMBER","mpsPerPriorityFeeWei":"1","recipient":"SIGNER"}]}}|8453`,
	"a swap by 0x":             `PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,SlippageAndActions slippageAndActions)SlippageAndActions(address recipient,address buyToken,uint256 minAmountOut,bytes[] actions)TokenPermissions(address token,uint256 amount)|0x000000000022D473030F116dDEE9F6B43aC78BA3|{"permitted":{"token":"STRANGER","amount":"NUMBER"},"spender":"STRANGER","nonce":"7","deadline":"SOON","slippageAndActions":{"recipient":"SIGNER","buyToken":"TOKEN","minAmountOut":"NUMBER","actions":["0x1234"]}}`,
	"an order of CoW":          `Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)|0x9008D19f58AAbD9eD0D60971565AA8510560ab41|{"sellToken":"STRANGER","buyToken":"TOKEN","receiver":"RECEIVER","sellAmount":"NUMBER","buyAmount":"NUMBER","validTo":"SOON","appData":"0x0000000000000000000000000000000000000000000000000000000000000000","feeAmount":"0","kind":"sell","partiallyFillable":false,"sellTokenBalance":"erc20","buyTokenBalance":"erc20"}`,
}

// typedOf returns a message in JSON, given its encoded type, contract, members and chain. Without
// a contract it is a transaction of the ZK Stack.
func typedOf(t *testing.T, encoded, contract, members, chain string) string {
	t.Helper()
	own := []map[string]string{{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}
	domain := map[string]any{"name": "Gnosis Protocol", "chainId": chain, "verifyingContract": contract}
	if strings.HasPrefix(encoded, "Order(uint256 salt,address maker,address receiver") {
		domain["name"] = "1inch Aggregation Router"
	}
	if contract == "" {
		own[2] = map[string]string{"name": "version", "type": "string"}
		domain = map[string]any{"name": "zkSync", "chainId": chain, "version": "2"}
	}
	types := map[string][]map[string]string{"EIP712Domain": own}
	primary, _, _ := strings.Cut(encoded, "(")
	for one := range strings.SplitSeq(strings.TrimSuffix(encoded, ")"), ")") {
		name, list, _ := strings.Cut(one, "(")
		for member := range strings.SplitSeq(list, ",") {
			kind, label, _ := strings.Cut(member, " ")
			types[name] = append(types[name], map[string]string{"name": label, "type": kind})
		}
	}
	text := testenv.Encode(t, map[string]any{"types": types, "primaryType": primary, "message": json.RawMessage(members), "domain": domain})
	return string(text)
}

// signIns are sign-ins as sites ask for them. ISSUED stands for a time, and NONCE for a number.
var signIns = map[string]string{
	"Ethereum":      "app.example.com wants you to sign in with your Ethereum account:\n" + enginetest.Address + "\n\nSign in.\n\nURI: https://app.example.com/login?a=b\nVersion: 1\nChain ID: 1\nNonce: NONCE\nIssued At: ISSUED\nResources:\n- https://example.com/terms",
	"TRON":          "example.com:8080 wants you to sign in with your TRON account:\nTPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn\n\nURI: https://example.com:8080\nVersion: 1\nChain ID: 728126428\nNonce: NONCE\nIssued At: ISSUED",
	"Solana":        "example.com wants you to sign in with your Solana account:\nFNN31sUqP3VPQd9VXHFMJGazohBi8vrA6MZyTwcpJX5J\n\nSign in to Example.\n\nURI: https://example.com\nVersion: 1\nChain ID: mainnet\nNonce: NONCE\nIssued At: ISSUED",
	"Solana, short": "example.com wants you to sign in with your Solana account:\nFNN31sUqP3VPQd9VXHFMJGazohBi8vrA6MZyTwcpJX5J",
}

// signInsOf returns the requests to sign them.
func signInsOf(random *rand.Rand, issued time.Time) map[string]activity.Intent {
	intents, filled := map[string]activity.Intent{}, strings.NewReplacer("ISSUED", issued.UTC().Format(time.RFC3339), "NONCE", fmt.Sprint(1e8+random.Int64N(1e15)))
	for name, text := range signIns {
		text = filled.Replace(text)
		switch name {
		case "Ethereum":
			intents[name] = engines.Payload(string(personal.Preimage(personal.EthereumPrefix, []byte(text))), activity.EncodingText, activity.HashKeccak256)
		case "TRON":
			intents[name] = activity.SignMessageIntent{SignWith: "key-1", Payload: string(personal.Preimage(personal.TronPrefix, []byte(text))),
				Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256}
		default:
			intents[name] = activity.SignMessageIntent{SignWith: "key-2", Payload: text, Encoding: activity.EncodingText, HashFunction: activity.HashNotApplicable}
		}
	}
	return intents
}

// routerPlans are swaps of Uniswap's SDK with a minimum.
func routerPlans(t *testing.T) (plans []struct{ Name, Value, Data string }) {
	t.Helper()
	text := testenv.Read(t, "../internal/evm/testdata/routerplans.json")
	var file struct {
		Plans []struct{ Name, Value, Data string }
	}
	testenv.JSON(t, text, &file)
	return file.Plans
}

// TestOrdinaryIsSigned draws what people sign all day: all of it is signed with nothing
// allowed.
func TestOrdinaryIsSigned(t *testing.T) {
	f, random, draws := enginetest.New(t), rand.New(rand.NewPCG(42, 3)), testenv.Draws(t, 100)
	names, plans := []string{}, routerPlans(t)
	for name := range ordinary {
		names = append(names, name)
	}
	transactions := newOrdinaryDraw(t, f, random)
	for range draws {
		stranger := fmt.Sprintf("0x%040x", new(big.Int).Add(new(big.Int).Lsh(big.NewInt(random.Int64()), 90), big.NewInt(1<<40)))
		soon := fmt.Sprint(f.Clock.Now().Add(time.Duration(1+random.IntN(29*24)) * time.Hour).Unix())
		later := func(days int) string { return fmt.Sprint(f.Clock.Now().AddDate(0, 0, days).Unix()) }
		filled := strings.NewReplacer("IN180DAYS", later(180), "INAYEAR", later(365), "TRAITS", fmt.Sprintf("0x%x", new(big.Int).Lsh(big.NewInt(f.Clock.Now().AddDate(0, 0, 365).Unix()), 80)), "NUMBER", fmt.Sprint(1+random.Int64N(1e18)), "STRANGER", stranger, "SOON", soon, "SIGNER", enginetest.Address,
			"TOKEN", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
			"TRANSFER", "0xa9059cbb"+strings.Repeat("0", 24)+stranger[2:]+fmt.Sprintf("%064x", 1+random.Int64N(1e18)), "PAYMASTER", []string{"0x", stranger + strings.Repeat("00", 32)}[random.IntN(2)],
			"RECEIVER", []string{"0x0000000000000000000000000000000000000000", enginetest.Address}[random.IntN(2)])
		for _, name := range names {
			parts := strings.Split(filled.Replace(ordinary[name]), "|")
			chain := strings.Join(append(parts, "1")[3:4], "")
			intent := engines.Payload(typedOf(t, parts[0], parts[1], parts[2], chain), activity.EncodingEIP712, activity.HashNone)
			intent.SignWith = "key-1"
			if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, parts[2])
			}
		}
		for name, intent := range signInsOf(random, f.Clock.Now()) {
			if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatalf("a sign-in with %s: %v", name, err)
			}
		}
		for name, intent := range transactions.all() {
			if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, intent.UnsignedTransaction)
			}
		}
	}
	for _, plan := range plans {
		value, _ := new(big.Int).SetString(plan.Value, 10)
		intent := activity.SignTransactionIntent{SignWith: enginetest.Address, Type: activity.TransactionTypeEthereum, UnsignedTransaction: swapTransaction(t, value, plan.Data)}
		if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); err != nil {
			t.Errorf("%s: %v", plan.Name, err)
		}
	}
}

// swapTransaction returns a transaction of type 2 that calls Uniswap's router.
func swapTransaction(t *testing.T, value *big.Int, data string) string {
	t.Helper()
	router := common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	list, err := rlp.EncodeToBytes([]any{uint64(1), uint64(7), uint64(1e9), uint64(20e9), uint64(300000), router, value, common.FromHex(data), []any{}})
	testenv.Must(t, err)
	return hex.EncodeToString(append([]byte{2}, list...))
}
