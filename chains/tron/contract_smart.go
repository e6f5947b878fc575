package tron

// core/contract/smart_contract.proto.

// Indexes of the fields of triggerSmartContract.
const (
	triggerContract = iota + 1
	triggerValue
	triggerData
	triggerTokenValue
)

// Indexes of the fields of createSmartContract.
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

var smartContracts = []*contract{
	newContract(numberTrigger, "TriggerSmartContract", "call a smart contract", nil,
		owner(1),
		addr(2, "contract_address", "contract"),
		sun(3, "call_value", "value").optional(),
		blob(4, "data", "data").optional(),
		count(5, "call_token_value", "token value", tokenUnit).optional(),
		count(6, "token_id", "token id", "").optional()).where(checkTokenValue),
	newContract(numberCreate, "CreateSmartContract", "create a smart contract", doCreateContract,
		owner(1),
		one(2, "new_contract", "new contract", smartContractMessage),
		count(3, "call_token_value", "token value", tokenUnit).optional(),
		count(4, "token_id", "token id", "").optional()).where(checkCreation),
	newContract(48, "ClearABIContract", "clear a contract's ABI", doContract,
		owner(1),
		addr(2, "contract_address", "contract")),
	newContract(33, "UpdateSettingContract", "change who pays for a contract's energy", doContract,
		owner(1),
		addr(2, "contract_address", "contract"),
		count(3, "consume_user_resource_percent", "energy paid by callers", "%").optional().upTo(100)),
	newContract(45, "UpdateEnergyLimitContract", "change how much energy the contract's creator pays", doContract,
		owner(1),
		addr(2, "contract_address", "contract"),
		count(3, "origin_energy_limit", "most energy paid by the creator", "")),
}
