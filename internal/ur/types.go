package ur

import "fmt"

// Request is a stamped request for the signing machine, with the members of
// request.json: x-countersign-request.
type Request struct {
	Body   []byte `cbor:"1,keyasint"` // exactly as stamped
	Header string `cbor:"2,keyasint"` // name of the stamp's header
	Value  string `cbor:"3,keyasint"`
}

// Message encodes the request.
func (r Request) Message() Message { return Message{TypeRequest, marshal(r)} }

// DecodeRequest reads a request. It checks neither the body nor the stamp.
func DecodeRequest(m Message) (r Request, err error) {
	err = decode(m, &r, TypeRequest)
	return r, err
}

// Vote is a stamped vote on a request, for the signing machine: x-countersign-vote. It
// has the members of a request; the type distinguishes them before the body is read.
type Vote Request

// Message encodes the vote.
func (v Vote) Message() Message { return Message{TypeVote, marshal(v)} }

// DecodeVote reads a vote. It checks neither the body nor the stamp.
func DecodeVote(m Message) (v Vote, err error) {
	err = decode(m, &v, TypeVote)
	return v, err
}

// Answer is the result of a request, without its activity: x-countersign-activity.
type Answer struct {
	Fingerprint []byte   `cbor:"1,keyasint"`           // SHA-256 of the body: 32 bytes
	Signed      []byte   `cbor:"2,keyasint,omitempty"` // the signed transaction
	Proof       *Proof   `cbor:"3,keyasint,omitempty"`
	Signatures  [][]byte `cbor:"4,keyasint,omitempty"` // of messages: r ‖ s ‖ v, 65 bytes each
}

// SignatureSize is the size of a signature over a message, in bytes.
const SignatureSize = 65

// Proof is an app proof.
type Proof struct {
	PublicKey []byte `cbor:"1,keyasint"` // uncompressed: 65 bytes
	Payload   string `cbor:"2,keyasint"` // the JSON text that is signed
	Signature []byte `cbor:"3,keyasint"` // r ‖ s: 64 bytes
}

// Message encodes the answer.
func (a Answer) Message() Message { return Message{TypeAnswer, marshal(a)} }

// DecodeAnswer reads an answer. It does not verify the proof.
func DecodeAnswer(m Message) (a Answer, err error) {
	if err := decode(m, &a, TypeAnswer); err != nil {
		return a, err
	}
	if len(a.Fingerprint) != 32 {
		return a, fmt.Errorf("ur:%s: a fingerprint of %d bytes: expected 32", TypeAnswer, len(a.Fingerprint))
	}
	if (len(a.Signed) > 0) == (len(a.Signatures) > 0) {
		return a, fmt.Errorf("ur:%s: expected either a signed transaction or signatures over messages", TypeAnswer)
	}
	for _, signature := range a.Signatures {
		if len(signature) != SignatureSize {
			return a, fmt.Errorf("ur:%s: a signature of %d bytes: expected %d", TypeAnswer, len(signature), SignatureSize)
		}
	}
	return a, nil
}

// PSBT returns the message of a PSBT: of TypePSBT or, for wallets from before 2023, TypeCryptoPSBT.
func PSBT(packet []byte, kind string) Message { return Message{kind, marshal(packet)} }

// DecodePSBT reads a PSBT of either type.
func DecodePSBT(m Message) (packet []byte, err error) {
	err = decode(m, &packet, TypePSBT, TypeCryptoPSBT)
	return packet, err
}
