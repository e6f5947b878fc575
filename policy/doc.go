// Package policy decides who may have what signed, by rules in a file.
//
// A [File] is read by [Load] or [Parse], which check everything that can be
// wrong before there is a request (names, types, units, addresses, cost) and run
// the file's own tests. It is a countersign.Decider: give it to an engine, or
// ask [File.Explain] why a request is allowed or refused.
//
// Four rules hold for every file:
//
//   - An allow covers effects, not transactions. A request is allowed if no deny
//     holds, it has at least one effect, and each effect is covered by an allow
//     whose condition holds for it.
//   - An error denies. In a deny it denies, in an allow it does not allow.
//     Looking at a member that is absent or unknown is an error; has() asks first.
//   - A limit holds under concurrency. It is charged in the store transaction
//     that takes the lease.
//   - Whatever can be wrong is found when the file is loaded.
//
// Conditions are CEL expressions (https://cel.dev) over amounts, addresses and
// assets that are types of their own. docs/policies.md is the manual.
package policy
