package ethereum_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// refusal is bytes that no configuration accepts, and the whole error.
type refusal struct{ name, raw, want string }

var (
	max256 = "a0" + strings.Repeat("ff", 32)
	max64  = "88" + strings.Repeat("ff", 8)
	nine   = "89" + "01" + strings.Repeat("00", 8)  // 2^64
	long33 = "a1" + "01" + strings.Repeat("00", 32) // 2^256
)

// refusedEnvelopes are faults of the envelope: type byte, list, its length.
var refusedEnvelopes = []refusal{
	{"empty", "",
		"ethereum: at byte 0: empty: expected the raw unsigned transaction"},
	{"type 0", "00" + list(legacyItems...),
		"ethereum: type at byte 0: type 0x00 is not written: a legacy transaction starts with its list"},
	{"type 5", "05" + list(items2...),
		"ethereum: type at byte 0: type 0x05 is unknown: legacy and types 1 to 4 are supported"},
	{"type 0x7e (deposit)", "7e" + list(items2...),
		"ethereum: type at byte 0: type 0x7e is unknown: legacy and types 1 to 4 are supported"},
	{"type 0x7f", "7f" + list(items2...),
		"ethereum: type at byte 0: type 0x7f is unknown: legacy and types 1 to 4 are supported"},
	{"type 0x76 (Tempo)", "76" + list(items2...),
		"ethereum: type at byte 0: type 0x76 is a Tempo transaction: use TRANSACTION_TYPE_TEMPO"},
	{"type 2 wrapped in a string", str(typed("02", items2...)),
		"ethereum: at byte 0: an RLP string where a list or a transaction type should be"},
	{"a string", "8568656c6c6f",
		"ethereum: at byte 0: an RLP string where a list or a transaction type should be"},
	{"a single byte", "02",
		"ethereum: at byte 1: the list of fields is missing"},
	{"a string behind the type", "02" + str("0107"),
		"ethereum: at byte 1: a string where the list of fields should be"},
	{"list header cut off", "02f8",
		"ethereum: at byte 1: the length reaches past the end: cut off, or a byte is wrong"},
	{"list cut off", strings.TrimSuffix(typed("02", items2...), "c0"),
		"ethereum: at byte 1: the length reaches past the end: cut off, or a byte is wrong"},
	{"legacy cut off", strings.TrimSuffix(list(legacyItems...), "ef"),
		"ethereum: at byte 0: the length reaches past the end: cut off, or a byte is wrong"},
	{"trailing byte", typed("02", items2...) + "00",
		"ethereum: at byte 46: 1 byte trailing after the list of fields"},
	{"legacy trailing byte", list(legacyItems...) + "80",
		"ethereum: at byte 38: 1 byte trailing after the list of fields"},
	{"a second transaction behind it", list(legacyItems...) + list(legacyItems...),
		"ethereum: at byte 38: 38 bytes trailing after the list of fields"},
	{"long form of a short list", "02f82c" + strings.Join(items2, ""),
		"ethereum: at byte 1: the length is not in its shortest form"},
	{"length with leading zero", "03f9004f" + strings.Join(items3, ""),
		"ethereum: at byte 1: the length is not in its shortest form"},
	{"length of 8 bytes, huge", "02ff" + strings.Repeat("ff", 8),
		"ethereum: at byte 1: the length reaches past the end: cut off, or a byte is wrong"},
	{"empty list", "02c0",
		"ethereum: at byte 2: 0 items: a transaction of type 2 has 9 before it is signed"},
	{"legacy empty list", "c0",
		"ethereum: at byte 1: 0 items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)"},
}

// refusedCounts are lists with a wrong number of items, including signed ones.
var refusedCounts = []refusal{
	{"legacy 5 items", list(legacyItems[:5]...),
		"ethereum: at byte 1: 5 items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)"},
	{"legacy 7 items", list(eip155Items[:7]...),
		"ethereum: at byte 1: 7 items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)"},
	{"legacy 8 items", list(eip155Items[:8]...),
		"ethereum: at byte 1: 8 items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)"},
	{"legacy 10 items", list(append(slices.Clone(eip155Items), "80")...),
		"ethereum: at byte 1: 10 items: a legacy transaction has 6, or 9 with chainId, 0, 0 (EIP-155)"},
	{"type 1, 7 items", typed("01", items1[:7]...),
		"ethereum: at byte 2: 7 items: a transaction of type 1 has 8 before it is signed"},
	{"type 1 as type 2", typed("02", items1...),
		"ethereum: at byte 2: 8 items: a transaction of type 2 has 9 before it is signed"},
	{"type 2, 10 items", typed("02", append(slices.Clone(items2), "80")...),
		"ethereum: at byte 2: 10 items: a transaction of type 2 has 9 before it is signed"},
	{"type 2, 11 items", typed("02", append(slices.Clone(items2), "80", "80")...),
		"ethereum: at byte 2: 11 items: a transaction of type 2 has 9 before it is signed"},
	{"type 2, 13 items", typed("02", append(slices.Clone(items2), "80", "80", "80", "80")...),
		"ethereum: at byte 2: 13 items: a transaction of type 2 has 9 before it is signed"},
	{"type 3 without hashes", typed("03", items3[:10]...),
		"ethereum: at byte 2: 10 items: a transaction of type 3 has 11 before it is signed"},
	{"type 4 without authorizations", typed("04", items4[:9]...),
		"ethereum: at byte 2: 9 items: a transaction of type 4 has 10 before it is signed"},
	{"type 2 signed", typed("02", append(slices.Clone(items2), "01", max256, max256)...),
		"ethereum: field 10 (yParity) at byte 47: is not empty: this transaction is signed already"},
	{"type 2 signed, yParity 0", typed("02", append(slices.Clone(items2), "80", max256, max256)...),
		"ethereum: field 11 (r) at byte 48: is not empty: this transaction is signed already"},
	{"type 2, only s is there", typed("02", append(slices.Clone(items2), "80", "80", "01")...),
		"ethereum: field 12 (s) at byte 48: is not empty: this transaction is signed already"},
	{"type 2, zero written as 00", typed("02", append(slices.Clone(items2), "00", "80", "80")...),
		"ethereum: field 10 (yParity) at byte 46: is not empty: this transaction is signed already"},
	{"type 2, r is a list", typed("02", append(slices.Clone(items2), "80", "c0", "80")...),
		"ethereum: field 11 (r) at byte 47: a list where a string should be"},
	{"legacy signed, EIP-155", list(append(slices.Clone(legacyItems), "26", max256, max256)...),
		"ethereum: field 8 (r) at byte 40: is not empty: this transaction is signed already, or v, r, s are not chainId, 0, 0 (EIP-155)"},
	{"legacy signed, pre EIP-155", list(append(slices.Clone(legacyItems), "1b", max256, max256)...),
		"ethereum: field 8 (r) at byte 40: is not empty: this transaction is signed already, or v, r, s are not chainId, 0, 0 (EIP-155)"},
	{"legacy, only s is there", list(append(slices.Clone(legacyItems), "01", "80", "01")...),
		"ethereum: field 9 (s) at byte 40: is not empty: this transaction is signed already, or v, r, s are not chainId, 0, 0 (EIP-155)"},
	{"legacy, zeros written as 00", list(append(slices.Clone(legacyItems), "01", "00", "00")...),
		"ethereum: field 8 (r) at byte 39: is not empty: this transaction is signed already, or v, r, s are not chainId, 0, 0 (EIP-155)"},
	{"legacy, v r s empty", list(append(slices.Clone(legacyItems), "80", "80", "80")...),
		"ethereum: field 7 (chainId) at byte 38: is 0, which names no chain: put chainId, 0, 0 where v, r, s will be (EIP-155), or leave all three out to sign without replay protection"},
}

// refusedNumbers are integers that are too wide or not canonical.
var refusedNumbers = []refusal{
	{"chain id 0", typed("02", with(items2, 1, "80")...),
		"ethereum: field 1 (chainId) at byte 2: is 0: a typed transaction names its chain"},
	{"chain id 00", typed("02", with(items2, 1, "00")...),
		"ethereum: field 1 (chainId) at byte 2: integer has a leading zero"},
	{"chain id 0x8101", typed("02", with(items2, 1, "8101")...),
		"ethereum: field 1 (chainId) at byte 2: the length is not in its shortest form"},
	{"chain id with leading zero", typed("02", with(items2, 1, "820001")...),
		"ethereum: field 1 (chainId) at byte 2: integer has a leading zero"},
	{"chain id in long form", typed("02", with(items2, 1, "b80101")...),
		"ethereum: field 1 (chainId) at byte 2: the length is not in its shortest form"},
	{"chain id over 64 bits", typed("02", with(items2, 1, nine)...),
		"ethereum: field 1 (chainId) at byte 2: integer of 72 bits is over 64"},
	{"chain id is a list", typed("02", with(items2, 1, "c101")...),
		"ethereum: field 1 (chainId) at byte 2: a list where a string should be"},
	{"legacy chain id so that v overflows", list(with(eip155Items, 7, "887fffffffffffffee")...),
		"ethereum: field 7 (chainId) at byte 38: v = chainId·2 + 36 would be over 64 bits"},
	{"legacy chain id over 64 bits", list(with(eip155Items, 7, nine)...),
		"ethereum: field 7 (chainId) at byte 38: integer of 72 bits is over 64"},
	{"nonce with leading zero", typed("02", with(items2, 2, "820007")...),
		"ethereum: field 2 (nonce) at byte 3: integer has a leading zero"},
	{"nonce over 64 bits", typed("02", with(items2, 2, nine)...),
		"ethereum: field 2 (nonce) at byte 3: integer of 72 bits is over 64"},
	{"nonce 2^64−1", typed("02", with(items2, 2, max64)...),
		"ethereum: field 2 (nonce) at byte 3: is 2^64−1, which no account can use (EIP-2681)"},
	{"legacy nonce 2^64−1", list(with(legacyItems, 1, max64)...),
		"ethereum: field 1 (nonce) at byte 1: is 2^64−1, which no account can use (EIP-2681)"},
	{"legacy gas price with leading zero", list(with(legacyItems, 2, "820007")...),
		"ethereum: field 2 (gasPrice) at byte 2: integer has a leading zero"},
	{"legacy gas price over 256 bits", list(with(legacyItems, 2, long33)...),
		"ethereum: field 2 (gasPrice) at byte 3: integer of 264 bits is over 256"},
	{"tip over 256 bits", typed("02", with(items2, 3, long33)...),
		"ethereum: field 3 (maxPriorityFeePerGas) at byte 5: integer of 264 bits is over 256"},
	{"cap over 256 bits", typed("02", with(items2, 4, long33)...),
		"ethereum: field 4 (maxFeePerGas) at byte 10: integer of 264 bits is over 256"},
	{"cap is 00", typed("02", with(items2, 4, "00")...),
		"ethereum: field 4 (maxFeePerGas) at byte 9: integer has a leading zero"},
	{"tip over cap", typed("02", with(items2, 3, "8504a817c801")...),
		"ethereum: field 4 (maxFeePerGas) at byte 10: is below maxPriorityFeePerGas"},
	{"gas over 64 bits", typed("02", with(items2, 5, nine)...),
		"ethereum: field 5 (gas) at byte 15: integer of 72 bits is over 64"},
	{"gas is 00", typed("02", with(items2, 5, "00")...),
		"ethereum: field 5 (gas) at byte 15: integer has a leading zero"},
	{"value over 256 bits", typed("02", with(items2, 7, long33)...),
		"ethereum: field 7 (value) at byte 40: integer of 264 bits is over 256"},
	{"value is a list", typed("02", with(items2, 7, "c0")...),
		"ethereum: field 7 (value) at byte 39: a list where a string should be"},
	{"gas·price over 256 bits", typed("02", with(items2, 4, max256)...),
		"ethereum: field 7 (value) at byte 67: gas·price + value is over 256 bits: no balance could pay it"},
	{"gas·price + value over 256 bits", list(with(legacyItems, 5, max256)...),
		"ethereum: field 5 (value) at byte 33: gas·price + value is over 256 bits: no balance could pay it"},
	{"blob fee over 256 bits", typed("03", with(items3, 10, long33)...),
		"ethereum: field 10 (maxFeePerBlobGas) at byte 47: integer of 264 bits is over 256"},
	{"blobs·blob fee over 256 bits", typed("03", with(items3, 10, max256)...),
		"ethereum: field 11 (blobVersionedHashes) at byte 80: gas·price + value + the fee of the blobs is over 256 bits: no balance could pay it"},
	{"blobs·blob fee of exactly 257 bits", typed("03", with(items3, 10, "9e80"+strings.Repeat("00", 29))...),
		"ethereum: field 11 (blobVersionedHashes) at byte 78: gas·price + value + the fee of the blobs is over 256 bits: no balance could pay it"},
	{"gas·price + blob fee over 256 bits", typed("03", with(items3, 10, "9e"+strings.Repeat("ff", 30))...),
		"ethereum: field 11 (blobVersionedHashes) at byte 78: gas·price + value + the fee of the blobs is over 256 bits: no balance could pay it"},
}

// refusedFields are faults of recipients, data and lists.
var refusedFields = []refusal{
	{"to of 19 bytes", typed("02", with(items2, 6, "93"+strings.Repeat("11", 19))...),
		"ethereum: field 6 (to) at byte 18: 19 bytes, want 20 or none"},
	{"to of 21 bytes", list(with(legacyItems, 4, "95"+strings.Repeat("11", 21))...),
		"ethereum: field 4 (to) at byte 11: 21 bytes, want 20 or none"},
	{"to of 1 byte", list(with(legacyItems, 4, "11")...),
		"ethereum: field 4 (to) at byte 11: 1 byte, want 20 or none"},
	{"to is 00", list(with(legacyItems, 4, "00")...),
		"ethereum: field 4 (to) at byte 11: 1 byte, want 20 or none"},
	{"to is an empty list", typed("02", with(items2, 6, "c0")...),
		"ethereum: field 6 (to) at byte 18: a list where a string should be"},
	{"data is a list", typed("02", with(items2, 8, "c20102")...),
		"ethereum: field 8 (data) at byte 40: a list where a string should be"},
	{"data of one byte in two", typed("02", with(items2, 8, "817f")...),
		"ethereum: field 8 (data) at byte 40: the length is not in its shortest form"},
	{"data of 4 bytes in long form", typed("02", with(items2, 8, "b804deadbeef")...),
		"ethereum: field 8 (data) at byte 40: the length is not in its shortest form"},
	{"data reaches past the end", typed("02", with(items2, 8, "85deadbeef")...),
		"ethereum: at byte 2: 8 items: a transaction of type 2 has 9 before it is signed"},
	{"access list is a string", typed("01", with(items1, 8, "80")...),
		"ethereum: field 8 (accessList) at byte 40: a string where a list should be"},
	{"access list entry is a string", typed("01", with(items1, 8, list(recipient))...),
		"ethereum: field 8 (accessList), item 1 (entry) at byte 42: a string where a list should be"},
	{"access list entry is empty", typed("01", with(items1, 8, "c1c0")...),
		"ethereum: field 8 (accessList), item 1 (entry), item 1 (address) at byte 42: missing"},
	{"access list entry without keys", typed("01", with(items1, 8, list(list(recipient)))...),
		"ethereum: field 8 (accessList), item 1 (entry), item 2 (storageKeys) at byte 64: missing"},
	{"access list entry with 3 items", typed("01", with(items1, 8, list(list(recipient, "c0", "c0")))...),
		"ethereum: field 8 (accessList), item 1 (entry) at byte 65: 1 byte left over after item 2"},
	{"access list address of 19 bytes", typed("01", with(items1, 8, list(list("93"+strings.Repeat("11", 19), "c0")))...),
		"ethereum: field 8 (accessList), item 1 (entry), item 1 (address) at byte 43: 19 bytes, want 20"},
	{"access list storage key of 31 bytes", typed("01", with(items1, 8, list(list(recipient, list("9f"+strings.Repeat("11", 31)))))...),
		"ethereum: field 8 (accessList), item 1 (entry), item 2 (storageKeys), item 1 (storageKey) at byte 65: 31 bytes, want 32"},
	{"access list storage key is a list", typed("02", with(items2, 9, list(list(recipient, "c1c0")))...),
		"ethereum: field 9 (accessList), item 1 (entry), item 2 (storageKeys), item 1 (storageKey) at byte 70: a list where a string should be"},
	{"access list, second entry's third key", typed("02", with(items2, 9,
		list(list(recipient, "c0"), list(recipient, list(blobHash, blobHash, "80"))))...),
		"ethereum: field 9 (accessList), item 2 (entry), item 2 (storageKeys), item 3 (storageKey) at byte 162: 0 bytes, want 32"},
}

// refusedBlobs are blob transactions (EIP-4844) that can never be valid.
var refusedBlobs = []refusal{
	{"creation", typed("03", with(items3, 6, "80")...),
		"ethereum: field 6 (to) at byte 19: is empty: a transaction of type 3 cannot create a contract"},
	{"blobs on Tempo", typed("03", with(with(with(items3, 7, "80"), 8, "80"), 1, "821079")...),
		"ethereum: type at byte 0: chain 4217 is Tempo, which does not accept transactions of type 3"},
	{"no blobs", typed("03", with(items3, 11, "c0")...),
		"ethereum: field 11 (blobVersionedHashes) at byte 47: is empty: a blob transaction has at least one blob"},
	{"hashes are a string", typed("03", with(items3, 11, "80")...),
		"ethereum: field 11 (blobVersionedHashes) at byte 47: a string where a list should be"},
	{"hash of version 0", typed("03", with(items3, 11, list(strings.Replace(blobHash, "a001", "a000", 1)))...),
		"ethereum: field 11 (blobVersionedHashes), item 1 (hash) at byte 49: unknown version 0x00: expected 0x01 (EIP-4844)"},
	{"hash of version 2", typed("03", with(items3, 11, list(blobHash, strings.Replace(blobHash, "a001", "a002", 1)))...),
		"ethereum: field 11 (blobVersionedHashes), item 2 (hash) at byte 83: unknown version 0x02: expected 0x01 (EIP-4844)"},
	{"hash of 31 bytes", typed("03", with(items3, 11, list("9f01"+strings.Repeat("ab", 30)))...),
		"ethereum: field 11 (blobVersionedHashes), item 1 (hash) at byte 49: 31 bytes, want 32"},
	{"7 blobs", typed("03", with(items3, 11, list(slices.Repeat([]string{blobHash}, 7)...))...),
		"ethereum: field 11 (blobVersionedHashes) at byte 49: 7 blobs: a transaction has 6 at most (EIP-7594)"},
}

// refusedAuthorizations are set-code transactions (EIP-7702) that can never be valid.
var refusedAuthorizations = []refusal{
	{"creation", typed("04", with(items4, 6, "80")...),
		"ethereum: field 6 (to) at byte 19: is empty: a transaction of type 4 cannot create a contract"},
	{"empty list", typed("04", with(items4, 10, "c0")...),
		"ethereum: field 10 (authorizationList) at byte 46: is empty: a transaction of type 4 has at least one authorization"},
	{"list is a string", typed("04", with(items4, 10, "80")...),
		"ethereum: field 10 (authorizationList) at byte 46: a string where a list should be"},
	{"tuple is a string", typed("04", with(items4, 10, "c180")...),
		"ethereum: field 10 (authorizationList), item 1 (authorization) at byte 47: a string where a list should be"},
	{"tuple unsigned", typed("04", with(items4, 10, list(list("01", recipient, "08")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 4 (yParity) at byte 72: missing"},
	{"tuple of 7 items", typed("04", with(items4, 10, list(list("01", recipient, "08", "80", "01", "01", "80")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization) at byte 75: 1 byte left over after item 6"},
	{"chain id over 256 bits", typed("04", with(items4, 10, list(list(long33, recipient, "08", "80", "01", "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 1 (chainId) at byte 51: integer of 264 bits is over 256"},
	{"chain id is 00", typed("04", with(items4, 10, list(list("00", recipient, "08", "80", "01", "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 1 (chainId) at byte 49: integer has a leading zero"},
	{"no address", typed("04", with(items4, 10, list(list("01", "80", "08", "80", "01", "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 2 (address) at byte 49: 0 bytes, want 20"},
	{"nonce over 64 bits", typed("04", with(items4, 10, list(list("01", recipient, nine, "80", "01", "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 3 (nonce) at byte 71: integer of 72 bits is over 64"},
	{"yParity over 8 bits", typed("04", with(items4, 10, list(list("01", recipient, "08", "820100", "01", "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 4 (yParity) at byte 72: integer of 16 bits is over 8"},
	{"r over 256 bits", typed("04", with(items4, 10, list(list("01", recipient, "08", "80", long33, "01")))...),
		"ethereum: field 10 (authorizationList), item 1 (authorization), item 5 (r) at byte 75: integer of 264 bits is over 256"},
	{"s with a leading zero, second tuple", typed("04", with(items4, 10,
		list(authTuple, list("01", recipient, "08", "80", "01", "820001")))...),
		"ethereum: field 10 (authorizationList), item 2 (authorization), item 6 (s) at byte 167: integer has a leading zero"},
}

func TestRefused(t *testing.T) {
	for group, cases := range map[string][]refusal{
		"envelope": refusedEnvelopes, "count": refusedCounts, "number": refusedNumbers,
		"field": refusedFields, "blob": refusedBlobs, "authorization": refusedAuthorizations,
	} {
		for _, c := range cases {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				_, err := ethereum.Chain{}.Parse(chaintest.Unhex(t, c.raw))
				if err == nil {
					t.Fatal("accepted")
				}
				if _, ok := errors.AsType[*chains.ParseError](err); !ok {
					t.Errorf("%T is no ParseError", err)
				}
				if err.Error() != c.want {
					t.Errorf("\n got %s\nwant %s", err, c.want)
				}
			})
		}
	}
}
