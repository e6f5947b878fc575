// Package clitest has what tests of the command share: a keystore, a deployment, servers, terminals,
// and the program itself, which is the test binary under another name.
package clitest
