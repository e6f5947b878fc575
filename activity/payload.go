package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// SignRawPayloadIntent is a message that a client wants signed: the parameters of a
// sign_raw_payload request (signRawPayloadIntentV2). What is a message is said by
// package messages: a hash is none.
type SignRawPayloadIntent struct {
	SignWith     string `json:"signWith"`     // an address of the key, or its id
	Payload      string `json:"payload"`      // as Encoding says
	Encoding     string `json:"encoding"`     // PAYLOAD_ENCODING_…
	HashFunction string `json:"hashFunction"` // HASH_FUNCTION_…
}

// SignMessageIntent is SignRawPayloadIntent: for callers of the library.
type SignMessageIntent = SignRawPayloadIntent

// SignRawPayloadsIntent is several messages that one key signs, all or none: the
// parameters of a sign_raw_payloads request (signRawPayloadsIntent).
type SignRawPayloadsIntent struct {
	SignWith     string   `json:"signWith"`
	Payloads     []string `json:"payloads"`
	Encoding     string   `json:"encoding"`
	HashFunction string   `json:"hashFunction"`
}

// SignRawPayloadResult is a signature (signRawPayloadResult).
type SignRawPayloadResult struct {
	R string `json:"r"` // 32 bytes, lower-case hex without 0x; of Ed25519 the first half
	S string `json:"s"` // 32 bytes; of Ed25519 the second half
	V string `json:"v"` // recovery id, 00 or 01; 00 of Ed25519
}

// SignRawPayloadsResult is the signatures of the payloads, in their order
// (signRawPayloadsResult).
type SignRawPayloadsResult struct {
	Signatures []SignRawPayloadResult `json:"signatures"`
}

// ActivityType implements Intent.
func (SignRawPayloadIntent) ActivityType() Type { return TypeSignRawPayload }

// ActivityType implements Intent.
func (SignRawPayloadsIntent) ActivityType() Type { return TypeSignRawPayloads }

// ActivityType implements Result.
func (SignRawPayloadResult) ActivityType() Type { return TypeSignRawPayload }

// ActivityType implements Result.
func (SignRawPayloadsResult) ActivityType() Type { return TypeSignRawPayloads }

func decodeSignRawPayload(parameters []byte, read parameterReader) (Intent, bool, error) {
	var intent SignRawPayloadIntent
	proofs, err := read(parameters,
		required("signWith", &intent.SignWith),
		required("payload", &intent.Payload),
		required("encoding", &intent.Encoding),
		required("hashFunction", &intent.HashFunction),
	)
	return intent, proofs, err
}

// DecodeSignMessageIntent reads the parameters of a sign_raw_payload request, as
// strictly as [Decode] does: for callers that have an intent without an envelope.
func DecodeSignMessageIntent(parameters []byte) (SignMessageIntent, error) {
	intent, _, err := decodeSignRawPayload(parameters, readAlone)
	if err != nil {
		return SignMessageIntent{}, err
	}
	return intent.(SignRawPayloadIntent), nil
}

func decodeSignRawPayloads(parameters []byte, read parameterReader) (Intent, bool, error) {
	var intent SignRawPayloadsIntent
	proofs, err := read(parameters,
		required("signWith", &intent.SignWith),
		strictjson.Required("payloads", &intent.Payloads).AtMost(boundOf("payloads")),
		required("encoding", &intent.Encoding),
		required("hashFunction", &intent.HashFunction),
	)
	return intent, proofs, err
}
