// Package opservice tests the JSON-RPC signer against the signer client of the OP stack. It is
// a module of its own because that client needs op-geth in place of go-ethereum.
package opservice
