package ethereum

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/texts"
)

var _ chains.MessageSigner = Chain{}

// ReadMessage implements chains.MessageSigner: typed data (EIP-712), an authorization (EIP-7702), a
// personal message, or data for a validator (both EIP-191).
func (c Chain) ReadMessage(message chains.Message) (chains.Transaction, error) {
	switch message.Form {
	case chains.MessageTypedData:
		return structures.Parse(message, structures.Verifier{Chain: c, Contracts: contracts, MaxFee: c.limits.MaxFee})
	case chains.MessageAuthorization:
		return c.readAuthorization(message.Bytes)
	case chains.MessageKeccak256:
		if len(message.Bytes) > 1 && message.Bytes[0] == 0x19 && message.Bytes[1] == 0 {
			return personal.ParseValidator(message.Bytes, c)
		}
		return personal.Parse(message.Bytes, c, personal.Kind{Prefix: personal.EthereumPrefix, Standard: texts.EIP4361})
	}
	return nil, chains.ErrUnsupported
}

func (Chain) MessageHazardNames() []string {
	return append(append(structures.HazardNames(), texts.HazardNames()...), personal.HazardValidatorData)
}

func (Chain) MessageKey(signWith string) (chains.MessageKey, error) {
	read, err := evm.ReadSignWith(Name, signWith)
	if err != nil {
		return nil, err
	}
	return &read, nil
}

// contracts returns the network on which the contracts of a chain id run. The id may be nil,
// which names no chain.
func contracts(chainID *big.Int) *evm.Network {
	switch {
	case chainID == nil:
		return evm.NetworkOfChain(0)
	case chainID.IsUint64():
		return evm.NetworkOfChain(chainID.Uint64())
	}
	return evm.OnChain(0, evm.NetworkID(0)+":"+chainID.String()) // of which no contract is known
}
