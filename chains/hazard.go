package chains

// Hazard is a danger of signing a well-formed transaction. The engine refuses
// to sign unless the hazard's name is allowed.
type Hazard struct {
	Name   string `json:"name"`   // chain/what, such as ethereum/no-chain-id: stable
	Detail string `json:"detail"` // what it means in this transaction, for a person
}
