package ethereum

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/rlp"
	"github.com/countersign-dev/countersign/keystore"
)

// SignWith names what signs a message: the key at an address, or the key with an id.
type SignWith = evm.SignWith

// ReadSignWith reads signWith: an address, mixed case being the checksum of
// EIP-55, or a key's id. The error is a *chains.SignerError.
func ReadSignWith(signWith string) (*SignWith, error) {
	read, err := evm.ReadSignWith(Name, signWith)
	if err != nil {
		return nil, err
	}
	return &read, nil
}

// PartyOf returns the party at the address of a secp256k1 key.
func PartyOf(pub keystore.PublicKey) chains.Party { return PartyAt(evm.AddressOf(pub)) }

// PartyAt returns the party at an address, whose text has the checksum of EIP-55.
func PartyAt(address [20]byte) chains.Party {
	return new(evm.Network).Party(address)
}

// NetworkID returns the CAIP-2 id of a chain; "eip155" for 0, which names none.
func NetworkID(chainID uint64) string { return evm.NetworkID(chainID) }

// AccountCall is a call that a contract account makes once its owners have signed a
// message, such as a transaction of a Safe.
type AccountCall struct {
	ChainID  uint64 // 0: not known, and no address is of a known contract
	Account  [20]byte
	To       [20]byte
	Value    *big.Int // wei
	Data     []byte
	Delegate bool // the code of To runs as the account

	// Refund is what the account pays for gas. The zero value is nothing.
	Refund evm.SafeRefund
}

// Read decodes the call and returns what it does, and the fields that show it.
func (c *AccountCall) Read() (effects []chains.Effect, fields []chains.Field) {
	tx := evm.SafeTransaction{Safe: c.Account, Call: evm.Transaction{To: c.To, Value: c.Value, Data: c.Data}, Delegate: c.Delegate, Refund: c.Refund}
	return tx.Read(contractsOf(c.ChainID))
}

// ReadOperation returns what a user operation (ERC-4337) on a chain does once this
// signature authorizes it, and the fields that show its call.
func ReadOperation(chainID uint64, o *evm.Operation) (effects []chains.Effect, fields []chains.Field) {
	return o.Read(contractsOf(chainID))
}

// Contracts returns the network on which the contracts of a chain id run. The id may be nil,
// which names no chain.
func (Chain) Contracts(chainID *big.Int) *evm.Network {
	switch {
	case chainID == nil:
		return contractsOf(0)
	case chainID.IsUint64():
		return contractsOf(chainID.Uint64())
	}
	network := contractsOf(0) // of which no contract is known
	network.ID = evm.NetworkID(0) + ":" + chainID.String()
	return network
}

// EffectHazards returns the dangers of the effects of a message, as for a transaction.
// Limits.MaxFee of the chain bounds its fees.
func (c Chain) EffectHazards(effects []chains.Effect, signer chains.Party) []chains.Hazard {
	return append(evm.Hazards(Name, effects, signer), evm.FeeHazards(Name, effects, signer, c.limits.MaxFee)...)
}

// KnownContract returns the name of the known contract at an address of a chain, empty
// if there is none.
func KnownContract(chainID uint64, address [20]byte) string {
	network := evm.Network{ChainID: chainID}
	return network.KnownName(address)
}

// Burns reports whether an asset that is transferred to a party is lost, or left to be
// taken: nobody can spend from that account, it is the token's own contract, or anyone can
// take what is there, such as in a router.
func Burns(chainID uint64, asset chains.Asset, to chains.Party) bool {
	network := evm.Network{ID: evm.NetworkID(chainID), ChainID: chainID}
	return network.Loses(to) || network.IsShared(to) || asset.Token.Equal(to)
}

// AuthorizationDigest returns the digest of an authorization of EIP-7702:
//
//	keccak256(05 ‖ rlp([chainId, delegate, nonce]))
func AuthorizationDigest(chainID *big.Int, delegate [20]byte, nonce uint64) [32]byte {
	items := rlp.AppendScalar(nil, chainID.FillBytes(make([]byte, 32)))
	items = append(append(items, 0x80+20), delegate[:]...)
	return evm.AuthorizationHash(rlp.AppendUint(items, nonce))
}
