package tron

import "math"

// core/contract/account_contract.proto, witness_contract.proto,
// storage_contract.proto and proposal_contract.proto; Permission and Key are in
// core/Tron.proto.

var accountCreateContract = &message{name: "AccountCreateContract", fields: []field{
	owner(1),
	addr(2, "account_address", "account"),
	enum(3, "type", "account type", "Normal", "AssetIssue", "Contract"),
}}

var accountUpdateContract = &message{name: "AccountUpdateContract", fields: []field{
	text(1, "account_name", "account name").optional().upTo(200),
	owner(2),
}}

var setAccountIDContract = &message{name: "SetAccountIdContract", fields: []field{
	text(1, "account_id", "account id").readable(8, 32),
	owner(2),
}}

var accountPermissionUpdateContract = &message{name: "AccountPermissionUpdateContract", rule: rulePermissions,
	fields: []field{
		owner(1),
		one(2, "owner", "owner permission", permissionMessage).because("without it no key could sign for the account"),
		one(3, "witness", "witness permission", permissionMessage).optional(),
		many(4, "actives", "active permission", permissionMessage),
	}}

// Indexes of the fields of accountPermissionUpdateContract.
const (
	_ = iota
	updateOwner
	updateWitness
	updateActives
)

// The types of permissions.
const (
	permissionOwner = iota
	permissionWitness
	permissionActive
)

var permissionMessage = (&message{name: "Permission", rule: rulePermission, fields: []field{
	enum(1, "type", "type", "Owner", "Witness", "Active"),
	{number: 2, name: "id", label: "id", kind: kindInt32, most: maxPermissionID},
	str(3, "permission_name", "name"),
	count(4, "threshold", "threshold", ""),
	refused(5, "parent_id", "the network only accepts 0: leave it out"),
	{number: 6, name: "operations", label: "operations", kind: kindOperations, least: 32, most: 32,
		why: "one bit for each contract type"},
	many(7, "keys", "key", keyMessage),
}}).named()

// Indexes of the fields of permissionMessage.
const (
	permissionType = iota
	permissionID
	permissionName
	permissionThreshold
	_
	permissionOperations
	permissionKeys
)

var keyMessage = (&message{name: "Key", fields: []field{
	addr(1, "address", "address"),
	count(2, "weight", "weight", ""),
}}).named()

var witnessCreateContract = &message{name: "WitnessCreateContract", fields: []field{
	owner(1),
	text(2, "url", "website").upTo(maxURL),
}}

var witnessUpdateContract = &message{name: "WitnessUpdateContract", fields: []field{
	owner(1),
	text(12, "update_url", "website").upTo(maxURL),
}}

var voteWitnessContract = &message{name: "VoteWitnessContract", rule: ruleVotes, fields: []field{
	owner(1),
	many(2, "votes", "vote", voteMessage),
	boolean(3, "support", "support"),
}}

const voteVotes = 1 // index of votes in voteWitnessContract

var voteMessage = (&message{name: "Vote", fields: []field{
	addr(1, "vote_address", "candidate"),
	count(2, "vote_count", "votes", ""),
}}).named()

var updateBrokerageContract = &message{name: "UpdateBrokerageContract", fields: []field{
	owner(1),
	count32(2, "brokerage", "commission", "%").optional().upTo(100),
}}

var proposalCreateContract = &message{name: "ProposalCreateContract", rule: ruleParameters, fields: []field{
	owner(1),
	many(2, "parameters", "parameter", parameterMessage),
}}

const createParameters = 1 // index of parameters in proposalCreateContract

// parameterMessage is an entry of map<int64, int64>.
var parameterMessage = (&message{name: "parameters", mapEntry: true, fields: []field{
	{number: 1, name: "key", label: "number", kind: kindInt, needed: true, most: math.MaxInt64,
		why: "both fields of a map's entry are written, also when 0"},
	{number: 2, name: "value", label: "value", kind: kindInt, needed: true, least: math.MinInt64, most: math.MaxInt64,
		why: "both fields of a map's entry are written, also when 0"},
}}).named()

var proposalApproveContract = &message{name: "ProposalApproveContract", fields: []field{
	owner(1),
	count(2, "proposal_id", "proposal", ""),
	boolean(3, "is_add_approval", "approve").shown(),
}}

var proposalDeleteContract = &message{name: "ProposalDeleteContract", fields: []field{
	owner(1),
	count(2, "proposal_id", "proposal", ""),
}}
