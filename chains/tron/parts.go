package tron

import "math"

// The messages within contracts, and the indexes of the fields of both that rules and effects name.
// Permission and Key are in core/Tron.proto.

// Indexes of the fields of AccountPermissionUpdateContract.
const (
	updateOwner = iota + 1
	updateWitness
	updateActives
)

// The types of permissions, in the order of these fields.
const (
	permissionOwner = iota
	permissionWitness
	permissionActive
)

var permissionMessage = newMessage("Permission",
	enum(1, "type", "type", "Owner", "Witness", "Active"),
	field{number: 2, name: "id", label: "id", kind: kindInt32, most: maxPermissionID},
	str(3, "permission_name", "name"),
	count(4, "threshold", "threshold", ""),
	refused(5, "parent_id", "the network only accepts 0: leave it out"),
	field{number: 6, name: "operations", label: "operations", kind: kindOperations, least: 32, most: 32,
		why: "one bit for each contract type"},
	many(7, "keys", "key", keyMessage)).where(checkPermission)

// Indexes of the fields of permissionMessage.
const (
	permissionType       = 0
	permissionID         = 1
	permissionName       = 2
	permissionThreshold  = 3
	permissionOperations = 5
	permissionKeys       = 6
)

var keyMessage = newMessage("Key",
	addr(1, "address", "address"),
	count(2, "weight", "weight", ""))

const voteVotes = 1 // index of votes in VoteWitnessContract

var voteMessage = newMessage("Vote",
	addr(1, "vote_address", "candidate"),
	count(2, "vote_count", "votes", ""))

const createParameters = 1 // index of parameters in ProposalCreateContract

// parameterMessage is an entry of map<int64, int64>.
var parameterMessage = newMessage("parameters",
	field{number: 1, name: "key", label: "number", kind: kindInt, needed: true, zero: true, most: math.MaxInt64,
		why: "both fields of a map's entry are written, also when 0"},
	field{number: 2, name: "value", label: "value", kind: kindInt, needed: true, zero: true, least: math.MinInt64,
		most: math.MaxInt64, why: "both fields of a map's entry are written, also when 0"})

// Indexes of the fields of AssetIssueContract.
const (
	issueName   = 1
	issueSupply = 3
	issueFrozen = 4
	issueStart  = 8
	issueEnd    = 9
)

// maxURL is the longest URL of a website, in bytes.
const maxURL = 256

var frozenSupplyMessage = newMessage("FrozenSupply",
	count(1, "frozen_amount", "amount", tokenUnit),
	count(2, "frozen_days", "for", "days").upTo(3652))

// Indexes of the two tokens in the tables of ExchangeCreateContract and MarketSellAssetContract.
const (
	firstToken  = 1
	secondToken = 3
)

const tokenUnit = "smallest units"

// Indexes of the fields of DelegateResourceContract.
const (
	delegateAmount = iota + 2 // as in UnDelegateResourceContract
	delegateReceiver
	delegateLock
	delegatePeriod
)

// leastStake is TRX_PRECISION: at least 1 TRX is staked and delegated.
const leastStake = 1_000_000

// Indexes of the fields of TriggerSmartContract.
const (
	triggerContract = iota + 1
	triggerValue
	triggerData
	triggerTokenValue
)

// Indexes of the fields of CreateSmartContract.
const (
	createNewContract = 1
	createTokenValue  = 2
)

var smartContractMessage = newMessage("SmartContract",
	addr(1, "origin_address", "origin"),
	addr(2, "contract_address", "contract").optional(),
	field{number: 3, name: "abi", label: "ABI", kind: kindMessage, of: abiMessage, opaque: true},
	blob(4, "bytecode", "bytecode").optional(),
	sun(5, "call_value", "value").optional(),
	count(6, "consume_user_resource_percent", "energy paid by callers", "%").optional().upTo(100),
	str(7, "name", "name").upTo(maxContractName),
	count(8, "origin_energy_limit", "most energy paid by the creator", ""),
	refused(9, "code_hash", "the node computes it, and refuses it in a transaction since 4.8.2.2"),
	refused(10, "trx_hash", "the node computes it, and refuses it in a transaction since 4.8.2.2"),
	count32(11, "version", "version", "").optional())

// maxContractName is the longest name of a contract, in bytes (CONTRACT_NAME_LENGTH).
const maxContractName = 32

// Indexes of the fields of smartContractMessage.
const (
	smartOrigin = 0
	smartValue  = 4
)

var abiMessage = newMessage("ABI",
	many(1, "entrys", "entry", abiEntryMessage).optional())

var abiEntryMessage = newMessage("ABI.Entry",
	boolean(1, "anonymous", "anonymous"),
	boolean(2, "constant", "constant"),
	str(3, "name", "name"),
	many(4, "inputs", "input", abiParamMessage).optional(),
	many(5, "outputs", "output", abiParamMessage).optional(),
	enum(6, "type", "type", "UnknownEntryType", "Constructor", "Function", "Event", "Fallback", "Receive", "Error"),
	boolean(7, "payable", "payable"),
	enum(8, "stateMutability", "state mutability", "UnknownMutabilityType", "Pure", "View", "Nonpayable", "Payable"))

var abiParamMessage = newMessage("ABI.Entry.Param",
	boolean(1, "indexed", "indexed"),
	str(2, "name", "name"),
	str(3, "type", "type"))
