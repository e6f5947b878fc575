package rpcapi

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Sizes, in bytes.
const (
	blobSize       = 131072
	commitmentSize = 48
	cellsOfBlob    = 128     // proofs of a blob in a sidecar of version 1
	maxBlobs       = 64      // above what any fork allows; the chain's reader refuses more than that
	maxListed      = 1 << 14 // addresses, storage keys in all, or authorizations: more gas than a block has
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
// and returns the sender and the one canonical encoding, see chains/ethereum. Its error is a *fault.
func (o *object) transaction() (from common.Address, unsigned []byte, err error) {
	var c checker
	from = c.address("from", o.from)
	kind := o.typeOf(&c)
	fields := o.fields(&c, kind)
	if c.err != nil {
		return from, nil, c.err
	}
	unsigned, err = rlp.EncodeToBytes(fields)
	if err == nil && kind != types.LegacyTxType {
		unsigned = append([]byte{kind}, unsigned...)
	}
	return from, unsigned, err
}

// typeOf returns the type that the members ask for. A member type must agree.
func (o *object) typeOf(c *checker) byte {
	kind := byte(types.LegacyTxType)
	switch {
	case o.hasAuthorizations:
		kind = types.SetCodeTxType
	case o.hasHashes || o.hasBlobs || o.maxBlobFee != absent:
		kind = types.BlobTxType
	case o.maxFee != absent || o.maxTip != absent:
		kind = types.DynamicFeeTxType
	case o.hasAccess:
		kind = types.AccessListTxType
	}
	if o.kind != absent {
		if stated := c.quantity("type", o.kind, 64); stated.Cmp(big.NewInt(int64(kind))) != 0 {
			c.fail("type", "the members are those of type %d: remove type, or set the members of type %s", kind, stated)
		}
	}
	return kind
}

// fields returns the items of the unsigned transaction, for RLP.
func (o *object) fields(c *checker, kind byte) []any {
	chainID := c.quantity("chainId", o.chainID, 64)
	if c.err == nil && chainID.Sign() == 0 {
		c.fail("chainId", "0 is no chain: a signature without a chain is valid on all")
	}
	nonce, gas := c.quantity("nonce", o.nonce, 64), c.quantity("gas", o.gas, 64)
	to, value, input := o.recipient(c, kind), c.optional("value", o.value, 256), o.calldata(c)
	if len(to) == 0 && len(input) == 0 {
		c.fail("to", "missing, and so is input: a transaction that creates a contract has its code in input")
	}
	if kind != types.BlobTxType {
		o.refuseBlobs(c, kind)
	}
	fees := o.fees(c, kind)
	switch kind {
	case types.LegacyTxType:
		return []any{nonce, fees[0], gas, to, value, input, chainID, uint(0), uint(0)}
	case types.AccessListTxType:
		return []any{chainID, nonce, fees[0], gas, to, value, input, o.accessList(c)}
	}
	items := []any{chainID, nonce, fees[0], fees[1], gas, to, value, input, o.accessList(c)}
	switch kind {
	case types.BlobTxType:
		items = append(items, c.quantity("maxFeePerBlobGas", o.maxBlobFee, 256), o.blobHashes(c))
		return o.withSidecar(c, items)
	case types.SetCodeTxType:
		items = append(items, o.authorizationList(c))
	}
	return items
}

// fees returns gasPrice, or maxPriorityFeePerGas and maxFeePerGas.
func (o *object) fees(c *checker, kind byte) []*big.Int {
	if kind == types.LegacyTxType || kind == types.AccessListTxType {
		return []*big.Int{c.quantity("gasPrice", o.gasPrice, 256)}
	}
	most, tip := c.quantity("maxFeePerGas", o.maxFee, 256), c.quantity("maxPriorityFeePerGas", o.maxTip, 256)
	if o.gasPrice != absent {
		if price := c.quantity("gasPrice", o.gasPrice, 256); c.err == nil && price.Cmp(most) != 0 {
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
	if kind == types.BlobTxType || kind == types.SetCodeTxType {
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
			keys = append(keys, c.sized(within("accessList", i, within("storageKeys", j)), key, common.HashLength))
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
			c.quantity(within(name, i, "chainId"), a.chainID, 256),
			c.address(within(name, i, "address"), a.address).Bytes(),
			c.quantity(within(name, i, "nonce"), a.nonce, 64), c.quantity(within(name, i, "yParity"), a.yParity, 8),
			c.quantity(within(name, i, "r"), a.r, 256), c.quantity(within(name, i, "s"), a.s, 256),
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
		stated = append(stated, c.sized(within("blobVersionedHashes", i), hash, common.HashLength))
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
