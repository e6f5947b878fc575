package rpcapi

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// The types of transactions.
const (
	typeLegacy byte = iota
	typeAccessList
	typeDynamicFee
	typeBlob
	typeSetCode
)

// Sizes, in bytes.
const (
	addressSize    = common.AddressLength
	hashSize       = common.HashLength
	blobSize       = 131072
	commitmentSize = 48
	cellsOfBlob    = 128     // proofs of a blob in a sidecar of version 1
	maxBlobs       = 64      // above what any fork allows; the chain's reader refuses more than that
	maxListed      = 1 << 14 // addresses, storage keys in all, or authorizations: more gas than a block has
)

// Bits of integers.
const (
	bits8   = 8
	bits64  = 64
	bits256 = 256
)

// absent is the text of a member that the object does not have, or that is null.
const absent = "\x00"

// object is a transaction object: texts as they were sent.
type object struct {
	from, to, gas, gasPrice, maxFee, maxTip, value, nonce string
	data, input, chainID, kind, maxBlobFee                string
	blobVersion                                           strictjson.Value
	access                                                []accessEntry
	hasAccess, hasHashes, hasBlobs, hasAuthorizations     bool
	hashes, blobs, commitments, proofs                    []string
	authorizations                                        []authorization
	text                                                  []byte
}

type accessEntry struct {
	address string
	keys    []string
}

type authorization struct {
	chainID, address, nonce, yParity, r, s string
}

// transaction is what a transaction object asks to be signed.
type transaction struct {
	from     common.Address
	unsigned []byte // the one canonical encoding, see chains/ethereum
	sidecar  bool   // the signed transaction carries its blobs
}

// readObject reads a transaction object.
func readObject(text []byte) (*object, error) {
	o := &object{text: text}
	texts := map[string]*string{
		"from": &o.from, "to": &o.to, "gas": &o.gas, "gasPrice": &o.gasPrice, "maxFeePerGas": &o.maxFee,
		"maxPriorityFeePerGas": &o.maxTip, "value": &o.value, "nonce": &o.nonce, "data": &o.data, "input": &o.input,
		"chainId": &o.chainID, "type": &o.kind, "maxFeePerBlobGas": &o.maxBlobFee,
	}
	members := []strictjson.Field{
		strictjson.Optional("accessList", o.readAccess),
		strictjson.Optional("blobVersionedHashes", listInto("blobVersionedHashes", maxBlobs, &o.hashes, &o.hasHashes)),
		strictjson.Optional("blobVersion", &o.blobVersion),
		strictjson.Optional("blobs", listInto("blobs", maxBlobs, &o.blobs, &o.hasBlobs)),
		strictjson.Optional("commitments", listInto("commitments", maxBlobs, &o.commitments, new(bool))),
		strictjson.Optional("proofs", listInto("proofs", maxBlobs*cellsOfBlob, &o.proofs, new(bool))),
		strictjson.Optional("authorizationList", o.readAuthorizations),
	}
	for name, into := range texts {
		*into = absent
		members = append(members, strictjson.Optional(name, into))
	}
	if err := strictjson.Read(text, "transaction", members...); err != nil {
		return nil, paramFault(err)
	}
	return o, nil
}

// listInto reads an array of strings and notes that there is one.
func listInto(name string, most int, into *[]string, has *bool) func(*strictjson.Reader) error {
	return func(r *strictjson.Reader) error {
		*has = true
		return atMost(r, name, most, func(r *strictjson.Reader) error {
			var text string
			err := r.Into(&text)
			*into = append(*into, text)
			return err
		})
	}
}

func (o *object) readAccess(r *strictjson.Reader) error {
	const name = "accessList"
	o.hasAccess = true
	left := maxListed // storage keys
	return atMost(r, name, maxListed, func(r *strictjson.Reader) error {
		var entry accessEntry
		err := r.Object(strictjson.Required("address", &entry.address), strictjson.Required("storageKeys",
			listInto(name+".storageKeys", left, &entry.keys, new(bool))))
		o.access = append(o.access, entry)
		left -= len(entry.keys)
		return err
	})
}

func (o *object) readAuthorizations(r *strictjson.Reader) error {
	o.hasAuthorizations = true
	return atMost(r, "authorizationList", maxListed, func(r *strictjson.Reader) error {
		var a authorization
		err := r.Object(
			strictjson.Required("chainId", &a.chainID), strictjson.Required("address", &a.address), strictjson.Required("nonce", &a.nonce),
			strictjson.Required("yParity", &a.yParity), strictjson.Required("r", &a.r), strictjson.Required("s", &a.s),
		)
		o.authorizations = append(o.authorizations, a)
		return err
	})
}

// transaction checks that the object says everything that decides, without contradiction,
// and encodes it. Its error is a *fault.
func (o *object) transaction() (transaction, error) {
	var c checker
	tx := transaction{from: c.address("from", o.from)}
	kind := o.typeOf(&c)
	fields := o.fields(&c, kind)
	if c.err != nil {
		return transaction{}, c.err
	}
	encoded, err := rlp.EncodeToBytes(fields)
	if err != nil {
		return transaction{}, err
	}
	if kind != typeLegacy {
		encoded = append([]byte{kind}, encoded...)
	}
	tx.unsigned, tx.sidecar = encoded, o.hasBlobs
	return tx, nil
}

// typeOf returns the type that the members ask for. A member type must agree.
func (o *object) typeOf(c *checker) byte {
	kind := typeLegacy
	switch {
	case o.hasAuthorizations:
		kind = typeSetCode
	case o.hasHashes || o.hasBlobs || o.maxBlobFee != absent:
		kind = typeBlob
	case o.maxFee != absent || o.maxTip != absent:
		kind = typeDynamicFee
	case o.hasAccess:
		kind = typeAccessList
	}
	if o.kind != absent {
		if stated := c.quantity("type", o.kind, bits64); stated.Cmp(big.NewInt(int64(kind))) != 0 {
			c.fail("type", "the members are those of type %d: remove type, or set the members of type %s", kind, stated)
		}
	}
	return kind
}

// fields returns the items of the unsigned transaction, for RLP.
func (o *object) fields(c *checker, kind byte) []any {
	chainID := c.quantity("chainId", o.chainID, bits64)
	if c.err == nil && chainID.Sign() == 0 {
		c.fail("chainId", "0 is no chain: a signature without a chain is valid on all")
	}
	nonce, gas := c.quantity("nonce", o.nonce, bits64), c.quantity("gas", o.gas, bits64)
	to, value, input := o.recipient(c, kind), c.optional("value", o.value, bits256), o.calldata(c)
	if len(to) == 0 && len(input) == 0 {
		c.fail("to", "missing, and so is input: a transaction that creates a contract has its code in input")
	}
	if kind != typeBlob {
		o.refuseBlobs(c, kind)
	}
	fees := o.fees(c, kind)
	switch kind {
	case typeLegacy:
		return []any{nonce, fees[0], gas, to, value, input, chainID, uint(0), uint(0)}
	case typeAccessList:
		return []any{chainID, nonce, fees[0], gas, to, value, input, o.accessList(c)}
	}
	items := []any{chainID, nonce, fees[0], fees[1], gas, to, value, input, o.accessList(c)}
	switch kind {
	case typeBlob:
		items = append(items, c.quantity("maxFeePerBlobGas", o.maxBlobFee, bits256), o.blobHashes(c))
		return o.withSidecar(c, items)
	case typeSetCode:
		items = append(items, o.authorizationList(c))
	}
	return items
}

// fees returns gasPrice, or maxPriorityFeePerGas and maxFeePerGas.
func (o *object) fees(c *checker, kind byte) []*big.Int {
	if kind == typeLegacy || kind == typeAccessList {
		return []*big.Int{c.quantity("gasPrice", o.gasPrice, bits256)}
	}
	most, tip := c.quantity("maxFeePerGas", o.maxFee, bits256), c.quantity("maxPriorityFeePerGas", o.maxTip, bits256)
	if o.gasPrice != absent {
		if price := c.quantity("gasPrice", o.gasPrice, bits256); c.err == nil && price.Cmp(most) != 0 {
			c.fail("gasPrice", "%s beside a maxFeePerGas of %s: leave gasPrice out", price, most)
		}
	}
	if c.err == nil && tip.Cmp(most) > 0 {
		c.fail("maxPriorityFeePerGas", "%s is more than maxFeePerGas, %s", tip, most)
	}
	return []*big.Int{tip, most}
}

// recipient returns the bytes of to, which are none for the creation of a contract.
func (o *object) recipient(c *checker, kind byte) []byte {
	if o.to != absent {
		return c.address("to", o.to).Bytes()
	}
	if kind == typeBlob || kind == typeSetCode {
		c.fail("to", "missing: a transaction of type %d cannot create a contract", kind)
	}
	return nil
}

// calldata returns the bytes of data and input, which must not differ.
func (o *object) calldata(c *checker) []byte {
	input, data := c.bytes("input", o.input), c.bytes("data", o.data)
	switch {
	case o.input == absent:
		return data
	case o.data != absent && !bytes.Equal(input, data):
		c.fail("data", "differs from input: send one of the two")
	}
	return input
}

func (o *object) accessList(c *checker) []any {
	list := []any{}
	for i, entry := range o.access {
		keys := [][]byte{}
		for j, key := range entry.keys {
			keys = append(keys, c.sized(within("accessList", i, within("storageKeys", j)), key, hashSize))
		}
		list = append(list, []any{c.address(within("accessList", i, "address"), entry.address).Bytes(), keys})
	}
	return list
}

// within returns the name of an element of an array, or of a member of it.
func within(array string, i int, member ...string) string {
	return strings.Join(append([]string{array, strconv.Itoa(i)}, member...), ".")
}

func (o *object) authorizationList(c *checker) []any {
	const name = "authorizationList"
	list := []any{}
	if len(o.authorizations) == 0 {
		c.fail(name, "empty: a transaction of type 4 delegates at least one account")
	}
	for i, a := range o.authorizations {
		list = append(list, []any{
			c.quantity(within(name, i, "chainId"), a.chainID, bits256), c.address(within(name, i, "address"), a.address).Bytes(),
			c.quantity(within(name, i, "nonce"), a.nonce, bits64), c.quantity(within(name, i, "yParity"), a.yParity, bits8),
			c.quantity(within(name, i, "r"), a.r, bits256), c.quantity(within(name, i, "s"), a.s, bits256),
		})
	}
	return list
}

// refuseBlobs refuses the members of a blob transaction in one of another type.
func (o *object) refuseBlobs(c *checker, kind byte) {
	for _, member := range []struct {
		name  string
		there bool
	}{
		{"blobVersionedHashes", o.hasHashes}, {"maxFeePerBlobGas", o.maxBlobFee != absent}, {"blobs", o.hasBlobs},
		{"commitments", len(o.commitments) > 0}, {"proofs", len(o.proofs) > 0}, {"blobVersion", o.blobVersion.Kind != 0},
	} {
		if member.there {
			c.fail(member.name, "a transaction of type %d has no blobs: leave it out", kind)
		}
	}
}

// versionKZG is the first byte of the versioned hash of a commitment: EIP-4844.
const versionKZG = 1

// blobHashes returns the versioned hashes. Those of commitments must be the same.
func (o *object) blobHashes(c *checker) [][]byte {
	stated := [][]byte{}
	for i, hash := range o.hashes {
		stated = append(stated, c.sized(within("blobVersionedHashes", i), hash, hashSize))
	}
	if !o.hasBlobs {
		if len(o.commitments)+len(o.proofs) > 0 || o.blobVersion.Kind != 0 {
			c.fail("blobs", "missing: commitments, proofs and blobVersion go with blobs")
		}
		if len(stated) == 0 {
			c.fail("blobVersionedHashes", "missing: a transaction of type 3 has at least one blob")
		}
		return stated
	}
	computed := [][]byte{}
	for i, commitment := range o.commitments {
		hash := sha256.Sum256(c.sized(within("commitments", i), commitment, commitmentSize))
		hash[0] = versionKZG
		computed = append(computed, hash[:])
	}
	if o.hasHashes && c.err == nil {
		for i := range max(len(computed), len(stated)) {
			if i >= len(computed) || i >= len(stated) || !bytes.Equal(computed[i], stated[i]) {
				c.fail("blobVersionedHashes", "%d are not those of the %d commitments", len(stated), len(computed))
				break
			}
		}
	}
	return computed
}

// withSidecar returns the items of the network form, if the object has blobs.
func (o *object) withSidecar(c *checker, body []any) []any {
	if !o.hasBlobs || c.err != nil {
		return body
	}
	n := len(o.blobs)
	version := o.sidecarVersion(c)
	switch {
	case n == 0 || n > maxBlobs:
		c.fail("blobs", "%d: expected 1 to %d", n, maxBlobs)
	case len(o.commitments) != n:
		c.fail("commitments", "%d for %d blobs: send one for each", len(o.commitments), n)
	case version == 0 && len(o.proofs) != n:
		c.fail("proofs", "%d for %d blobs: a sidecar of version 0 has one for each", len(o.proofs), n)
	case version == 1 && len(o.proofs) != n*cellsOfBlob:
		c.fail("proofs", "%d for %d blobs: a sidecar of version 1 has %d for each", len(o.proofs), n, cellsOfBlob)
	}
	if c.err != nil {
		return nil
	}
	parts := []any{body}
	if version == 1 {
		parts = append(parts, uint(1))
	}
	return append(parts, c.list("blobs", o.blobs, blobSize), c.list("commitments", o.commitments, commitmentSize),
		c.list("proofs", o.proofs, commitmentSize))
}

// sidecarVersion returns blobVersion, or the version whose number of proofs there is.
func (o *object) sidecarVersion(c *checker) int {
	switch text := string(o.blobVersion.Of(o.text)); text {
	case "":
		if len(o.proofs) == len(o.blobs)*cellsOfBlob {
			return 1
		}
		return 0
	case "0", `"0x0"`:
		return 0
	case "1", `"0x1"`:
		return 1
	default:
		c.fail("blobVersion", "%.20s: expected 0 or 1", text)
		return 0
	}
}
