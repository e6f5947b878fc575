package tron

import "math"

// core/contract/account_contract.proto, witness_contract.proto,
// storage_contract.proto and proposal_contract.proto; Permission and Key are in
// core/Tron.proto.

// Indexes of the fields of accountPermissionUpdateContract.
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

const voteVotes = 1 // index of votes in voteWitnessContract

var voteMessage = newMessage("Vote",
	addr(1, "vote_address", "candidate"),
	count(2, "vote_count", "votes", ""))

const createParameters = 1 // index of parameters in proposalCreateContract

// parameterMessage is an entry of map<int64, int64>.
var parameterMessage = newMessage("parameters",
	field{number: 1, name: "key", label: "number", kind: kindInt, needed: true, zero: true, most: math.MaxInt64,
		why: "both fields of a map's entry are written, also when 0"},
	field{number: 2, name: "value", label: "value", kind: kindInt, needed: true, zero: true, least: math.MinInt64,
		most: math.MaxInt64, why: "both fields of a map's entry are written, also when 0"})

var accountContracts = []*contract{
	newContract(0, "AccountCreateContract", "create an account", doCreateAccount,
		owner(1),
		addr(2, "account_address", "account"),
		enum(3, "type", "account type", "Normal", "AssetIssue", "Contract")).burning(feeNewAccount),
	newContract(10, "AccountUpdateContract", "name the account", doSettings,
		text(1, "account_name", "account name").optional().upTo(200),
		owner(2)),
	newContract(19, "SetAccountIdContract", "set the account's id, once", doSettings,
		text(1, "account_id", "account id").readable(8, 32),
		owner(2)),
	newContract(numberPermissions, "AccountPermissionUpdateContract",
		"replace the account's permissions: who may sign for it from now on", doPermissions,
		owner(1),
		field{number: 2, name: "owner", label: "owner permission", kind: kindMessage, of: permissionMessage, needed: true,
			why: "without it no key could sign for the account"},
		one(3, "witness", "witness permission", permissionMessage).optional(),
		many(4, "actives", "active permission", permissionMessage)).where(checkPermissions).burning(feePermissions),
	newContract(5, "WitnessCreateContract", "apply to be a super representative", doSettings,
		owner(1),
		text(2, "url", "website").upTo(maxURL)).burning(feeWitness),
	newContract(8, "WitnessUpdateContract", "change a super representative's website", doSettings,
		owner(1),
		text(12, "update_url", "website").upTo(maxURL)),
	newContract(4, "VoteWitnessContract", "vote for super representatives", doVote,
		owner(1),
		many(2, "votes", "vote", voteMessage),
		boolean(3, "support", "support")).where(checkVotes),
	newContract(49, "UpdateBrokerageContract", "change a super representative's commission", doSettings,
		owner(1),
		count32(2, "brokerage", "commission", "%").optional().upTo(100)),
	newContract(16, "ProposalCreateContract", "propose network parameters", doSettings,
		owner(1),
		many(2, "parameters", "parameter", parameterMessage)).where(checkParameters),
	newContract(17, "ProposalApproveContract", "vote on a proposal", doSettings,
		owner(1),
		count(2, "proposal_id", "proposal", ""),
		boolean(3, "is_add_approval", "approve").shown()),
	newContract(18, "ProposalDeleteContract", "withdraw a proposal", doSettings,
		owner(1),
		count(2, "proposal_id", "proposal", "")),
}
