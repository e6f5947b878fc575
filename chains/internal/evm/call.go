package evm

import "github.com/countersign-dev/countersign/chains"

// Call tells what calldata asks a contract to do.
func Call(data []byte) []chains.Field {
	if len(data) == 0 {
		return nil
	}
	return []chains.Field{chains.Bytes("data", data)}
}
