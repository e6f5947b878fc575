package tempo_test

import (
	"slices"
	"strings"
)

// authorizationWith returns a transaction with one authorization of these items.
func authorizationWith(tuple ...string) string {
	return typed(with(items, authorizationList, list(list(tuple...)))...)
}

// signedWith returns a transaction with one authorization that has this signature.
func signedWith(signature string) string {
	return authorizationWith("82a5bf", someone, "08", signature)
}

// refusedAuthorizations are faults of authorizations and their signatures.
var refusedAuthorizations = []refusal{
	{"list is a string", typed(with(items, authorizationList, "80")...),
		"tempo: field 13 (authorizationList) at byte 67: a string where a list should be"},
	{"17 authorizations", typed(with(items, authorizationList, list(slices.Repeat([]string{authorization}, 17)...))...),
		"tempo: field 13 (authorizationList) at byte 68: 17 authorizations: 16 at most"},
	{"tuple is a string", typed(with(items, authorizationList, "c180")...),
		"tempo: field 13 (authorizationList), item 1 (authorization) at byte 68: a string where a list should be"},
	{"tuple unsigned", authorizationWith("82a5bf", someone, "08"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 94: missing"},
	{"tuple of Ethereum", authorizationWith("82a5bf", someone, "08", "80", "a0"+rBytes, "a0"+sBytes),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 0 bytes of no known kind"},
	{"tuple of 5 items", authorizationWith("82a5bf", someone, "08", secp256k1, "80"),
		"tempo: field 13 (authorizationList), item 1 (authorization) at byte 163: 1 byte left over after item 4"},
	{"chain id over 256 bits", authorizationWith(over256, someone, "08", secp256k1),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 1 (chainId) at byte 71: integer of 264 bits is over 256"},
	{"no address", authorizationWith("82a5bf", "80", "08", secp256k1),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 2 (address) at byte 74: 0 bytes, want 20"},
	{"nonce over 64 bits", authorizationWith("82a5bf", someone, over64, secp256k1),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 3 (nonce) at byte 95: integer of 72 bits is over 64"},
	{"signature empty", signedWith("80"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 94: is not a signature: 0 bytes of no known kind"},
	{"signature is a list", signedWith("c0"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 94: a list where a string should be"},
	{"signature of 64 bytes", signedWith("b840" + rBytes + sBytes),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 64 bytes of no known kind"},
	{"v 0", signedWith("b841" + rBytes + sBytes + "00"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"v 29", signedWith("b841" + rBytes + sBytes + "1d"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"r 0", signedWith("b841" + zeros32 + sBytes + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"r is the group order", signedWith("b841" + groupOrder + sBytes + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"s 0", signedWith("b841" + rBytes + zeros32 + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"s high", signedWith("b841" + rBytes + highS + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"P-256 of 129 bytes", signedWith("b881" + "01" + strings.Repeat("11", 128)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 129 bytes of no known kind"},
	{"P-256 with preHash 2", signedWith("b882" + "01" + strings.Repeat("11", 128) + "02"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 130 bytes of no known kind"},
	{"WebAuthn of 128 bytes", signedWith("b880" + "02" + strings.Repeat("11", 127)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 128 bytes of no known kind"},
	{"WebAuthn of 2,050 bytes", signedWith("b90802" + "02" + strings.Repeat("11", 2049)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 99: is not a signature: 2050 bytes of no known kind"},
	{"kind 6", signedWith("b882" + "06" + strings.Repeat("11", 129)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 130 bytes of no known kind"},
	{"a configurable account", signedWith("b882" + "05" + strings.Repeat("11", 129)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is of a configurable account (05), which no network accepts before upgrade T14"},
	{"a configurable account in a keychain", signedWith("b897" + "04" + strings.Repeat("22", 20) + "05" + strings.Repeat("11", 129)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is of a configurable account (05), which no network accepts before upgrade T14"},
	{"keychain with nothing in it", signedWith("95" + "03" + strings.Repeat("22", 20)),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 94: is not a signature: 21 bytes of no known kind"},
	{"keychain version 1", signedWith("b856" + "03" + strings.Repeat("22", 20) + rBytes + sBytes + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is of keychain version 1 (03), which the network refuses since T1C: expected version 2 (04)"},
	{"keychain, r 0 in it", signedWith("b856" + "04" + strings.Repeat("22", 20) + zeros32 + sBytes + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"keychain in a keychain", signedWith("b86b" + "04" + strings.Repeat("22", 20) + "04" + strings.Repeat("22", 20) + rBytes + sBytes + "1b"),
		"tempo: field 13 (authorizationList), item 1 (authorization), item 4 (signature) at byte 96: is not a signature: 107 bytes of no known kind"},
}

var zeros32 = strings.Repeat("00", 32)

// key returns a transaction that authorizes a key of these items.
func key(inner ...string) string { return typed(withKey(inner...)...) }

// keySigned returns a transaction whose key authorization has this signature.
func keySigned(signature ...string) string {
	return typed(append(slices.Clone(items), list(append([]string{list(plainKey...)}, signature...)...))...)
}

// plus returns the key followed by options.
func plus(options ...string) string { return key(append(slices.Clone(plainKey), options...)...) }

// scoped returns a key that may make these calls.
func scoped(scopes ...string) string { return plus("01", "c0", list(scopes...)) }

// refusedKeys are faults of key authorizations.
var refusedKeys = []refusal{
	{"unsigned", keySigned(),
		"tempo: field 14 (keyAuthorization), item 2 (signature) at byte 95: missing"},
	{"signature empty", keySigned("80"),
		"tempo: field 14 (keyAuthorization), item 2 (signature) at byte 95: is not a signature: 0 bytes of no known kind"},
	{"signature high", keySigned("b841" + rBytes + highS + "1b"),
		"tempo: field 14 (keyAuthorization), item 2 (signature) at byte 96: is not a signature: r and s are to be between 1 and the group order, s low, v 27 or 28"},
	{"signed by a keychain", keySigned("b856" + "04" + strings.Repeat("22", 20) + rBytes + sBytes + "1b"),
		"tempo: field 14 (keyAuthorization), item 2 (signature) at byte 96: is not a signature: 86 bytes of no known kind"},
	{"three items", keySigned(secp256k1, "80"),
		"tempo: field 14 (keyAuthorization) at byte 163: 1 byte left over after item 2"},
	{"not nested", typed(append(slices.Clone(items), list(plainKey...))...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization) at byte 69: a string where a list should be"},
	{"empty", typed(append(slices.Clone(items), "c0")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization) at byte 69: missing"},
	{"for another chain", key(with(plainKey, 1, "821079")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 1 (chainId) at byte 71: is 4217, but the transaction is for chain 42431"},
	{"for every chain", key(with(plainKey, 1, "80")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 1 (chainId) at byte 71: is 0, but the transaction is for chain 42431"},
	{"key type 3", key(with(plainKey, 2, "03")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 2 (keyType) at byte 74: is 3, a configurable account, which no network accepts before upgrade T14"},
	{"key type 00", key(with(plainKey, 2, "00")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 2 (keyType) at byte 74: integer has a leading zero"},
	{"key id of 19 bytes", key(with(plainKey, 3, str(strings.Repeat("11", 19)))...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 3 (keyId) at byte 75: 19 bytes, want 20"},
	{"key id 0", key(with(plainKey, 3, "94"+strings.Repeat("00", 20))...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 3 (keyId) at byte 75: is the zero address, which stands for the account's own key"},
	{"key id missing", key(plainKey[:2]...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 3 (keyId) at byte 75: missing"},
	{"ten items", key(append(slices.Clone(fullKey), "80")...),
		"tempo: field 14 (keyAuthorization), item 1 (authorization) at byte 293: 1 byte left over after item 9"},

	{"expiry 00", plus("00"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 4 (expiry) at byte 96: integer has a leading zero"},
	{"expiry over 64 bits", plus(over64),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 4 (expiry) at byte 96: integer of 72 bits is over 64"},
	{"expiry empty and last", plus("80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 4 (expiry) at byte 96: is empty and the last: a field that none follows is left out"},
	{"limits empty and last", plus("01", "80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits) at byte 97: is empty and the last: a field that none follows is left out"},
	{"scopes empty and last", plus("01", "c0", "80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes) at byte 98: is empty and the last: a field that none follows is left out"},
	{"witness empty and last", plus("80", "80", "80", "80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 7 (witness) at byte 99: is empty and the last: a field that none follows is left out"},
	{"isAdmin empty and last", plus("80", "80", "80", "80", "80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: is empty and the last: a field that none follows is left out"},
	{"account empty and last", plus("80", "80", "80", "80", "01", "80"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 9 (account) at byte 101: is empty and the last: a field that none follows is left out"},

	{"limits are a string", plus("01", "01"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits) at byte 97: a string where a list should be"},
	{"limit without amount", plus("01", list(list(alphaUSD))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 2 (limit) at byte 120: missing"},
	{"limit of 4 items", plus("01", list(list(alphaUSD, "64", "64", "64"))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit) at byte 122: 1 byte left over after item 3"},
	{"limit over 256 bits", plus("01", list(list(alphaUSD, over256))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 2 (limit) at byte 122: integer of 264 bits is over 256"},
	{"limit of 2^128", limitedTo("91" + "01" + strings.Repeat("00", 16)),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 2 (limit) at byte 121: integer of 129 bits is over 128, the most that a token has"},
	{"257 limits", plus("01", list(slices.Repeat([]string{list(alphaUSD, "64")}, 257)...), "c0"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits) at byte 104: 257 of them: 256 at most"},
	{"a token twice", plus("01", list(list(alphaUSD, "64"), list(alphaUSD, "65")), "c0"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 2 (limit), item 1 (token) at byte 123: 0x20C0000000000000000000000000000000000001 has a limit already"},
	{"limit's token of 19 bytes", plus("01", list(list(str(strings.Repeat("20", 19)), "64"))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 1 (token) at byte 99: 19 bytes, want 20"},
	{"period 0 written", plus("01", list(list(alphaUSD, "64", "80"))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 3 (period) at byte 121: is 0: left out is its only form then"},
	{"period over 64 bits", plus("01", list(list(alphaUSD, "64", over64))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 5 (limits), item 1 (limit), item 3 (period) at byte 122: integer of 72 bits is over 64"},

	{"scopes are a string", plus("01", "c0", "01"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes) at byte 98: a string where a list should be"},
	{"scope without rules", plus("01", "c0", list(list(someone))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules) at byte 121: missing"},
	{"scope's rules are empty", plus("01", "c0", list(list(someone, "80"))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules) at byte 121: a string where a list should be"},
	{"65 scopes", scoped(slices.Repeat([]string{list(someone, "c0")}, 65)...), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes) at byte 105: 65 of them: 64 at most"},
	{"a target twice", scoped(list(someone, "c0"), list(someone, "c0")), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 2 (scope), item 1 (target) at byte 124: 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 has a scope already"},
	{"target 0", scoped(list("94"+strings.Repeat("00", 20), "c0")), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 1 (target) at byte 100: is the zero address, which the network does not accept"},
	{"65 rules", scoped(list(someone, list(slices.Repeat([]string{list("8412345678", "c0")}, 65)...))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules) at byte 132: 65 of them: 64 at most"},
	{"a selector twice", scoped(list(someone, list(list("8412345678", "c0"), list("8412345678", "c0")))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 2 (rule), item 1 (selector) at byte 131: 12345678 has a rule already"},
	{"65 recipients", scoped(list(alphaUSD, list(list("84a9059cbb", list(slices.Repeat([]string{someone}, 65)...))))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients) at byte 143: 65 of them: 64 at most"},
	{"a recipient twice", scoped(list(alphaUSD, list(list("84a9059cbb", list(someone, someone))))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients), item 2 (recipient) at byte 153: 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 is listed already"},
	{"recipient 0", scoped(list(alphaUSD, list(list("84095ea7b3", list("94"+strings.Repeat("00", 20)))))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients), item 1 (recipient) at byte 130: is the zero address, which the network does not accept"},
	{"recipients of a contract that is no token", scoped(list(someone, list(list("8495777d59", list(someone))))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients) at byte 129: only transfer, transferWithMemo and approve of a TIP-20 token can be bound to recipients"},
	{"recipients of another function", scoped(list(alphaUSD, list(list("8412345678", list(someone))))), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients) at byte 129: only transfer, transferWithMemo and approve of a TIP-20 token can be bound to recipients"},
	{"selector of 3 bytes", plus("01", "c0", list(list(someone, list(list("83a9059c", "c0"))))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 1 (selector) at byte 124: 3 bytes, want 4"},
	{"rule without recipients", plus("01", "c0", list(list(someone, list(list("84a9059cbb"))))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients) at byte 129: missing"},
	{"recipient of 19 bytes", plus("01", "c0", list(list(someone, list(list("84a9059cbb", list(str(strings.Repeat("11", 19)))))))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 6 (scopes), item 1 (scope), item 2 (selectorRules), item 1 (rule), item 2 (recipients), item 1 (recipient) at byte 130: 19 bytes, want 20"},

	{"witness of 31 bytes", plus("80", "80", "80", str(strings.Repeat("ab", 31))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 7 (witness) at byte 100: 31 bytes, want 32"},
	{"isAdmin 2", plus("80", "80", "80", "80", "02"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: is 2: 1 is the only marker (TIP-1049)"},
	{"isAdmin 00", plus("80", "80", "80", "80", "00"),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: integer has a leading zero"},
	{"admin with an expiry", plus("01", "80", "80", "80", "01"), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: an admin key has no expiry, limits or scopes: the network refuses it"},
	{"admin with limits", plus("80", "c0", "80", "80", "01"), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: an admin key has no expiry, limits or scopes: the network refuses it"},
	{"admin with scopes", plus("80", "80", "c0", "80", "01"), "tempo: field 14 (keyAuthorization), item 1 (authorization), item 8 (isAdmin) at byte 100: an admin key has no expiry, limits or scopes: the network refuses it"},
	{"account of 19 bytes", plus("80", "80", "80", "80", "80", str(strings.Repeat("11", 19))),
		"tempo: field 14 (keyAuthorization), item 1 (authorization), item 9 (account) at byte 101: 19 bytes, want 20"},
}
