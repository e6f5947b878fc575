package tron

import (
	"fmt"
	"math/big"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains"
)

// transaction is a view over raw. Values are the positions of fields in it.
type transaction struct {
	limits Limits
	raw    []byte

	whole     bool                          // raw is a Transaction, not a Transaction.raw
	from, to  int                           // raw_data in raw
	id        [32]byte                      // SHA-256 over raw_data
	frame     [rawFeeLimit + 1]value        // of rawMessage
	envelope  [contractPermission + 1]value // of contractMessage
	parameter [2]value                      // of anyMessage
	contract  *contract                     // its type
	values    []value                       // of contract.message
	few       [8]value                      // backs values if that is enough

	owner      address // the account that the contract acts for
	ownerParty chains.Party

	signatures []signature // of other parties, in the order they came
}

var _ chains.Transaction = (*transaction)(nil)

// signature is a signature by another party.
type signature struct {
	offset int // in raw
	signer address
}

// signedSize returns the length of what AppendSigned appends.
func (tx *transaction) signedSize() int {
	size := len(tx.raw) + len(signatureHeader) + signatureSize
	if !tx.whole {
		size += 1 + protowire.SizeVarint(uint64(len(tx.raw)))
	}
	return size
}

// The numbers of types that more than their table depends on.
const (
	numberTransfer      = 1
	numberTransferAsset = 2
	numberCreate        = 30
	numberTrigger       = 31
	numberPermissions   = 46
	numberDelegate      = 57
)

// contract is one contract type: a kind of transaction.
type contract struct {
	number  int64
	message *message
	effects effectsFunc // nil for TriggerSmartContract: see callEffects
	title   string      // in a few words, for summaries
	typeURL string
	burns   int64 // what executing it always burns, in sun
}

func newContract(number int64, name, title string, effects effectsFunc, fields ...field) *contract {
	return &contract{number: number, message: newMessage(name, fields...), effects: effects, title: title,
		typeURL: "type.googleapis.com/protocol." + name}
}

func (c *contract) where(rule rule) *contract {
	c.message.where(rule)
	return c
}

func (c *contract) burning(sun int64) *contract {
	c.burns = sun
	return c
}

// runsCode reports whether executing the contract runs a smart contract, for which fee_limit pays.
func (c *contract) runsCode() bool {
	return c.number == numberCreate || c.number == numberTrigger
}

// effectsFunc returns the effects of executing a contract, except its fee.
type effectsFunc func(*transaction) []chains.Effect

// addressAt returns the account in a field of the contract that is required.
func (tx *transaction) addressAt(field int) chains.Party {
	return party(readAddress(tx.values[field].of(tx.raw)))
}

func (tx *transaction) amountAt(field int) chains.Quantity {
	return chains.Exactly(big.NewInt(tx.values[field].number))
}

// assetAt returns the token in a field of the contract, or TRX.
func (tx *transaction) assetAt(field int) chains.Asset {
	return tokenAsset(string(tx.values[field].of(tx.raw)))
}

func tokenAsset(id string) chains.Asset {
	if id == trxToken {
		return trxAsset
	}
	return chains.Asset{Chain: Name, TokenID: id, Standard: "trc10"}
}

func (tx *transaction) label(field int) string { return tx.contract.message.fields[field].label }

var trxAsset = chains.Native(Name)

// resultRoom is what the network adds to the size of a transaction before it
// compares it with its limit: twice MAX_RESULT_SIZE_IN_TX.
const resultRoom = 2 * 64

// UsesUp implements chains.Exclusive: the network executes a transaction once.
func (tx *transaction) UsesUp(string) []string { return []string{fmt.Sprintf("transaction %x", tx.id)} }
