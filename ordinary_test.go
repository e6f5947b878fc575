package countersign_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

// ordinary are messages that people sign all day. NUMBER stands for an amount, STRANGER for an
// address, SOON for a time within 30 days, and SIGNER for the address of the signer.
var ordinary = map[string]string{
	"an exact permit":      `Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)|TOKEN|{"owner":"SIGNER","spender":"STRANGER","value":"NUMBER","nonce":"3","deadline":"SOON"}`,
	"a revoking permit":    `Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)|TOKEN|{"holder":"SIGNER","spender":"STRANGER","nonce":"3","expiry":"0","allowed":false}`,
	"an ERC-3009 transfer": `TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)|TOKEN|{"from":"SIGNER","to":"STRANGER","value":"NUMBER","validAfter":"0","validBefore":"SOON","nonce":"0xabababababababababababababababababababababababababababababababab"}`,
	"a Permit2 allowance":  `PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)|0x000000000022D473030F116dDEE9F6B43aC78BA3|{"details":{"token":"STRANGER","amount":"NUMBER","expiration":"SOON","nonce":"0"},"spender":"STRANGER","sigDeadline":"SOON"}`,
	"a Safe's payment":     `SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)|STRANGER|{"to":"STRANGER","value":"NUMBER","data":"0x","operation":"0","safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000","refundReceiver":"0x0000000000000000000000000000000000000000","nonce":"4"}`,
	"an operation":         `PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)|0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108|{"sender":"SIGNER","nonce":"0","initCode":"0x","callData":"0x","accountGasLimits":"0x000000000000000000000000000186a0000000000000000000000000000186a0","preVerificationGas":"50000","gasFees":"0x0000000000000000000000003b9aca00000000000000000000000004a817c800","paymasterAndData":"PAYMASTER"}`,
	"a listing":            `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)|0x0000000000000068F116a894984e2DB1123eB395|{"offerer":"SIGNER","zone":"0x0000000000000000000000000000000000000000","offer":[{"itemType":"2","token":"STRANGER","identifierOrCriteria":"NUMBER","startAmount":"1","endAmount":"1"}],"consideration":[{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"SIGNER"},{"itemType":"0","token":"0x0000000000000000000000000000000000000000","identifierOrCriteria":"0","startAmount":"NUMBER","endAmount":"NUMBER","recipient":"STRANGER"}],"orderType":"0","startTime":"0","endTime":"SOON","zoneHash":"0x0000000000000000000000000000000000000000000000000000000000000000","salt":"9","conduitKey":"0x0000000000000000000000000000000000000000000000000000000000000000","counter":"0"}`,
	"an order of CoW":      `Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)|0x9008D19f58AAbD9eD0D60971565AA8510560ab41|{"sellToken":"STRANGER","buyToken":"TOKEN","receiver":"RECEIVER","sellAmount":"NUMBER","buyAmount":"NUMBER","validTo":"SOON","appData":"0x0000000000000000000000000000000000000000000000000000000000000000","feeAmount":"0","kind":"sell","partiallyFillable":false,"sellTokenBalance":"erc20","buyTokenBalance":"erc20"}`,
}

// typedOf returns a message in JSON, given its encoded type, contract and members.
func typedOf(t *testing.T, encoded, contract, members string) string {
	t.Helper()
	types := map[string][]map[string]string{"EIP712Domain": {{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}}
	primary, _, _ := strings.Cut(encoded, "(")
	for _, one := range strings.Split(strings.TrimSuffix(encoded, ")"), ")") {
		name, list, _ := strings.Cut(one, "(")
		for _, member := range strings.Split(list, ",") {
			kind, label, _ := strings.Cut(member, " ")
			types[name] = append(types[name], map[string]string{"name": label, "type": kind})
		}
	}
	text, err := json.Marshal(map[string]any{"types": types, "primaryType": primary, "message": json.RawMessage(members),
		"domain": map[string]any{"name": "Gnosis Protocol", "chainId": 1, "verifyingContract": contract}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// routerPlans are swaps of Uniswap's SDK with a minimum.
func routerPlans(t *testing.T) (plans []struct{ Name, Value, Data string }) {
	t.Helper()
	text, err := os.ReadFile("internal/evm/testdata/routerplans.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Plans []struct{ Name, Value, Data string }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Plans
}

// TestOrdinaryIsSigned draws what people sign all day: all of it is signed with nothing
// allowed. COUNTERSIGN_PROVE says how often each is drawn; 100 times otherwise.
func TestOrdinaryIsSigned(t *testing.T) {
	f, random, draws := enginetest.New(t), rand.New(rand.NewPCG(42, 3)), 100
	if text := os.Getenv("COUNTERSIGN_PROVE"); text != "" {
		var err error
		if draws, err = strconv.Atoi(text); err != nil {
			t.Fatalf("COUNTERSIGN_PROVE: %v", err)
		}
	}
	names, plans := []string{}, routerPlans(t)
	for name := range ordinary {
		names = append(names, name)
	}
	for range draws {
		stranger := fmt.Sprintf("0x%040x", new(big.Int).Add(new(big.Int).Lsh(big.NewInt(random.Int64()), 90), big.NewInt(1<<40)))
		soon := fmt.Sprint(f.Clock.Now().Add(time.Duration(1+random.IntN(29*24)) * time.Hour).Unix())
		filled := strings.NewReplacer("NUMBER", fmt.Sprint(1+random.Int64N(1e18)), "STRANGER", stranger, "SOON", soon, "SIGNER", enginetest.Address,
			"TOKEN", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "PAYMASTER", []string{"0x", stranger + strings.Repeat("00", 32)}[random.IntN(2)],
			"RECEIVER", []string{"0x0000000000000000000000000000000000000000", enginetest.Address}[random.IntN(2)])
		for _, name := range names {
			parts := strings.Split(filled.Replace(ordinary[name]), "|")
			intent := payload(typedOf(t, parts[0], parts[1], parts[2]), activity.EncodingEIP712, activity.HashNone)
			if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, parts[2])
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
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(append([]byte{2}, list...))
}
