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

// SolSignRequest is Keystone's sol-sign-request. It has no stamp. Kind is only a hint:
// the data itself shows what it is.
type SolSignRequest struct {
	ID      UUID    `cbor:"1,keyasint,omitzero"`
	Data    Bytes   `cbor:"2,keyasint"`
	Path    Keypath `cbor:"3,keyasint"`
	Address Bytes   `cbor:"4,keyasint,omitempty"` // a hint; of most wallets 32 bytes
	Origin  string  `cbor:"5,keyasint,omitempty"`
	Kind    int     `cbor:"6,keyasint,omitempty"` // 1: transaction, 2: message
}

// SolSignature is the answer to a SolSignRequest, sol-signature.
type SolSignature struct {
	ID        UUID   `cbor:"1,keyasint,omitzero"`
	Signature []byte `cbor:"2,keyasint"` // 64 bytes
}

// DecodeSolSignRequest reads a sol-sign-request.
func DecodeSolSignRequest(m Message) (r SolSignRequest, err error) {
	err = decodeForeign(m, &r, TypeSolSignRequest)
	return r, err
}

// Message encodes the request.
func (r SolSignRequest) Message() Message { return Message{TypeSolSignRequest, marshal(r)} }

// Message encodes the signature.
func (s SolSignature) Message() Message { return Message{TypeSolSignature, marshal(s)} }

// TronSignRequest is Keystone's tron-sign-request, which carries the raw bytes. It has no stamp.
type TronSignRequest struct {
	ID      UUID
	Data    Bytes // Transaction.raw, or a message
	Kind    int   // 1: transaction, 2: message, 3: typed data; always 1 in the old layout
	Path    Keypath
	Address Bytes // may be empty
	Origin  string
}

// tronOld is the layout of firmware before 2.5.0. tronNew, the layout since then, has
// the kind where the path was.
type (
	tronOld struct {
		ID      UUID    `cbor:"1,keyasint,omitzero"`
		Data    Bytes   `cbor:"2,keyasint"`
		Path    Keypath `cbor:"3,keyasint"`
		Address Bytes   `cbor:"4,keyasint,omitempty"`
		Origin  string  `cbor:"5,keyasint,omitempty"`
	}
	tronNew struct {
		ID      UUID    `cbor:"1,keyasint,omitzero"`
		Data    Bytes   `cbor:"2,keyasint"`
		Kind    int     `cbor:"3,keyasint"`
		Path    Keypath `cbor:"4,keyasint"`
		Address Bytes   `cbor:"5,keyasint,omitempty"`
		Origin  string  `cbor:"6,keyasint,omitempty"`
	}
)

// TronSignature is the answer to a TronSignRequest, tron-signature.
type TronSignature struct {
	ID        UUID   `cbor:"1,keyasint,omitzero"`
	Signature []byte `cbor:"2,keyasint"` // r ‖ s ‖ v, 65 bytes; v is 27 or 28, as in TronWeb
}

// DecodeTronSignRequest reads a tron-sign-request in either layout.
func DecodeTronSignRequest(m Message) (TronSignRequest, error) {
	var newer tronNew
	newErr := decodeForeign(m, &newer, TypeTronSignRequest)
	if newErr == nil {
		return TronSignRequest(newer), nil
	}
	var older tronOld
	if err := decodeForeign(m, &older, TypeTronSignRequest); err != nil {
		return TronSignRequest{}, fmt.Errorf("%w (and in the newer layout: %w)", err, newErr)
	}
	return TronSignRequest{older.ID, older.Data, 1, older.Path, older.Address, older.Origin}, nil
}

// Message encodes the request, in the new layout.
func (r TronSignRequest) Message() Message {
	return Message{TypeTronSignRequest, marshal(tronNew(r))}
}

// Message encodes the signature.
func (s TronSignature) Message() Message { return Message{TypeTronSignature, marshal(s)} }
