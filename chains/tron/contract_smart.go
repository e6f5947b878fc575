package tron

// core/contract/smart_contract.proto.

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
