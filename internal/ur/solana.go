package ur

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
