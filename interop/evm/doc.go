// Package evm runs Ethereum transactions on go-ethereum's EVM, over contracts that
// npm packages publish, and compares what they change with their effects. It is a
// module of its own because the EVM and its state need modules that the library
// does not.
package evm
