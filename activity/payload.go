package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

// Encoding is how the payload of a message is encoded.
type Encoding string

// The encodings.
const (
	EncodingHex           Encoding = "PAYLOAD_ENCODING_HEXADECIMAL"
	EncodingText          Encoding = "PAYLOAD_ENCODING_TEXT_UTF8"
	EncodingEIP712        Encoding = "PAYLOAD_ENCODING_EIP712"
	EncodingAuthorization Encoding = "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"
)

// HashFunction is what hashes a payload before it is signed.
type HashFunction string

// The hash functions.
const (
	HashNone          HashFunction = "HASH_FUNCTION_NO_OP"
	HashSHA256        HashFunction = "HASH_FUNCTION_SHA256"
	HashKeccak256     HashFunction = "HASH_FUNCTION_KECCAK256"
	HashDoubleSHA256  HashFunction = "HASH_FUNCTION_DOUBLE_SHA256"  // SHA-256 of SHA-256; not in the hosted service
	HashNotApplicable HashFunction = "HASH_FUNCTION_NOT_APPLICABLE" // Ed25519
)

// SignRawPayloadIntent asks for a message to be signed. It has the parameters of a sign_raw_payload
// request (signRawPayloadIntentV2). Package messages defines what is a message; a bare hash is not.
type SignRawPayloadIntent struct {
	SignWith     string       `json:"signWith"` // an address of the key, or its id
	Payload      string       `json:"payload"`  // encoded as Encoding says
	Encoding     Encoding     `json:"encoding"`
	HashFunction HashFunction `json:"hashFunction"`
}

// SignMessageIntent is SignRawPayloadIntent under the name that the library uses.
type SignMessageIntent = SignRawPayloadIntent

// SignRawPayloadsIntent asks for several messages to be signed by one key, all or none. It
// has the parameters of a sign_raw_payloads request (signRawPayloadsIntent).
type SignRawPayloadsIntent struct {
	SignWith     string       `json:"signWith"`
	Payloads     []string     `json:"payloads"`
	Encoding     Encoding     `json:"encoding"`
	HashFunction HashFunction `json:"hashFunction"`
}

// SignRawPayloadResult is a signature (signRawPayloadResult).
type SignRawPayloadResult struct {
	R string `json:"r"` // 32 bytes, lower-case hex without 0x; for Ed25519 the first half
	S string `json:"s"` // 32 bytes; for Ed25519 the second half
	V string `json:"v"` // recovery id, 00 or 01; 00 for Ed25519
}

// SignRawPayloadsResult has the signatures of the payloads, in their order (signRawPayloadsResult).
type SignRawPayloadsResult struct {
	Signatures []SignRawPayloadResult `json:"signatures"`
}

func (SignRawPayloadIntent) ActivityType() Type  { return TypeSignRawPayload }
func (SignRawPayloadsIntent) ActivityType() Type { return TypeSignRawPayloads }
func (SignRawPayloadResult) ActivityType() Type  { return TypeSignRawPayload }
func (SignRawPayloadsResult) ActivityType() Type { return TypeSignRawPayloads }

func decodeSignRawPayload(parameters *parameterText) (Intent, bool, error) {
	var intent SignRawPayloadIntent
	proofs, err := parameters.read(
		required("signWith", &intent.SignWith),
		required("payload", &intent.Payload),
		required("encoding", (*string)(&intent.Encoding)),
		required("hashFunction", (*string)(&intent.HashFunction)),
	)
	return intent, proofs, err
}

// DecodeSignMessageIntent parses the parameters of a sign_raw_payload request without an
// envelope, as strictly as [Decode] does.
func DecodeSignMessageIntent(parameters []byte) (SignMessageIntent, error) {
	intent, _, err := decodeSignRawPayload(&parameterText{what: "intent", text: parameters})
	if err != nil {
		return SignMessageIntent{}, err
	}
	return intent.(SignRawPayloadIntent), nil
}

func decodeSignRawPayloads(parameters *parameterText) (Intent, bool, error) {
	var intent SignRawPayloadsIntent
	proofs, err := parameters.read(
		required("signWith", &intent.SignWith),
		strictjson.Required("payloads", &intent.Payloads).AtMost(boundOf("payloads")),
		required("encoding", (*string)(&intent.Encoding)),
		required("hashFunction", (*string)(&intent.HashFunction)),
	)
	return intent, proofs, err
}
