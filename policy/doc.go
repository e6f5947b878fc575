// Package policy decides which requests may be signed, by rules in a file.
//
// [Load] and [Parse] read a [File]. They check names, types, units, addresses and
// cost, and run the file's own tests, so that mistakes are found before there is a
// request. A File implements [countersign.Decider]: pass it to an engine, or call
// [File.Explain] to see why a request is allowed or refused.
//
// Four rules hold for every file:
//
//   - An allow covers effects, not transactions. A request is allowed if no deny
//     matches, it has at least one effect, and each effect is covered by an allow
//     whose condition holds for it and that lists the hazards of the effect and of
//     the request.
//   - An error denies. An error in a deny denies; an error in an allow does not
//     allow. Reading an absent or unknown member is an error; test it with has()
//     first.
//   - A limit holds under concurrency. It is charged in the store transaction
//     that takes the lease.
//   - Mistakes are found when the file is loaded.
//
// Conditions are CEL expressions (https://cel.dev) in which amounts, addresses and
// assets are types of their own. docs/policies.md is the manual.
package policy
