package tron

import "math"

// The messages around a contract: core/Tron.proto. The .proto files declare the fields
// that the tables refuse by name, but no transaction to be signed has them.

var transactionMessage = newMessage("Transaction",
	one(1, "raw_data", "", nil),
	field{number: 2, name: "signature", kind: kindRepeated, least: signatureSize, most: signatureSize,
		why: "r, s and v"},
	refused(5, "ret", "a result: this transaction was executed already"))

// Indexes of the fields of rawMessage.
const (
	rawExpiration = 3
	rawData       = 5
	rawContract   = 6
	rawTimestamp  = 8
	rawFeeLimit   = 9
)

var rawMessage = newMessage("raw_data",
	blob(1, "ref_block_bytes", "reference block").exactly(2, "the last two bytes of a recent block's number"),
	refused(3, "ref_block_num", "the network does not look at it: leave it out"),
	blob(4, "ref_block_hash", "reference block hash").exactly(8, "bytes 8 to 15 of the reference block's hash"),
	moment(8, "expiration", "expires").neededAbove0(),
	refused(9, "auths", "the network does not use it: leave it out"),
	text(10, "data", "memo").optional(),
	one(11, "contract", "", nil),
	refused(12, "scripts", "the network does not use it: leave it out"),
	moment(14, "timestamp", "created"),
	sun(18, "fee_limit", "fee limit").optional())

// Indexes of the fields of contractMessage.
const (
	contractType       = 0
	contractParameter  = 1
	contractPermission = 4
)

// contractMessage is read after rawMessage, because the values of both levels are needed.
var contractMessage = newMessage("contract",
	field{number: 1, name: "type", kind: kindInt32, most: math.MaxInt32},
	one(2, "parameter", "", nil),
	text(3, "provider", "provider").optional(),
	text(4, "ContractName", "contract name").optional(),
	field{number: 5, name: "Permission_id", label: "permission", kind: kindInt32, most: maxPermissionID,
		except: permissionWitness,
		why:    "the network accepts no transaction under the witness permission"})

// maxPermissionID is the last id of a permission: 0 is the owner permission, 1 the
// witness permission, which only signs blocks, and 2 to 9 are the active permissions,
// of which an account has at most 8.
const maxPermissionID = 9

var anyMessage = newMessage("Any",
	field{number: 1, name: "type_url", kind: kindString, needed: true, most: 128},
	one(2, "value", "", nil))
