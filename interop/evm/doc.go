// Package evm runs Ethereum transactions on go-ethereum's EVM, with contracts that npm
// packages publish, and compares what they change with their effects, in both directions.
// Contracts that no package publishes are in contracts/, compiled with solc. It is a module
// of its own because the EVM and its state need modules that the library does not.
package evm
