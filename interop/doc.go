// Package interop holds tests that hold Countersign against public libraries
// and clients as npm has them, unmodified: what they build we sign to the bytes
// that they sign, and what we sign they read.
//
// Each test starts a script of this folder with Node and talks to it in JSON
// lines. make test-deps installs the packages, in the versions of
// package-lock.json.
package interop
