package request_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
)

// Bounds of the cost of a submitted body, from decoding to the answer: bytes and objects
// allocated per body, and per byte of it.
const (
	costEach           = 128 << 10
	costPerByte        = 40
	costObjectsEach    = 500
	costBytesPerObject = 2 // of the body
)

// Bounds of the cost of each value of typed data, which is shown and hashed. There are at
// most 16,384 values.
const (
	costValues          = 16_000
	costPerValue        = 560 // 152 of them are the field of the summary
	costObjectsPerValue = 5
)

// Bounds of the cost of each transaction of a list, with its signature. There are at most 1,000.
const (
	costPerListed        = 16 << 10
	costObjectsPerListed = 80
)

// costBody is the parameters of a body of a type.
type costBody struct {
	name string
	kind activity.Type
	of   map[string]any
}

// costBodies returns bodies of all types, chains and kinds of payload.
func costBodies(on *activity.Record) (all []costBody) {
	add := func(name string, kind activity.Type, of map[string]any) { all = append(all, costBody{name, kind, of}) }
	for _, chain := range []string{"ETHEREUM", "SOLANA", "TRON", "BITCOIN", "TEMPO"} {
		add(chain, activity.TypeSignTransaction, map[string]any{
			"signWith": enginetest.Address, "unsignedTransaction": enginetest.Unsigned, "type": "TRANSACTION_TYPE_" + chain})
		add(chain, activity.TypeSignTransactions, map[string]any{"type": "TRANSACTION_TYPE_" + chain, "transactions": []any{
			map[string]any{"signWith": enginetest.Address, "unsignedTransaction": enginetest.Unsigned}}})
	}
	for _, encoding := range []string{"TEXT_UTF8", "HEXADECIMAL", "EIP712", "EIP7702_AUTHORIZATION"} {
		payload := map[string]any{"signWith": enginetest.Address, "encoding": "PAYLOAD_ENCODING_" + encoding, "hashFunction": "HASH_FUNCTION_KECCAK256"}
		one, many := maps.Clone(payload), maps.Clone(payload)
		one["payload"], many["payloads"] = "68656c6c6f", []any{"68656c6c6f"}
		add(encoding, activity.TypeSignRawPayload, one)
		add(encoding, activity.TypeSignRawPayloads, many)
	}
	code := map[string]any{
		"otpType": "OTP_TYPE_EMAIL", "contact": "user@example.com", "appName": "Demo", "userIdentifier": "user", "sendFromEmailAddress": "a@example.com",
		"sendFromEmailSenderName": "Demo", "expirationSeconds": "300", "replyToEmailAddress": "a@example.com",
		"emailCustomization": map[string]any{"logoUrl": "https://example.com", "magicLinkTemplate": "https://example.com/%s", "templateVariables": "{}", "templateId": "a"},
		"smsCustomization":   map[string]any{"template": "%s"},
	}
	for _, kind := range []activity.Type{activity.TypeInitOTPAuth, activity.TypeInitOTPV2, activity.TypeInitOTPV3} {
		add("code", kind, code)
	}
	add("code", activity.TypeVerifyOTP, map[string]any{"otpId": "a", "otpCode": "123456", "publicKey": "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", "expirationSeconds": "300"})
	add("code", activity.TypeVerifyOTPV2, map[string]any{"otpId": "a", "encryptedOtpBundle": `{"encappedPublic":"04","ciphertext":"00"}`, "expirationSeconds": "300"})
	for _, kind := range ballot.VoteTypes {
		add("vote", kind, map[string]any{"fingerprint": on.Request.Fingerprint.String(), "shown": fmt.Sprintf("%x", on.Reading.Digest())})
	}
	for _, kind := range []activity.Type{activity.TypeHalt, activity.TypeResume} {
		add("of a user", kind, map[string]any{"userId": "user-1"})
		add("of a key", kind, map[string]any{"privateKeyId": "key-1"})
	}
	return all
}

// costWhole returns long bodies that are read to their end: a call with data, a prefixed
// message, typed data, and a batch of messages.
func costWhole() (all []costBody) {
	const long = 100_000
	call := fmt.Sprintf("02fa%06x0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b780ba%06x%sc0", long+43, long, strings.Repeat("7b", long))
	all = append(all, costBody{"a call", activity.TypeSignTransaction, map[string]any{
		"signWith": enginetest.Address, "unsignedTransaction": call, "type": "TRANSACTION_TYPE_ETHEREUM"}})
	message := func(size int) string {
		return fmt.Sprintf("\x19Ethereum Signed Message:\n%d%s", size, strings.Repeat("a", size))
	}
	typed := func(of, value string, values int) string {
		return `{"types":{"EIP712Domain":[],"M":[{"name":"a","type":"` + of + `[]"}]},"primaryType":"M","domain":{},"message":{"a":[` + value + strings.Repeat(","+value, values-1) + `]}}`
	}
	add := func(name string, kind activity.Type, member string, value any, encoding activity.Encoding, hash activity.HashFunction) {
		all = append(all, costBody{name, kind, map[string]any{
			"signWith": enginetest.Address, member: value, "encoding": "PAYLOAD_ENCODING_" + encoding, "hashFunction": "HASH_FUNCTION_" + hash}})
	}
	add("a message", activity.TypeSignRawPayload, "payload", message(2*long), "TEXT_UTF8", "KECCAK256")
	add("typed data", activity.TypeSignRawPayload, "payload", typed("uint8", "0", costValues), "EIP712", "NO_OP")
	add("typed data of words", activity.TypeSignRawPayload, "payload", typed("bytes32", `"0x`+strings.Repeat("7b", 32)+`"`, 3000), "EIP712", "NO_OP")
	add("typed data of addresses", activity.TypeSignRawPayload, "payload", typed("address", `"0x`+strings.Repeat("7b", 20)+`"`, 4500), "EIP712", "NO_OP")
	var listed []any
	for nonce := range activity.MaxTransactions {
		listed = append(listed, map[string]any{"signWith": enginetest.Address,
			"unsignedTransaction": fmt.Sprintf("02ea0182%04x843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b70180c0", 256+nonce)})
	}
	all = append(all, costBody{"a list", activity.TypeSignTransactions, map[string]any{"type": "TRANSACTION_TYPE_ETHEREUM", "transactions": listed}})
	add("a batch", activity.TypeSignRawPayloads, "payloads", slices.Repeat([]any{message(4000)}, 60), "TEXT_UTF8", "KECCAK256")
	return all
}

// TestCostOfLongBodies checks that the cost of bodies that are read to their end is a
// multiple of their length.
func TestCostOfLongBodies(t *testing.T) {
	f := enginetest.New(t, func(config *countersign.Config) { config.AllowHazards = []string{countersign.AllHazards} })
	for _, body := range costWhole() {
		signed := f.APIKey.Sign(body.text(t, f.Clock.Now()))
		var err error
		objects, allocated := costOf(func() { _, err = f.Engine.Submit(t.Context(), signed) })
		size, values, listed := uint64(len(signed.Body)), uint64(0), uint64(0)
		switch body.name {
		case "typed data":
			values = costValues
		case "a list":
			listed = activity.MaxTransactions
		}
		t.Logf("%s (%s): %d bytes in %d objects of a body of %d bytes: %v", body.kind, body.name, allocated, objects, size, err)
		if err != nil {
			t.Errorf("%s (%s): %v", body.kind, body.name, err)
		}
		if allocated > costFactor*(costEach+costPerByte*size+costPerValue*values+costPerListed*listed) || objects > costFactor*(costObjectsEach+size/costBytesPerObject+costObjectsPerValue*values+costObjectsPerListed*listed) {
			t.Errorf("%s (%s): %d bytes in %d objects are allocated of a body of %d bytes", body.kind, body.name, allocated, objects, size)
		}
	}
}

// costFills are contents of long strings: digits of each encoding, and text that is
// expensive to read, to normalize and to quote.
var costFills = []string{"0", "1", "z", "[", `{"a":`, "xn--a.", "é", "\U000e0001", `\`, "%s", "<", "a@"}

// atMost matches what a refusal says about the maximum length of a member.
var atMost = regexp.MustCompile(`at most (\d+) are allowed`)

// bound returns how many bytes a member of a body may have, taken from the refusal of a
// longer one. A member without a bound of its own may fill the body.
func (c *costBody) bound(t testing.TB, replace func(value any), member string) int {
	t.Helper()
	const body = 250 << 10
	long := any(strings.Repeat("1", 2*body))
	if member == "payloads" {
		long = []any{long}
	}
	replace(long)
	_, err := activity.Decode([]byte(c.text(t, time.Unix(1, 0))))
	if err == nil {
		return body
	}
	found := atMost.FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("%s (%s), %s: %v", c.kind, c.name, member, err)
	}
	most, err := strconv.Atoi(found[1])
	testenv.Must(t, err)
	return min(most, body)
}

func (c *costBody) text(t testing.TB, at time.Time) string {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	testenv.Must(t, encoder.Encode(map[string]any{
		"type": c.kind, "timestampMs": strconv.FormatInt(at.UnixMilli(), 10), "organizationId": enginetest.Organization, "parameters": c.of,
	}))
	return text.String()
}

// each replaces each string of a body by its longest values in turn, and a list also by
// the most members. All lengths are divided by divisor.
func (c *costBody) each(t testing.TB, of map[string]any, divisor int, yield func(member, fill string)) {
	t.Helper()
	for _, member := range slices.Sorted(maps.Keys(of)) {
		was := of[member]
		if list, ok := was.([]any); ok {
			was = list[0]
		}
		if nested, ok := was.(map[string]any); ok {
			c.each(t, nested, divisor, yield)
			continue
		}
		was = of[member]
		replace := func(value any) { of[member] = value }
		most := c.bound(t, replace, member) / divisor
		for _, fill := range costFills {
			long := strings.Repeat(fill, most/len(fill))
			if _, list := was.([]any); !list {
				replace(long)
				yield(member, fill)
				continue
			}
			replace([]any{long})
			yield(member, fill)
			replace(slices.Repeat([]any{fill}, most/(3+len(fill))))
			yield(member, "many "+fill)
		}
		replace(was)
	}
}

// costOf counts what a function allocates.
func costOf(do func()) (objects, allocated uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

// TestCostOfLongMembers submits the longest values of each string of each activity type
// with a valid stamp. What is allocated is at most a multiple of the body, whatever it
// contains.
func TestCostOfLongMembers(t *testing.T) {
	testenv.Slow(t)
	f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)), enginetest.WithLog(1))
	votes := ballot.New(t)
	waits := votes.Waiting()
	sent, types := 0, map[activity.Type]bool{}
	for _, body := range costBodies(waits) {
		engine, key, clock := f.Engine, f.APIKey, f.Clock
		if slices.Contains(ballot.VoteTypes, body.kind) {
			engine, key, clock = votes.Engine, votes.Ann, votes.Clock
		}
		body.each(t, body.of, 1, func(member, _ string) {
			clock.Advance(time.Millisecond)
			signed := key.Sign(body.text(t, clock.Now()))
			size := uint64(len(signed.Body))
			objects, allocated := costOf(func() { _, _ = engine.Submit(t.Context(), signed) })
			if allocated > costFactor*(costEach+costPerByte*size) || objects > costFactor*(costObjectsEach+size/costBytesPerObject) {
				t.Errorf("%s (%s), %s in a body of %d bytes %.20q: %d bytes in %d objects are allocated", body.kind, body.name, member, size, body.of[member], allocated, objects)
			}
			sent, types[body.kind] = sent+1, true
		})
	}
	for _, kind := range activity.Types() {
		if !types[kind] {
			t.Errorf("no body of %s was sent", kind)
		}
	}
	t.Logf("%d bodies", sent)
}
