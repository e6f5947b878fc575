package ethereum

import (
	"math"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
	"github.com/countersign-dev/countersign/internal/messages/statement"
)

// signedAuthorization is an authorization of EIP-7702 that is signed as a message: the code of a
// contract then runs at the account's address. It is one JSON object with exactly three members:
//
//	address   the delegate: "0x" and 40 hex digits; zero ends the delegation
//	chainId   0 for every chain
//	nonce     of the account
//
// chainId and nonce are JSON integers of up to 2^53−1, or strings with a decimal or 0x number.
// What is signed is keccak256(05 ‖ rlp([chainId, address, nonce])).
type signedAuthorization struct {
	delegate evm.Address
	chainID  *big.Int
	nonce    *big.Int
	network  string
}

// readAuthorization reads an authorization from JSON text. The error is a *chains.ParseError.
func (c Chain) readAuthorization(text []byte) (chains.Transaction, error) {
	const name = "eip7702" // in errors
	members, err := eip712.ReadMembers(text, name, map[string]string{"address": "address",
		"chainId": "uint256", "nonce": "uint256"})
	if err != nil {
		return nil, err
	}
	chainID, nonce := members["chainId"].Number, members["nonce"].Number
	delegate := evm.Address(members["address"].Bytes)
	switch {
	case !nonce.IsUint64() || nonce.Uint64() == math.MaxUint64:
		return nil, statement.Malformed(name, "nonce", -1,
			"%s: must be at most 2^64−2, the network skips others", nonce)
	case !chainID.IsUint64():
		return nil, statement.Malformed(name, "chainId", -1, "%s: must be at most 64 bits", chainID)
	}
	return &statement.Message{
		By:      c,
		Content: &signedAuthorization{delegate, chainID, nonce, evm.NetworkID(chainID.Uint64())},
		Digest:  evm.DelegationDigest(chainID, delegate, nonce.Uint64()),
	}, nil
}

func (a *signedAuthorization) Fields() []chains.Field {
	note := "every chain"
	if a.chainID.Sign() != 0 {
		note = chains.NetworkOf(a.network).Name
	}
	return []chains.Field{chains.Text("kind", "authorization (EIP-7702)"),
		chains.AddressField("delegate", a.delegate.String()),
		chains.BigInteger("chain id", a.chainID).WithNote(note), chains.BigInteger("nonce", a.nonce)}
}

func (a *signedAuthorization) Effects(signer statement.Signer) []chains.Effect {
	effect := evm.OnChain(a.chainID.Uint64(), a.network).Delegation(chains.SignerParty(), a.delegate, "address")
	effect.Function = "EIP-7702 authorization"
	effect.Args = []chains.Arg{{Name: "chainId", Value: a.chainID.String()}, {Name: "nonce", Value: a.nonce.String()}}
	return signer.Resolve([]chains.Effect{effect}, nil)
}

func (a *signedAuthorization) Hazards(signer statement.Signer) []chains.Hazard {
	hazards := evm.Hazards(Name, a.Effects(signer), signer.Party)
	for i := range hazards { // of which there is one: control of the account
		hazards[i].Name = HazardDelegation
	}
	if a.chainID.Sign() == 0 {
		hazards = append(hazards, chains.Hazard{Name: HazardAnyChainAuthorization,
			Detail: "the authorization has chain id 0: it is valid on every chain"})
	}
	return hazards
}
