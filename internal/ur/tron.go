package ur

import "fmt"

// TronSignRequest is Keystone's tron-sign-request, which carries the raw bytes. It
// has no stamp.
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
