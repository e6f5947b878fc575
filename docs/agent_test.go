package docs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// offer is an entry of accepts in a 402 answer of x402.
type offer struct {
	Network, Asset, Amount, PayTo string
	MaxTimeoutSeconds             int64
	Extra                         struct{ Name, Version string }
}

// pay returns the header PAYMENT-SIGNATURE for an offer of the exact scheme, by EIP-3009.
func pay(ctx context.Context, signer, token, from string, accepted json.RawMessage) (string, error) {
	var o offer
	if err := json.Unmarshal(accepted, &o); err != nil {
		return "", err
	}
	var nonce [32]byte
	_, _ = rand.Read(nonce[:]) // never fails
	authorization := map[string]string{"from": from, "to": o.PayTo, "value": o.Amount, "nonce": fmt.Sprintf("0x%x", nonce),
		"validAfter": "0", "validBefore": strconv.FormatInt(time.Now().Unix()+o.MaxTimeoutSeconds, 10)}
	signature, err := call(ctx, signer, token, "eth_signTypedData_v4", from, map[string]any{
		"types": json.RawMessage(authorizationTypes), "primaryType": "TransferWithAuthorization", "message": authorization,
		"domain": map[string]any{"name": o.Extra.Name, "version": o.Extra.Version, "chainId": strings.TrimPrefix(o.Network, "eip155:"), "verifyingContract": o.Asset},
	})
	if err != nil {
		return "", err
	}
	payment, err := json.Marshal(map[string]any{"x402Version": 2, "accepted": accepted,
		"payload": map[string]any{"signature": signature, "authorization": authorization}})
	return base64.StdEncoding.EncodeToString(payment), err
}

// call calls a method of the signer.
func call(ctx context.Context, signer, token, method string, params ...any) (result string, err error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, signer, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the signer answered %s", response.Status)
	}
	var answer struct {
		Result string
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	if answer.Error.Message != "" {
		return "", errors.New(answer.Error.Message)
	}
	return answer.Result, nil
}

const authorizationTypes = `{
	"EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
		{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}],
	"TransferWithAuthorization": [{"name": "from", "type": "address"}, {"name": "to", "type": "address"},
		{"name": "value", "type": "uint256"}, {"name": "validAfter", "type": "uint256"},
		{"name": "validBefore", "type": "uint256"}, {"name": "nonce", "type": "bytes32"}]}`
