// Package evm runs Ethereum transactions on go-ethereum's EVM and compares the state
// changes with the effects, in both directions. The contracts come from npm packages; those
// that no package publishes are in contracts/, compiled with solc. It is a module of its
// own, because the EVM and its state have dependencies that the library does not need.
package evm
