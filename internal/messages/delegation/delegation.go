// Package delegation reads authorizations of EIP-7702, by which an account lets the
// code of a contract run at its address.
//
// # Input
//
// One JSON object with exactly three members:
//
//	address   the delegate: "0x" and 40 hex digits; zero ends the delegation
//	chainId   0 for every chain
//	nonce     of the account
//
// chainId and nonce are JSON integers of up to 2^53−1, or strings with a decimal or
// 0x number.
//
// # Output
//
// A signature over keccak256(05 ‖ rlp([chainId, address, nonce])).
package delegation

import (
	"math"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/statement"
)

// Name is the Chain of this package's errors.
const Name = "eip7702"

// Parse reads an authorization from JSON text. The error is a *chains.ParseError.
func Parse(text []byte) (chains.Transaction, error) {
	members, err := eip712.ReadMembers(text, Name, map[string]string{"address": "address", "chainId": "uint256", "nonce": "uint256"})
	if err != nil {
		return nil, err
	}
	chainID, nonce, delegate := members["chainId"].Int, members["nonce"].Int, [20]byte(members["address"].Bytes)
	if !nonce.IsUint64() || nonce.Uint64() == math.MaxUint64 {
		return nil, statement.Malformed(Name, "nonce", -1, "%s: must be at most 2^64−2, the network skips others", nonce)
	}
	if !chainID.IsUint64() {
		return nil, statement.Malformed(Name, "chainId", -1, "%s: must be at most 64 bits", chainID)
	}
	network := evm.NetworkID(chainID.Uint64())
	effect := evm.OnChain(chainID.Uint64(), network).Delegation(chains.SignerParty(), delegate, "address")
	effect.Function = "EIP-7702 authorization"
	return statement.Parts{
		Chain: ethereum.Chain{},
		Fields: func() []chains.Field {
			return []chains.Field{chains.Text("kind", "authorization (EIP-7702)"), chains.AddressField("delegate", evm.Address(delegate).String()),
				chainField(network, chainID), chains.BigInteger("nonce", nonce)}
		},
		Effects: []chains.Effect{effect},
		Whole: func() []chains.Effect {
			whole := effect
			whole.Args = []chains.Arg{{Name: "chainId", Value: chainID.String()}, {Name: "nonce", Value: nonce.String()}}
			return []chains.Effect{whole}
		},
		Hazards: func(effects []chains.Effect, signer chains.Party) []chains.Hazard {
			return hazardsOf(effects, signer, chainID)
		},
		Digest: evm.DelegationDigest(chainID, delegate, nonce.Uint64()),
	}.Transaction(), nil
}

func chainField(network string, chainID *big.Int) chains.Field {
	field := chains.BigInteger("chain id", chainID)
	if chainID.Sign() == 0 {
		return field.WithNote("every chain")
	}
	return field.WithNote(chains.NetworkOf(network).Name)
}

func hazardsOf(effects []chains.Effect, signer chains.Party, chainID *big.Int) []chains.Hazard {
	hazards := evm.Hazards(ethereum.Name, effects, signer)
	for i := range hazards { // of which there is one: control of the account
		hazards[i].Name = ethereum.HazardDelegation
	}
	if chainID.Sign() == 0 {
		hazards = append(hazards, chains.Hazard{Name: ethereum.HazardAnyChainAuthorization,
			Detail: "the authorization has chain id 0: it is valid on every chain"})
	}
	return hazards
}
