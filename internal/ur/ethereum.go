package ur

import "fmt"

// The kinds of data in an EthSignRequest (ERC-4527).
const (
	EthLegacy   = 1 // unsigned transaction, RLP
	EthTyped    = 2 // EIP-712, JSON
	EthPersonal = 3 // EIP-191 message
	EthTx       = 4 // unsigned EIP-2718 transaction
)

// EthSignRequest is ERC-4527's eth-sign-request. It has no stamp.
type EthSignRequest struct {
	ID      UUID    `cbor:"1,keyasint,omitzero"`
	Data    Bytes   `cbor:"2,keyasint"`
	Kind    int     `cbor:"3,keyasint"`
	ChainID uint64  `cbor:"4,keyasint,omitempty"` // 0: absent
	Path    Keypath `cbor:"5,keyasint"`
	Address Bytes   `cbor:"6,keyasint,omitempty"` // 20 bytes
	Origin  string  `cbor:"7,keyasint,omitempty"`
}

// EthSignature is the answer to an EthSignRequest, eth-signature.
type EthSignature struct {
	ID        UUID   `cbor:"1,keyasint,omitzero"`
	Signature []byte `cbor:"2,keyasint"` // r ‖ s ‖ v, 32 bytes each, v without leading zeros
	Origin    string `cbor:"3,keyasint,omitempty"`
}

// DecodeEthSignRequest reads an eth-sign-request.
func DecodeEthSignRequest(m Message) (r EthSignRequest, err error) {
	if err := decodeForeign(m, &r, TypeEthSignRequest); err != nil {
		return r, err
	}
	if len(r.Address) != 0 && len(r.Address) != 20 {
		return r, fmt.Errorf("ur:%s: an address of %d bytes: expected 20", m.Type, len(r.Address))
	}
	return r, nil
}

// Message encodes the request.
func (r EthSignRequest) Message() Message { return Message{TypeEthSignRequest, marshal(r)} }

// Message encodes the signature.
func (s EthSignature) Message() Message { return Message{TypeEthSignature, marshal(s)} }
