package messages_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/messages"
)

// refusedPayload is a payload that is always refused, or refused unless its hazards are
// allowed, with the expected answer.
type refusedPayload struct {
	name, text string
	encoding   activity.Encoding
	hash       activity.HashFunction
	signWith   string   // empty: the key of the tests
	hazards    []string // that must be allowed; nil if it is always refused
}

// merkleRoot is typed data that has a single bytes32 and nothing else.
const merkleRoot = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],"Bulk":[{"name":"root","type":"bytes32"}]},` +
	`"primaryType":"Bulk","domain":{"name":"Seaport","chainId":1,"verifyingContract":"0x0000000000000068f116a894984e2db1123eb395"},"message":{"root":"0xabababababababababababababababababababababababababababababababab"}}`

func personalHex(message string) string {
	return hex.EncodeToString(fmt.Appendf(nil, "\x19Ethereum Signed Message:\n%d%s", len(message), message))
}

// refusedPayloads returns the refusals of testdata/refusals.md in its order: disguised
// hashes, ambiguous payloads, and payloads that no reader accepts.
func refusedPayloads() []refusedPayload {
	hash := strings.Repeat("ab", 32)
	solanaTransfer := transferMessage([]byte(strings.Repeat("\x01", 32)))
	offchain := "ff" + hex.EncodeToString([]byte("solana offchain"))
	return []refusedPayload{
		{name: "a hash", text: hash, encoding: activity.EncodingHex, hash: activity.HashNone},
		{name: "a hash, with 0x", text: "0x" + hash, encoding: activity.EncodingHex, hash: activity.HashNone},
		{name: "a hash, as text", text: hash, encoding: activity.EncodingText, hash: activity.HashNone},
		{name: "a personal message, without a hash function", text: personalHex("hello"), encoding: activity.EncodingHex, hash: activity.HashNone},
		{name: "anything else, without a hash function", text: "hello", encoding: activity.EncodingText, hash: activity.HashNone},
		{name: "a hash, to be hashed by Keccak-256", text: hash, encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a hash, to be hashed by SHA-256", text: hash, encoding: activity.EncodingHex, hash: activity.HashSHA256},
		{name: "a hash, for Ed25519", text: hash, encoding: activity.EncodingHex, hash: activity.HashNotApplicable, signWith: "key-2"},
		{name: "`19 01` and two hashes", text: "1901" + hash + hash, encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a hash as a personal message", text: personalHex(strings.Repeat("\xab", 32)), encoding: activity.EncodingHex, hash: activity.HashKeccak256, hazards: []string{"message/hash-like"}},
		{name: "64 hex digits as a personal message", text: personalHex("0x" + hash), encoding: activity.EncodingHex, hash: activity.HashKeccak256, hazards: []string{"message/hash-like", "message/free-text"}},
		{name: "64 hex digits as a text for Solana", text: hash, encoding: activity.EncodingText, hash: activity.HashNotApplicable, signWith: "key-2", hazards: []string{"message/hash-like", "message/free-text", "solana/raw-message"}},
		{name: "typed data that is one hash, such as a Merkle root", text: merkleRoot, encoding: activity.EncodingEIP712, hash: activity.HashNone, hazards: []string{"eip712/hidden-contents", "eip712/unknown-type"}},
		{name: "data for a validator (`19 00`)", text: "1900" + strings.Repeat("ab", 30), encoding: activity.EncodingHex, hash: activity.HashKeccak256, hazards: []string{"message/validator-data"}},

		{name: "an Ethereum transaction, typed", text: enginetest.Unsigned, encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "an Ethereum transaction, legacy", text: enginetest.Hazardous, encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a Tempo transaction", text: "76c0", encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a transaction in hex as a personal message", text: personalHex(enginetest.Unsigned), encoding: activity.EncodingHex, hash: activity.HashKeccak256, hazards: []string{"message/hash-like", "message/free-text"}},
		{name: "a transaction in base64 as a personal message", text: personalHex(base64.StdEncoding.EncodeToString(solanaTransfer)), encoding: activity.EncodingHex, hash: activity.HashKeccak256, hazards: []string{"message/hash-like", "message/free-text"}},
		{name: "a transaction in base64 as a text for Solana", text: base64.StdEncoding.EncodeToString(solanaTransfer), encoding: activity.EncodingText, hash: activity.HashNotApplicable, signWith: "key-2", hazards: []string{"message/hash-like", "message/free-text", "solana/raw-message"}},
		{name: "an authorization by its preimage (`05…`)", text: "05d70194" + strings.Repeat("aa", 20) + "80", encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a truncated message of a Solana transaction", text: hex.EncodeToString(solanaTransfer[:100]), encoding: activity.EncodingHex, hash: activity.HashNotApplicable, signWith: "key-2"},
		{name: "a Bitcoin transaction, to be hashed by SHA-256", text: "02000000" + hash, encoding: activity.EncodingHex, hash: activity.HashSHA256},
		{name: "an off-chain message of Solana, to be hashed", text: offchain + "01", encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a personal message, for Ed25519", text: personalHex("hello"), encoding: activity.EncodingHex, hash: activity.HashNotApplicable, signWith: "key-2"},
		{name: "a personal message, to be hashed by SHA-256", text: personalHex("hello"), encoding: activity.EncodingHex, hash: activity.HashSHA256},
		{name: "typed data as a text", text: engines.PermitText, encoding: activity.EncodingText, hash: activity.HashKeccak256},
		{name: "typed data, with another hash function", text: engines.PermitText, encoding: activity.EncodingEIP712, hash: activity.HashKeccak256},

		{name: "a personal message without its prefix", text: "hello", encoding: activity.EncodingText, hash: activity.HashKeccak256},
		{name: "a personal message whose prefix has the wrong length", text: "\x19Ethereum Signed Message:\n6hello", encoding: activity.EncodingText, hash: activity.HashKeccak256},
		{name: "another version byte after `19`", text: "19ff", encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "a personal message that cannot be shown", text: personalHex("pay\u202eme"), encoding: activity.EncodingHex, hash: activity.HashKeccak256},
		{name: "an off-chain message of another version", text: offchain + "02", encoding: activity.EncodingHex, hash: activity.HashNotApplicable, signWith: "key-2"},
		{name: "a text for Solana without a header", text: "hello", encoding: activity.EncodingText, hash: activity.HashNotApplicable, signWith: "key-2", hazards: []string{"message/free-text", "solana/raw-message"}},
		{name: "typed data without `EIP712Domain`", text: strings.Replace(engines.PermitText, `"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],`, "", 1), encoding: activity.EncodingEIP712, hash: activity.HashNone},
		{name: "another encoding", text: "00", encoding: "PAYLOAD_ENCODING_BASE64", hash: activity.HashNone},
		{name: "another hash function", text: "00", encoding: activity.EncodingHex, hash: "HASH_FUNCTION_MD5"},
		{name: "not hex", text: "zz", encoding: activity.EncodingHex, hash: activity.HashKeccak256},
	}
}

// TestRefusals submits each refusal of testdata/refusals.md. The answer says what to send
// instead, and nothing is signed. A hazard is signed once it is allowed; everything else
// is refused for every key, although every hazard is allowed.
func TestRefusals(t *testing.T) {
	strict, lax := enginetest.New(t), enginetest.New(t, engines.WithHazards(countersign.AllHazards))
	page := testenv.Read(t, "testdata/refusals.md")
	var table strings.Builder
	for _, one := range refusedPayloads() {
		intent := engines.Payload(one.text, one.encoding, one.hash)
		if one.signWith != "" {
			intent.SignWith = one.signWith
		}
		answer := one.refusedBy(t, strict, intent)
		if one.hazards == nil {
			for _, signWith := range []string{enginetest.Address, "key-1", "key-2"} {
				intent.SignWith = signWith
				if other := one.refusedBy(t, lax, intent); other != answer {
					t.Errorf("%s: %s answers %s, not %s", one.name, signWith, other, answer)
				}
			}
		} else if _, err := engines.SubmitIntent(t, enginetest.New(t, engines.WithHazards(one.hazards...)), intent); err != nil {
			t.Errorf("%s: %v are allowed: %v", one.name, one.hazards, err)
		}
		fmt.Fprintf(&table, "| %s | %s |\n", one.name, strings.ReplaceAll(answer, "|", `\|`))
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("testdata/refusals.md has another table. It should be\n%s", table.String())
	}
	if signatures := strict.Signing.Signatures.Load() + lax.Signing.Signatures.Load(); signatures != 0 {
		t.Errorf("%d signatures", signatures)
	}
}

// refusedBy submits the payload, checks the reason and the field of the refusal, and
// returns its message.
func (r *refusedPayload) refusedBy(t *testing.T, f *enginetest.Fixture, intent activity.SignMessageIntent) string {
	t.Helper()
	reason := activity.ReasonInvalidTransaction
	if r.hazards != nil {
		reason = activity.ReasonHazardNotAllowed
	}
	_, err := engines.SubmitIntent(t, f, intent)
	refused := enginetest.Refusal(t, err, reason, "")
	for _, name := range r.hazards {
		if !strings.Contains(refused.Message, name) {
			t.Errorf("%s: %s is not named: %v", r.name, name, err)
		}
	}
	if refused.Field != "payload" {
		t.Errorf("%s: about %s", r.name, refused.Field)
	}
	return refused.Message
}

// TestHashRefused checks that a hash is recognized whatever its first byte is.
func TestHashRefused(t *testing.T) {
	f := enginetest.New(t, engines.WithHazards(countersign.AllHazards))
	for first := range 256 {
		text := fmt.Sprintf("%02x%s", first, strings.Repeat("cd", 31))
		for _, hash := range []activity.HashFunction{activity.HashNone, activity.HashKeccak256, activity.HashSHA256, activity.HashNotApplicable} {
			_, err := f.Engine.SignMessage(t.Context(), enginetest.Organization, engines.Payload(text, activity.EncodingHex, hash))
			enginetest.Refusal(t, err, activity.ReasonInvalidTransaction, "32 bytes")
		}
	}
}

// TestPayloadCount checks that a request with too few or too many payloads is told how
// many it has.
func TestPayloadCount(t *testing.T) {
	f := enginetest.New(t)
	for _, count := range []int{0, messages.MaxPayloads + 1} {
		_, err := engines.SubmitIntent(t, f, activity.SignRawPayloadsIntent{
			SignWith: enginetest.Address, Encoding: activity.EncodingText, HashFunction: activity.HashKeccak256,
			Payloads: slices.Repeat([]string{"\x19Ethereum Signed Message:\n2hi"}, count),
		})
		enginetest.Refusal(t, err, activity.ReasonInvalidTransaction, fmt.Sprintf("%d payloads: a request must have 1 to %d", count, messages.MaxPayloads))
	}
}
