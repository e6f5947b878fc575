package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// SignRawPayloadIntent asks for a message to be signed. It has the parameters of a
// sign_raw_payload request (signRawPayloadIntentV2). Package messages defines what is a
// message; a bare hash is not.
type SignRawPayloadIntent struct {
	SignWith     string `json:"signWith"`     // an address of the key, or its id
	Payload      string `json:"payload"`      // encoded as Encoding says
	Encoding     string `json:"encoding"`     // PAYLOAD_ENCODING_…
	HashFunction string `json:"hashFunction"` // HASH_FUNCTION_…
}

// SignMessageIntent is SignRawPayloadIntent under the name that the library uses.
type SignMessageIntent = SignRawPayloadIntent

// SignRawPayloadsIntent asks for several messages to be signed by one key, all or none. It
// has the parameters of a sign_raw_payloads request (signRawPayloadsIntent).
type SignRawPayloadsIntent struct {
	SignWith     string   `json:"signWith"`
	Payloads     []string `json:"payloads"`
	Encoding     string   `json:"encoding"`
	HashFunction string   `json:"hashFunction"`
}

// SignRawPayloadResult is a signature (signRawPayloadResult).
type SignRawPayloadResult struct {
	R string `json:"r"` // 32 bytes, lower-case hex without 0x; for Ed25519 the first half
	S string `json:"s"` // 32 bytes; for Ed25519 the second half
	V string `json:"v"` // recovery id, 00 or 01; 00 for Ed25519
}

// SignRawPayloadsResult has the signatures of the payloads, in their order
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

// DecodeSignMessageIntent parses the parameters of a sign_raw_payload request without an
// envelope, as strictly as [Decode] does.
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
