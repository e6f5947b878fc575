package interop

import (
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// tempoFields returns a transaction with the names of ox's TxEnvelopeTempo.
func tempoFields(tx *tempomodel.Transaction) map[string]any {
	fields := map[string]any{
		"chainId": tx.ChainID, "maxPriorityFeePerGas": tx.Tip.String(), "maxFeePerGas": tx.Cap.String(),
		"gas": strconv.FormatUint(tx.Gas, 10), "nonceKey": tx.NonceKey.String(), "nonce": strconv.FormatUint(tx.Nonce, 10),
		"calls": tempoCalls(tx.Calls),
	}
	if len(tx.AccessList) > 0 {
		fields["accessList"] = accessListFields(tx.AccessList)
	}
	if tx.ValidBefore > 0 {
		fields["validBefore"] = tx.ValidBefore
	}
	if tx.ValidAfter > 0 {
		fields["validAfter"] = tx.ValidAfter
	}
	if len(tx.FeeToken) > 0 {
		fields["feeToken"] = hexutil.Encode(tx.FeeToken)
	}
	tempoPayer(fields, tx.FeePayer)
	for _, a := range tx.Authorizations {
		list, _ := fields["authorizationList"].([]any)
		fields["authorizationList"] = append(list, map[string]any{
			"chainId": a.ChainID, "address": hexutil.Encode(a.Address[:]),
			"nonce": strconv.FormatUint(a.Nonce, 10), "signature": hexutil.Encode(a.Signature),
		})
	}
	for _, authorization := range tx.Key {
		fields["keyAuthorization"] = tempoKey(authorization)
	}
	return fields
}

func tempoCalls(calls []tempomodel.Call) []any {
	var list []any
	for _, call := range calls {
		fields := map[string]any{"value": call.Value.String(), "data": hexutil.Encode(call.Input)}
		if len(call.To) > 0 {
			fields["to"] = hexutil.Encode(call.To)
		}
		list = append(list, fields)
	}
	return list
}

func tempoPayer(fields map[string]any, payer rlp.RawValue) {
	switch payer[0] {
	case 0x80:
	case 0x00:
		fields["feePayerSignature"] = nil
	default:
		var signature tempomodel.PayerSignature
		if err := rlp.DecodeBytes(payer, &signature); err != nil {
			panic(err)
		}
		bytes := make([]byte, crypto.SignatureLength)
		signature.R.FillBytes(bytes[:32])
		signature.S.FillBytes(bytes[32:64])
		bytes[64] = 27 + signature.YParity
		fields["feePayerSignature"] = hexutil.Encode(bytes)
	}
}

func tempoKey(authorization tempomodel.KeyAuthorization) map[string]any {
	key := authorization.Key
	fields := map[string]any{
		"chainId": strconv.FormatUint(key.ChainID, 10), "type": []string{"secp256k1", "p256", "webAuthn"}[key.Type],
		"address": hexutil.Encode(key.ID[:]), "signature": hexutil.Encode(authorization.Signature),
	}
	if key.Expiry > 0 {
		fields["expiry"] = key.Expiry
	}
	if key.Limits.Present {
		fields["limits"] = tempoLimits(key.Limits.Value)
	}
	if key.Scopes.Present {
		fields["scopes"] = tempoScopes(key.Scopes.Value)
	}
	if key.Witness.Present {
		fields["witness"] = key.Witness.Value
	}
	if key.Admin == 1 {
		fields["isAdmin"] = true
	}
	if key.Account.Present {
		fields["account"] = hexutil.Encode(key.Account.Value[:])
	}
	return fields
}

func tempoLimits(limits []tempomodel.Limit) []any {
	list := []any{}
	for _, limit := range limits {
		fields := map[string]any{"token": hexutil.Encode(limit.Token[:]), "limit": limit.Amount.String()}
		if limit.Period > 0 {
			fields["period"] = limit.Period
		}
		list = append(list, fields)
	}
	return list
}

// tempoScopes returns a flat list, as in ox: one entry per rule, or one for a target
// without rules.
func tempoScopes(scopes []tempomodel.Scope) []any {
	list := []any{}
	for _, scope := range scopes {
		target := hexutil.Encode(scope.Target[:])
		if len(scope.Rules) == 0 {
			list = append(list, map[string]any{"address": target})
		}
		for _, rule := range scope.Rules {
			recipients := []string{}
			for _, recipient := range rule.Recipients {
				recipients = append(recipients, hexutil.Encode(recipient[:]))
			}
			list = append(list, map[string]any{"address": target, "selector": hexutil.Encode(rule.Selector[:]), "recipients": recipients})
		}
	}
	return list
}
