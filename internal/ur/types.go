package ur

import "fmt"

// Request is a stamped request on its way to the machine that signs, as in
// request.json: x-countersign-request.
type Request struct {
	Body   []byte `cbor:"1,keyasint"` // exactly as stamped
	Header string `cbor:"2,keyasint"` // name of the stamp's header
	Value  string `cbor:"3,keyasint"`
}

// Message encodes the request.
func (r Request) Message() Message { return Message{TypeRequest, marshal(r)} }

// DecodeRequest reads a request. Its body and its stamp are not checked.
func DecodeRequest(m Message) (r Request, err error) { return r, decode(m, &r, TypeRequest) }

// Vote is a stamped vote on a request, on its way to the machine that signs:
// x-countersign-vote. It has the members of a request; the type keeps one from being
// taken for the other before its body is read.
type Vote Request

// Message encodes the vote.
func (v Vote) Message() Message { return Message{TypeVote, marshal(v)} }

// DecodeVote reads a vote. Its body and its stamp are not checked.
func DecodeVote(m Message) (v Vote, err error) { return v, decode(m, &v, TypeVote) }

// Answer is what came of a request, in short: x-countersign-activity.
type Answer struct {
	Fingerprint []byte `cbor:"1,keyasint"` // SHA-256 of the body: 32 bytes
	Signed      []byte `cbor:"2,keyasint"` // the signed transaction
	Proof       *Proof `cbor:"3,keyasint,omitempty"`
}

// Proof is an app proof.
type Proof struct {
	PublicKey []byte `cbor:"1,keyasint"` // uncompressed: 65 bytes
	Payload   string `cbor:"2,keyasint"` // the JSON text that is signed
	Signature []byte `cbor:"3,keyasint"` // r ‖ s: 64 bytes
}

// Message encodes the answer.
func (a Answer) Message() Message { return Message{TypeAnswer, marshal(a)} }

// DecodeAnswer reads an answer. Its proof is not verified.
func DecodeAnswer(m Message) (a Answer, err error) {
	if err := decode(m, &a, TypeAnswer); err != nil {
		return a, err
	}
	if len(a.Fingerprint) != 32 {
		return a, fmt.Errorf("ur:%s: a fingerprint of %d bytes: 32 are expected", TypeAnswer, len(a.Fingerprint))
	}
	return a, nil
}

// PSBT is the message of a PSBT, of the new type or, for wallets from before 2023,
// the old one.
func PSBT(packet []byte, kind string) Message { return Message{kind, marshal(packet)} }

// DecodePSBT reads a PSBT of either type.
func DecodePSBT(m Message) (packet []byte, err error) {
	return packet, decode(m, &packet, TypePSBT, TypeCryptoPSBT)
}
