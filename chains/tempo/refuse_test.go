package tempo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
)

// refusal is bytes that no configuration accepts, and the whole error.
type refusal struct{ name, raw, want string }

var (
	max256 = "a0" + strings.Repeat("ff", 32)
	max64  = "88" + strings.Repeat("ff", 8)
	over64 = "89" + "01" + strings.Repeat("00", 8)
	// one byte more than 128 and 256 bits
	over128 = "91" + "01" + strings.Repeat("00", 16)
	over256 = "a1" + "01" + strings.Repeat("00", 32)
)

// refusedEnvelopes are faults of the envelope: type byte, list, its length, the
// number of its items.
var refusedEnvelopes = []refusal{
	{"empty", "",
		"tempo: at byte 0: empty: expected the raw unsigned transaction"},
	{"type 0x78", "78" + list(items...),
		"tempo: field 12 (feePayer) at byte 66: is not the sender's address, which stands here in what a fee payer signs (0x78)"},
	{"type 0x78, a list of the length of an address", "78" + list(with(items, feePayer, list(slices.Repeat([]string{"01"}, 20)...))...),
		"tempo: field 12 (feePayer) at byte 66: is not the sender's address, which stands here in what a fee payer signs (0x78)"},
	{"type 0x78 with a payer's signature", "78" + list(with(items, feePayer, payer)...),
		"tempo: field 12 (feePayer) at byte 66: is not the sender's address, which stands here in what a fee payer signs (0x78)"},
	{"type 2", "02" + list(items...),
		"tempo: type at byte 0: a native Tempo transaction has type 0x76: use TRANSACTION_TYPE_ETHEREUM for this one"},
	{"legacy", list(items...),
		"tempo: type at byte 0: a native Tempo transaction has type 0x76: use TRANSACTION_TYPE_ETHEREUM for this one"},
	{"type 5", "05" + list(items...),
		"tempo: type at byte 0: type 0x05 is unknown: a native Tempo transaction has type 0x76"},
	{"type 0x77", "77" + list(items...),
		"tempo: type at byte 0: type 0x77 is unknown: a native Tempo transaction has type 0x76"},
	{"type byte alone", "76",
		"tempo: at byte 1: the list of fields is missing"},
	{"a string behind the type", "76" + str("0107"),
		"tempo: at byte 1: a string where the list of fields should be"},
	{"cut off", strings.TrimSuffix(typed(items...), "c0"),
		"tempo: at byte 1: the length reaches past the end: cut off, or a byte is wrong"},
	{"trailing byte", typed(items...) + "00",
		"tempo: at byte 68: 1 byte trailing after the list of fields"},
	{"long form of a short list", "76f803" + "010203",
		"tempo: at byte 1: the length is not in its shortest form"},
	{"length with leading zero", strings.Replace(typed(items...), "76f8", "76f900", 1),
		"tempo: at byte 1: the length is not in its shortest form"},
	{"length of 8 bytes, huge", "76ff" + strings.Repeat("ff", 8),
		"tempo: at byte 1: the length reaches past the end: cut off, or a byte is wrong"},
	{"12 items", typed(items[:12]...),
		"tempo: at byte 3: 12 items: an unsigned transaction has 13, one more with a key authorization, and one more with the sender's signature"},
	{"15 items", typed(append(withKey(plainKey...), "c0")...),
		"tempo: field 15 (signature) at byte 163: a list where a string should be"},
	{"signed", typed(append(slices.Clone(items), secp256k1)...),
		"tempo: signature at byte 68: is present: the transaction is signed already"},
	{"signed, with a key authorization", typed(append(withKey(plainKey...), secp256k1)...),
		"tempo: signature at byte 163: is present: the transaction is signed already"},
	{"14th item empty", typed(append(slices.Clone(items), "80")...),
		"tempo: field 14 (signature) at byte 68: is not a signature: 0 bytes of no known kind"},
	{"14th item reaches past the end", typed(append(slices.Clone(items), "c1")...),
		"tempo: field 14 (keyAuthorization) at byte 68: the length reaches past the end: cut off, or a byte is wrong"},
	{"item reaches past the end", typed(with(items, nonce, "b8")...),
		"tempo: field 8 (nonce) at byte 42: the length reaches past the end: cut off, or a byte is wrong"},
}

// refusedNumbers are integers that are too wide, not canonical, or can never be valid.
var refusedNumbers = []refusal{
	{"chain id 0", typed(with(items, chainID, "80")...),
		"tempo: field 1 (chainId) at byte 3: is 0: a transaction names its chain"},
	{"chain id 00", typed(with(items, chainID, "00")...),
		"tempo: field 1 (chainId) at byte 3: integer has a leading zero"},
	{"chain id over 64 bits", typed(with(items, chainID, over64)...),
		"tempo: field 1 (chainId) at byte 3: integer of 72 bits is over 64"},
	{"chain id is a list", typed(with(items, chainID, "c0")...),
		"tempo: field 1 (chainId) at byte 3: a list where a string should be"},
	{"chain id in two bytes for one", typed(with(items, chainID, "8101")...),
		"tempo: field 1 (chainId) at byte 3: the length is not in its shortest form"},
	{"tip over 128 bits", typed(with(items, maxPriorityFeePerGas, over128)...),
		"tempo: field 2 (maxPriorityFeePerGas) at byte 6: integer of 129 bits is over 128"},
	{"cap over 128 bits", typed(with(items, maxFeePerGas, over128)...),
		"tempo: field 3 (maxFeePerGas) at byte 7: integer of 129 bits is over 128"},
	{"tip over cap", typed(with(items, maxPriorityFeePerGas, "08")...),
		"tempo: field 3 (maxFeePerGas) at byte 7: is below maxPriorityFeePerGas"},
	{"gas over 64 bits", typed(with(items, gas, over64)...),
		"tempo: field 4 (gas) at byte 8: integer of 72 bits is over 64"},
	{"gas 0", typed(with(items, gas, "80")...),
		"tempo: field 4 (gas) at byte 8: is 0: every transaction costs gas"},
	{"gas with a leading zero", typed(with(items, gas, "830060ff")...),
		"tempo: field 4 (gas) at byte 8: integer has a leading zero"},
	{"nonce key over 256 bits", typed(with(items, nonceKey, over256)...),
		"tempo: field 7 (nonceKey) at byte 41: integer of 264 bits is over 256"},
	{"nonce key 00", typed(with(items, nonceKey, "00")...),
		"tempo: field 7 (nonceKey) at byte 41: integer has a leading zero"},
	{"nonce over 64 bits", typed(with(items, nonce, over64)...),
		"tempo: field 8 (nonce) at byte 42: integer of 72 bits is over 64"},
	{"nonce 2^64-1", typed(with(items, nonce, max64)...),
		"tempo: field 8 (nonce) at byte 42: is 2^64−1, which no account can use (EIP-2681)"},
	{"validBefore over 64 bits", typed(with(items, validBefore, over64)...),
		"tempo: field 9 (validBefore) at byte 43: integer of 72 bits is over 64"},
	{"validBefore 00", typed(with(items, validBefore, "00")...),
		"tempo: field 9 (validBefore) at byte 43: integer has a leading zero"},
	{"validAfter over 64 bits", typed(with(items, validAfter, over64)...),
		"tempo: field 10 (validAfter) at byte 44: integer of 72 bits is over 64"},
	{"validBefore is validAfter", typed(with(with(items, validBefore, "64"), validAfter, "64")...),
		"tempo: field 10 (validAfter) at byte 44: 100 is not before validBefore 100: the transaction is never valid"},
	{"validBefore under validAfter", typed(with(with(items, validBefore, "63"), validAfter, "64")...),
		"tempo: field 10 (validAfter) at byte 44: 100 is not before validBefore 99: the transaction is never valid"},
	{"expiring nonce without validBefore", typed(with(with(items, nonceKey, max256), nonce, "80")...),
		"tempo: field 9 (validBefore) at byte 75: is missing: with nonce key 2^256−1 (expiring nonces, TIP-1009) it is required"},
}

// refusedCalls are faults of the calls and of the access list.
var refusedCalls = []refusal{
	{"no calls", typed(with(items, calls, "c0")...),
		"tempo: field 5 (calls) at byte 10: is empty: a transaction makes at least one call"},
	{"calls are a string", typed(with(items, calls, "80")...),
		"tempo: field 5 (calls) at byte 10: a string where a list should be"},
	{"33 calls", typed(with(items, calls, list(slices.Repeat([]string{transfer}, 33)...))...),
		"tempo: field 5 (calls) at byte 12: 33 calls: 32 at most"},
	{"call is a string", typed(with(items, calls, list(transfer, "80"))...),
		"tempo: field 5 (calls), item 2 (call) at byte 40: a string where a list should be"},
	{"call cut off", typed(with(items, calls, list(transfer, "c1"))...),
		"tempo: field 5 (calls), item 2 (call) at byte 40: the length reaches past the end: cut off, or a byte is wrong"},
	{"call of 2 items", typed(with(items, calls, list(list(someone, "80")))...),
		"tempo: field 5 (calls), item 1 (call), item 3 (input) at byte 35: missing"},
	{"call of 4 items", typed(with(items, calls, list(list(someone, "80", "80", "80")))...),
		"tempo: field 5 (calls), item 1 (call) at byte 36: 1 byte left over after item 3"},
	{"to of 19 bytes", typed(with(items, calls, list(list(str(strings.Repeat("11", 19)), "80", "80")))...),
		"tempo: field 5 (calls), item 1 (call), item 1 (to) at byte 13: 19 bytes, want 20 or none"},
	{"to of 21 bytes", typed(with(items, calls, list(list(str(strings.Repeat("11", 21)), "80", "80")))...),
		"tempo: field 5 (calls), item 1 (call), item 1 (to) at byte 13: 21 bytes, want 20 or none"},
	{"value over 256 bits", typed(with(items, calls, list(list(someone, over256, "80")))...),
		"tempo: field 5 (calls), item 1 (call), item 2 (value) at byte 36: integer of 264 bits is over 256"},
	{"value with a leading zero", typed(with(items, calls, list(list(someone, "820001", "80")))...),
		"tempo: field 5 (calls), item 1 (call), item 2 (value) at byte 34: integer has a leading zero"},
	{"input is a list", typed(with(items, calls, list(list(someone, "80", "c0")))...),
		"tempo: field 5 (calls), item 1 (call), item 3 (input) at byte 35: a list where a string should be"},
	{"creation that is second", typed(with(items, calls, list(transfer, creation))...),
		"tempo: field 5 (calls), item 2 (call), item 1 (to) at byte 41: is empty: only the first call can create a contract"},
	{"two creations", typed(with(items, calls, list(creation, creation))...),
		"tempo: field 5 (calls), item 2 (call), item 1 (to) at byte 18: is empty: only the first call can create a contract"},
	{"creation with authorizations", typed(with(with(items, calls, list(creation)), authorizationList, list(authorization))...),
		"tempo: field 13 (authorizationList) at byte 45: a transaction that creates a contract has no authorizations"},
	{"access list is a string", typed(with(items, accessList, "80")...),
		"tempo: field 6 (accessList) at byte 40: a string where a list should be"},
	{"access list entry without keys", typed(with(items, accessList, list(list(someone)))...),
		"tempo: field 6 (accessList), item 1 (entry), item 2 (storageKeys) at byte 63: missing"},
	{"storage key of 31 bytes", typed(with(items, accessList, list(list(someone, list(str(strings.Repeat("11", 31))))))...),
		"tempo: field 6 (accessList), item 1 (entry), item 2 (storageKeys), item 1 (storageKey) at byte 64: 31 bytes, want 32"},
	{"257 addresses", typed(with(items, accessList, list(slices.Repeat([]string{list(someone, "c0")}, 257)...))...),
		"tempo: field 6 (accessList) at byte 41: 257 addresses: 256 at most"},
	{"2,049 storage keys", typed(with(items, accessList, list(append(slices.Repeat([]string{list(someone, list(slices.Repeat([]string{max256}, 256)...))}, 8),
		list(someone, list(max256)))...))...),
		"tempo: field 6 (accessList) at byte 42: 2049 storage keys in all: 2048 at most"},
	{"input over 128 KiB", typed(with(items, calls, list(list(someone, "80", str(strings.Repeat("11", 128<<10+1)))))...),
		"tempo: field 5 (calls), item 1 (call), item 3 (input) at byte 43: 131073 bytes: 131072 at most"},
	{"257 storage keys", typed(with(items, accessList, list(list(someone, list(slices.Repeat([]string{max256}, 257)...))))...),
		"tempo: field 6 (accessList) at byte 41: 257 storage keys of one address: 256 at most"},
}

// refusedPayments are faults of fee token and fee payer.
var refusedPayments = []refusal{
	{"fee token of 19 bytes", typed(with(items, feeToken, str(strings.Repeat("20", 19)))...),
		"tempo: field 11 (feeToken) at byte 45: 19 bytes, want 20 or none"},
	{"fee token 00", typed(with(items, feeToken, "00")...),
		"tempo: field 11 (feeToken) at byte 44: 1 byte, want 20 or none"},
	{"fee token is a list", typed(with(items, feeToken, "c0")...),
		"tempo: field 11 (feeToken) at byte 44: a list where a string should be"},
	{"placeholder 01", typed(with(items, feePayer, "01")...),
		"tempo: field 12 (feePayer) at byte 66: is neither 80 (the sender pays), 00 (placeholder) nor [yParity, r, s]"},
	{"placeholder of two bytes", typed(with(items, feePayer, "820000")...),
		"tempo: field 12 (feePayer) at byte 66: is neither 80 (the sender pays), 00 (placeholder) nor [yParity, r, s]"},
	{"placeholder 00 in two bytes", typed(with(items, feePayer, "8100")...),
		"tempo: field 12 (feePayer) at byte 66: the length is not in its shortest form"},
	{"address as fee payer", typed(with(items, feePayer, someone)...),
		"tempo: field 12 (feePayer) at byte 66: is neither 80 (the sender pays), 00 (placeholder) nor [yParity, r, s]"},
	{"fee payer's list empty", typed(with(items, feePayer, "c0")...),
		"tempo: field 12 (feePayer), item 1 (yParity) at byte 67: missing"},
	{"fee payer's list of 2", typed(with(items, feePayer, list("80", "01"))...),
		"tempo: field 12 (feePayer), item 3 (s) at byte 69: missing"},
	{"fee payer's list of 4", typed(with(items, feePayer, list("80", "01", "01", "80"))...),
		"tempo: field 12 (feePayer) at byte 70: 1 byte left over after item 3"},
	{"yParity 2", typed(with(items, feePayer, list("02", "01", "01"))...),
		"tempo: field 12 (feePayer), item 1 (yParity) at byte 67: is 2, neither 0 nor 1"},
	{"yParity 27", typed(with(items, feePayer, list("1b", "01", "01"))...),
		"tempo: field 12 (feePayer), item 1 (yParity) at byte 67: is 27, neither 0 nor 1"},
	{"yParity 00", typed(with(items, feePayer, list("00", "01", "01"))...),
		"tempo: field 12 (feePayer), item 1 (yParity) at byte 67: integer has a leading zero"},
	{"r 0", typed(with(items, feePayer, list("80", "80", "01"))...),
		"tempo: field 12 (feePayer), item 2 (r) at byte 68: is not between 1 and the group order"},
	{"s 0", typed(with(items, feePayer, list("80", "01", "80"))...),
		"tempo: field 12 (feePayer), item 3 (s) at byte 69: is not between 1 and half the group order"},
	{"all 0", typed(with(items, feePayer, list("80", "80", "80"))...),
		"tempo: field 12 (feePayer), item 2 (r) at byte 68: is not between 1 and the group order"},
	{"r is the group order", typed(with(items, feePayer, list("80", "a0"+groupOrder, "01"))...),
		"tempo: field 12 (feePayer), item 2 (r) at byte 68: is not between 1 and the group order"},
	{"s high by one", typed(with(items, feePayer, list("80", "01", "a0"+highS))...),
		"tempo: field 12 (feePayer), item 3 (s) at byte 69: is not between 1 and half the group order"},
	{"r with a leading zero", typed(with(items, feePayer, list("80", "820001", "01"))...),
		"tempo: field 12 (feePayer), item 2 (r) at byte 68: integer has a leading zero"},
}

const (
	groupOrder = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	highS      = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1"
)

func TestRefused(t *testing.T) {
	for group, cases := range map[string][]refusal{
		"envelope": refusedEnvelopes, "number": refusedNumbers, "call": refusedCalls, "payment": refusedPayments,
		"authorization": refusedAuthorizations, "key": refusedKeys,
	} {
		for _, c := range cases {
			t.Run(group+"/"+c.name, func(t *testing.T) { checkRefused(t, c) })
		}
	}
}

func checkRefused(t *testing.T, c refusal) {
	t.Helper()
	raw := chaintest.Unhex(t, c.raw)
	if tempomodel.Refuses(raw) == nil {
		t.Error("the model accepts it")
	}
	_, err := tempo.Chain{}.Parse(raw)
	if err == nil {
		t.Fatal("accepted")
	}
	if _, ok := errors.AsType[*chains.ParseError](err); !ok {
		t.Errorf("%T is no ParseError", err)
	}
	if err.Error() != c.want {
		t.Errorf("\n got %s\nwant %s", err, c.want)
	}
}
