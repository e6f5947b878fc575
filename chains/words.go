package chains

import "strings"

// Words are what a chain is called outside of its transactions: in policies, in lists of
// names, in descriptions of programs.
type Words struct {
	// Namespace is the CAIP-2 namespace of the chain's networks, such as "eip155". Several
	// chains can have one.
	Namespace string

	// Numbered is set if ids of networks are the namespace and a number, such as
	// "eip155:1". Otherwise the bytes name no network, and its id is the namespace alone.
	Numbered bool

	// ListID is the chain id that token lists use for a chain whose networks have no numbers;
	// 0: they have none for it.
	ListID uint64

	// Forms is how transactions are exchanged.
	Forms Forms

	// TextHazards are the hazards of texts that transactions carry and that are judged as
	// messages are, such as BIP-322's.
	TextHazards []string

	// Decimals are those of the native asset, and Units the names of amounts of it.
	Decimals int
	Units    []Unit

	// AddressSize is the length of an address in binary form, 0 if that varies.
	AddressSize int

	// ReadAddress reads an address as the chain's tools write it. ok is false if the text
	// does not have the form of one; err says what is wrong with one that has.
	ReadAddress func(text string) (address []byte, ok bool, err error)

	// FieldAddress reads the value of a field with an address. Nil if it is in the form
	// that ReadAddress reads.
	FieldAddress func(value string) ([]byte, error)

	// TokenAccounts returns the accounts that hold a wallet's tokens of a mint, all in
	// binary form. Nil if tokens are held under the wallet's own address.
	TokenAccounts func(wallet, mint string) []string

	// Alike returns the other addresses that pay the same key as far as that can be computed,
	// all in binary form. Nil: an address has no other forms.
	Alike func(address []byte) [][]byte

	// Account returns the 20 bytes of an address that a key has on all chains with this
	// member. Nil: its addresses are its own.
	Account func(address []byte) []byte

	// Unnamed reports whether an address on a network, by its CAIP-2 id, stands for an account
	// that it does not name. Nil: none does.
	Unnamed func(network string, address []byte) bool

	// Foreign reports whether a token is code that anybody can have written: neither built in nor
	// listed. Nil: tokens have no code of their own.
	Foreign func(token Asset) bool

	// Wraps reports whether a token is the wrapped form of its network's native asset. Nil: none is.
	Wraps func(token Asset) bool

	// PassesOn reports whether an account is a contract that acts for every caller alike, such as a
	// router: what leaves it is its caller's. Nil: none is.
	PassesOn func(account Party) bool

	// OneNonce reports whether a network, by its CAIP-2 id, includes at most one transaction
	// of an account and a nonce, the details chain_id and nonce. Nil: none does.
	OneNonce func(network string) bool

	// Variable is the name that policies have for the chain's transactions, such as "eth"
	// for eth.tx, and Details are its members.
	Variable string
	Details  []Detail
}

// Unit is a name of amounts of a native asset, with the digits that such an amount may
// have after the point.
type Unit struct {
	Name     string
	Decimals int

	// Symbol is the ticker of the only asset that the unit counts, such as "ETH" of
	// ether; empty if it counts the native asset of every network.
	Symbol string
}

// Detail is a member of a transaction, or of a part of it, as policies see it: a field of
// the summary.
type Detail struct {
	// Name is the member's name in conditions.
	Name string

	// Type is that of the field. A TypeList with Members is a list of parts, and without a
	// list of addresses.
	Type FieldType

	// Keys lead to the field, each within the one before; nil: the field with the key Name.
	Keys []string

	// From computes the field; nil: it is the one at Keys. Summary has the fields of the
	// transaction or the part, and the effects of the transaction.
	From func(of Summary) (Field, bool)

	// Parts are all fields of the list at Keys. With Each, they are those fields of the
	// transaction whose key begins with it; with Whole, the transaction is the only one.
	// Part names their type, and Members are theirs.
	Each    string
	Whole   bool
	Part    string
	Members []Detail

	// Picks selects the effects of a list of effects.
	Picks func(*Effect) bool
}

// Returns reports whether an effect gives back to an account what it takes from it. A transfer by
// the code of an unknown token need not do that; it is known if it is pinned.
func (w Words) Returns(e *Effect, readings Readings) bool {
	if !e.ToItself() || e.By == ByOther {
		return false
	}
	reading, pinned := readings.Of(e)
	return w.Foreign == nil || !w.Foreign(e.Asset) || pinned && reading.Function != ""
}

// Name returns the field's key or, if it has none, its label with _ for spaces.
func (f *Field) Name() string {
	if f.Key != "" {
		return f.Key
	}
	return strings.ReplaceAll(f.Label, " ", "_")
}

// Keyed returns the first field with a key.
func Keyed(fields []Field, key string) (*Field, bool) {
	for i := range fields {
		if fields[i].Name() == key {
			return &fields[i], true
		}
	}
	return nil, false
}

// As returns the field with a key. A field without one has its label for a key, with _ for spaces.
func (f Field) As(key string) Field {
	f.Key = key
	return f
}

// Forms is how transactions of a chain are exchanged. The zero value is in hex alone, with a
// place for each signature.
type Forms struct {
	// Encodings are those besides hex, of "base64", "base58" and "binary", and Expected says for
	// errors what is expected: "a PSBT in hex, base64 or binary".
	Encodings []string
	Expected  string

	// Complete returns the transaction for bytes that came in one of the encodings, or in hex.
	// If they are only what is signed of a transaction, it adds the empty places for the
	// signatures. Nil: they are the transaction.
	Complete func(raw []byte) (transaction []byte, err error)

	// Unsign removes the signature of a signed transaction, of which unsigned ones have no
	// place for it: a person can then look at a signed transaction, too. All other bytes stay
	// what they are. signers are the addresses that the signature recovers to; there are none if
	// this kind of signature does not name its signer. signed is false if raw is not a signed
	// transaction: Parse says what it is. The error says that the signature is not valid.
	Unsign func(raw []byte) (unsigned []byte, signers []string, signed bool, err error)

	// Network is the network whose addresses are shown, such as "testnet", if transactions do
	// not name theirs while addresses do.
	Network string
}
