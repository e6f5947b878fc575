// Package access defines who may do what. It has the contracts between the engine and the
// directories and policies that it asks.
//
//   - A [Directory] knows the organizations, their users, and the credentials that stamp
//     requests. [NewDirectory] returns one that is read from a configuration.
//   - A [Policy] decides whether a user may do what a request asks for. Most policies are
//     a file of package policy. A few lines of Go are a [PolicyFunc].
//   - A [Decider] is a policy whose permission has conditions: limits to charge, groups
//     of votes to wait for, hazards that it allows. It returns a [Decision].
//
// The package does not import the engine, so that a policy or a directory can be written
// and tested without one.
package access
