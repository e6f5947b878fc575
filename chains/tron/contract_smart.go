package tron

// core/contract/smart_contract.proto.

var triggerSmartContract = &message{name: "TriggerSmartContract", rule: ruleTokenValue, fields: []field{
	owner(1),
	addr(2, "contract_address", "contract"),
	sun(3, "call_value", "value").optional(),
	blob(4, "data", "data").optional(),
	count(5, "call_token_value", "token value", tokenUnit).optional(),
	count(6, "token_id", "token id", "").optional(),
}}

// Indexes of the fields of triggerSmartContract.
const (
	_ = iota
	triggerContract
	triggerValue
	triggerData
	triggerTokenValue
)

var createSmartContract = &message{name: "CreateSmartContract", rule: ruleCreation, fields: []field{
	owner(1),
	one(2, "new_contract", "new contract", smartContractMessage),
	count(3, "call_token_value", "token value", tokenUnit).optional(),
	count(4, "token_id", "token id", "").optional(),
}}

// Indexes of the fields of createSmartContract.
const (
	createNewContract = 1
	createTokenValue  = 2
)

var smartContractMessage = (&message{name: "SmartContract", fields: []field{
	addr(1, "origin_address", "origin"),
	addr(2, "contract_address", "contract").optional(),
	one(3, "abi", "ABI", abiMessage).optional().asBytes(),
	blob(4, "bytecode", "bytecode").optional(),
	sun(5, "call_value", "value").optional(),
	count(6, "consume_user_resource_percent", "energy paid by callers", "%").optional().upTo(100),
	str(7, "name", "name").upTo(maxContractName),
	count(8, "origin_energy_limit", "most energy paid by the creator", ""),
	refused(9, "code_hash", "the node computes it, and refuses it in a transaction since 4.8.2.2"),
	refused(10, "trx_hash", "the node computes it, and refuses it in a transaction since 4.8.2.2"),
	count32(11, "version", "version", "").optional(),
}}).named()

// maxContractName is the longest name of a contract, in bytes (CONTRACT_NAME_LENGTH).
const maxContractName = 32

// Indexes of the fields of smartContractMessage.
const (
	smartOrigin = 0
	smartValue  = 4
)

var abiMessage = (&message{name: "ABI", fields: []field{
	many(1, "entrys", "entry", abiEntryMessage).optional(),
}}).named()

var abiEntryMessage = (&message{name: "ABI.Entry", fields: []field{
	boolean(1, "anonymous", "anonymous"),
	boolean(2, "constant", "constant"),
	str(3, "name", "name"),
	many(4, "inputs", "input", abiParamMessage).optional(),
	many(5, "outputs", "output", abiParamMessage).optional(),
	enum(6, "type", "type", "UnknownEntryType", "Constructor", "Function", "Event", "Fallback", "Receive", "Error"),
	boolean(7, "payable", "payable"),
	enum(8, "stateMutability", "state mutability", "UnknownMutabilityType", "Pure", "View", "Nonpayable", "Payable"),
}}).named()

var abiParamMessage = (&message{name: "ABI.Entry.Param", fields: []field{
	boolean(1, "indexed", "indexed"),
	str(2, "name", "name"),
	str(3, "type", "type"),
}}).named()

var clearABIContract = &message{name: "ClearABIContract", fields: []field{
	owner(1),
	addr(2, "contract_address", "contract"),
}}

var updateSettingContract = &message{name: "UpdateSettingContract", fields: []field{
	owner(1),
	addr(2, "contract_address", "contract"),
	count(3, "consume_user_resource_percent", "energy paid by callers", "%").optional().upTo(100),
}}

var updateEnergyLimitContract = &message{name: "UpdateEnergyLimitContract", fields: []field{
	owner(1),
	addr(2, "contract_address", "contract"),
	count(3, "origin_energy_limit", "most energy paid by the creator", ""),
}}
